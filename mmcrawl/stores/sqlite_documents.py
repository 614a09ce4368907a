"""Documents in an SQLite file, which the processes of one machine may use at once.

Each kind of documents is a table: the key, and a column for each field.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.stores.documents import KEY, Change, Condition, Contents, Document, Table
from mmcrawl.stores.sqlite_files import (
    FileKind,
    address_to_read,
    connected,
    explained,
    may_be_written,
    require_ours,
    set_up,
)

_PAGE = 1_000  # documents read at a time
_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL", bytes: "BLOB", dict: "TEXT"}
_OPERATORS = {
    "=": "{} = ?",
    "<": "{} < ?",
    ">=": "{} >= ?",
    "in": "{} IN (SELECT value FROM json_each(?))",
    "not in": "{} NOT IN (SELECT value FROM json_each(?))",
}


class SqliteStore:
    """A `Store` in a file.

    Args:
        contents: What it holds.
        path: Of the file.
        create: Whether it is made, with its folder, where there is none.

    Raises:
        StoreError: it is missing, damaged, or none that this version can use.
    """

    def __init__(self, contents: Contents, path: Path, *, create: bool = True) -> None:
        self.name = str(path)
        self._contents = contents
        self._tables = {table.name: table for table in contents.tables}
        self._json = {table.name: table.json for table in contents.tables}
        self._lock = threading.RLock()
        schema = ";\n".join(line for table in contents.tables for line in _schema(table))
        self._kind = FileKind(
            contents.noun, contents.mark, contents.version, schema, contents.instead
        )
        if not create and not path.is_file():
            raise MissingStoreError(f"there is no {contents.noun} {path}; {contents.missing}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"folder {path.parent} cannot be made ({error.strerror}); name {contents.instead}"
            ) from error
        with explained(self._kind, self.name):
            writes = create or may_be_written(path)
            self._db = connected(path.absolute().as_uri() if writes else address_to_read(path))
            try:
                set_up(self._db, self._kind)
                require_ours(self._db, self.name, self._kind)
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -- documents ----------------------------------------------------------------------------

    def get(self, table: str, keys: Collection[str]) -> dict[str, Document]:
        # One key is found in half the time without a list.
        which: Condition = (KEY, "=", next(iter(keys))) if len(keys) == 1 else (KEY, "in", keys)
        return dict(self.range(table, which)) if keys else {}

    def range(
        self,
        table: str,
        *conditions: Condition,
        order: tuple[str, ...] = (),
        fields: tuple[str, ...] = (),
        limit: int | None = None,
    ) -> Iterator[tuple[str, Document]]:
        names = fields or tuple(self._tables[table].fields)
        # Rowids are at the end of each index: they order what is equal without a column for it.
        by = (*order, "rowid") if order else (KEY,)
        where, values = _where(conditions)
        after, last = "", ()
        while limit is None or limit > 0:
            most = _PAGE if limit is None else min(limit, _PAGE)
            statement = (
                f"SELECT {', '.join((KEY, *names, *by))} FROM {table}{where}{after}"  # noqa: S608
                f" ORDER BY {', '.join(by)} LIMIT {most}"
            )
            with self._reading() as db:
                rows = db.execute(statement, (*values, *last)).fetchall()
            for key, *row in rows:
                yield key, self._document(table, dict(zip(names, row, strict=False)))
            if len(rows) < most:
                return
            last, limit = rows[-1][-len(by) :], None if limit is None else limit - most
            places = ", ".join("?" * len(by))
            after = f"{' AND' if where else ' WHERE'} ({', '.join(by)}) > ({places})"

    def insert_new(self, table: str, documents: Mapping[str, Document]) -> set[str]:
        return self._insert(table, documents, "ON CONFLICT (key) DO NOTHING")

    def put(self, table: str, documents: Mapping[str, Document]) -> None:
        names = self._tables[table].fields
        put = ", ".join(f"{name} = excluded.{name}" for name in names)
        self._insert(table, documents, f"ON CONFLICT (key) DO UPDATE SET {put}")

    def change(self, table: str, changes: Iterable[Change]) -> int:
        count = 0
        with self._writing() as db:
            for conditions, fields in changes:
                where, values = _where(conditions)
                put = ", ".join(f"{name} = ?" for name in fields)
                changed = map(_column, fields.values())
                statement = f"UPDATE {table} SET {put}{where}"  # noqa: S608 - our own names
                count += db.execute(statement, (*changed, *values)).rowcount
        return count

    def delete(self, table: str, *conditions: Condition) -> int:
        where, values = _where(conditions)
        with self._writing() as db:
            return db.execute(f"DELETE FROM {table}{where}", values).rowcount  # noqa: S608

    def _insert(self, table: str, documents: Mapping[str, Document], taken: str) -> set[str]:
        names = tuple(self._tables[table].fields)
        statement = (
            f"INSERT INTO {table} (key, {', '.join(names)})"  # noqa: S608 - our own names
            f" VALUES (?{', ?' * len(names)}) {taken}"
        )
        refused = set()
        with self._writing() as db:
            for key, document in documents.items():
                row = (key, *[_column(document[name]) for name in names])
                if not db.execute(statement, row).rowcount:
                    refused.add(key)
        return refused

    def _document(self, table: str, row: dict[str, Any]) -> Document:
        for name in self._json[table]:
            if name in row:
                row[name] = self._contents.parsed(row[name], self.name)
        return row

    # -- the file -----------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, explained(self._kind, self.name):
            yield self._db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


def _schema(table: Table) -> Iterator[str]:
    columns = "".join(f", {name} {_TYPES[kind]} NOT NULL" for name, kind in table.fields.items())
    yield f"CREATE TABLE {table.name} (key TEXT NOT NULL UNIQUE{columns}) STRICT"
    for order in table.orders:
        name = "_".join((table.name, *order))
        yield f"CREATE INDEX {name} ON {table.name} ({', '.join(order)})"


def _where(conditions: Collection[Condition]) -> tuple[str, list[Any]]:
    """Return a clause, and the values in it."""
    if not conditions:
        return "", []
    clause = " AND ".join(_OPERATORS[operator].format(name) for name, operator, _ in conditions)
    values = [
        json.dumps(list(value)) if "in" in operator else value for _, operator, value in conditions
    ]
    return f" WHERE {clause}", values


def _column(value: Any) -> Any:
    """Return a value as it is kept: JSON as people can read it, where UTF-8 can hold it."""
    if not isinstance(value, dict | list):
        return value
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(value)
    return text
