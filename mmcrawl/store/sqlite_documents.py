"""Documents in an SQLite file, which the processes of one machine may use at once.

Each kind of document is a table: the key, and a column for each field.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import UnionType
from typing import Any

from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.store.documents import (
    KEY,
    OPTIONAL,
    Change,
    Condition,
    Contents,
    Document,
    Table,
)
from mmcrawl.store.sqlite_files import (
    FileKind,
    address_to_read,
    connected,
    explained,
    is_empty,
    may_be_written,
    raise_if_interrupted,
    require_ours,
    set_up,
)

_PAGE = 1_000  # documents read at a time
_PACKED = "page_size = 1024", "auto_vacuum = INCREMENTAL"  # a table of few rows takes a page
_FREE_PAGES = 32_768  # 32 MB: what goes makes room for what comes next
_PAGES_AT_ONCE = 16_384
_TYPES: dict[type | UnionType, str] = {
    **{str: "TEXT NOT NULL", int: "INTEGER NOT NULL", float: "REAL NOT NULL"},
    **{bytes: "BLOB NOT NULL", dict: "TEXT NOT NULL", OPTIONAL: "TEXT"},
}
_OPERATORS = {
    "=": "{} = ?",
    "<": "{} < ?",
    "<=": "{} <= ?",
    ">": "{} > ?",
    ">=": "{} >= ?",
    "in": "{} IN (SELECT value FROM json_each(?))",
    "not in": "{} NOT IN (SELECT value FROM json_each(?))",
}


class SqliteStore:
    """A `Store` in a file.

    Args:
        create: Whether it is made, with its folder, where there is none.
        read_only: Whether nothing is written; None leaves it to what may be.

    Raises:
        StoreError: it is missing, damaged, or none that this version can use.
    """

    def __init__(
        self,
        contents: Contents,
        path: Path,
        *,
        create: bool = True,
        read_only: bool | None = None,
    ) -> None:
        self.name = str(path)
        self._path = path
        self._contents = contents
        self._tables = {table.name: table for table in contents.tables}
        self._json = {table.name: table.json for table in contents.tables}
        self._lock = threading.RLock()
        self._is_together = False
        schema = ";\n".join(line for table in contents.tables for line in _schema(table, contents))
        self._kind = FileKind(
            contents.noun, contents.mark, contents.version, schema, contents.instead
        )
        if not create and not path.is_file():
            raise self._missing()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"folder {path.parent} cannot be made ({error.strerror}); name {contents.instead}"
            ) from error
        with explained(self._kind, self.name):
            writes = not read_only and (create or read_only is False or may_be_written(path))
            self._db = connected(path.absolute().as_uri() if writes else address_to_read(path))
            try:
                if not create:
                    self._require_some()
                set_up(self._db, self._kind, _PACKED if contents.packed else ())
                require_ours(self._db, self.name, self._kind)
                if contents.packed and writes:
                    self._db.execute("PRAGMA journal_size_limit = 16777216")
                    if self._free_pages() > _FREE_PAGES:
                        self.compact()  # a process was killed before it did
            except BaseException:
                self._db.close()
                raise

    def _require_some(self) -> None:
        if is_empty(self._db):
            raise self._missing()

    def _missing(self) -> MissingStoreError:
        contents = self._contents
        return MissingStoreError(f"there is no {contents.noun} {self._path}; {contents.missing}")

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -- documents ----------------------------------------------------------------------------

    def get(self, table: str, keys: Collection[Any]) -> dict[Any, Document]:
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
        backwards: bool = False,
    ) -> Iterator[tuple[Any, Document]]:
        names = fields or tuple(self._tables[table].fields)
        # Each index ends so: what is equal is ordered without a column for it.
        end = KEY if _is_rowless(self._tables[table], self._contents) else "rowid"
        by = (*order, end) if order else (KEY,)
        where, values = _where(conditions)
        after, last = "", ()
        way, beyond = (" DESC", "<") if backwards else ("", ">")
        while limit is None or limit > 0:
            most = _PAGE if limit is None else min(limit, _PAGE)
            statement = (
                f"SELECT {', '.join((KEY, *names, *by))} FROM {table}{where}{after}"  # noqa: S608
                f" ORDER BY {', '.join(name + way for name in by)} LIMIT {most}"
            )
            with self._reading() as db:
                rows = db.execute(statement, (*values, *last)).fetchall()
            for key, *row in rows:
                yield key, self._document(table, dict(zip(names, row, strict=False)))
            if len(rows) < most:
                return
            last, limit = rows[-1][-len(by) :], None if limit is None else limit - most
            places = ", ".join("?" * len(by))
            after = f"{' AND' if where else ' WHERE'} ({', '.join(by)}) {beyond} ({places})"

    def insert_new(self, table: str, documents: Mapping[Any, Document]) -> set[Any]:
        return self._insert(table, documents, "ON CONFLICT (key) DO NOTHING")

    def put(self, table: str, documents: Mapping[Any, Document]) -> None:
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

    def _insert(self, table: str, documents: Mapping[Any, Document], taken: str) -> set[Any]:
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
    def together(self) -> Iterator[None]:
        with self._writing():
            yield

    def count(self, table: str) -> int:
        with self._reading() as db:
            return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608

    def size(self) -> int:
        files = (self._path, Path(f"{self._path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def problems(self) -> list[str]:
        with self._reading() as db:
            try:
                rows = db.execute("PRAGMA integrity_check").fetchall()
            except sqlite3.ProgrammingError:  # it is closed
                raise
            except sqlite3.DatabaseError as error:
                raise_if_interrupted(error)
                rows = [(str(error),)]
        return [f"the database is damaged: {text}" for (text,) in rows if text != "ok"]

    def compact(self) -> None:
        """Make the file smaller by its free pages; others may write in between."""
        before, free = -1, self._free_pages()
        while free and free != before:
            with self._reading() as db:
                # Each step of the statement frees a page; execute() would take one step only.
                db.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE});")
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            before, free = free, self._free_pages()

    def _free_pages(self) -> int:
        with self._reading() as db:
            return int(db.execute("PRAGMA freelist_count").fetchone()[0])

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, explained(self._kind, self.name):
            yield self._db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as db:
            if self._is_together:
                yield db
                return
            db.execute("BEGIN IMMEDIATE")
            self._is_together = True
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            finally:
                self._is_together = False


def _schema(table: Table, contents: Contents) -> Iterator[str]:
    columns = "".join(f", {name} {_TYPES[kind]}" for name, kind in table.fields.items())
    key = "INTEGER PRIMARY KEY" if table.numbered else "TEXT NOT NULL UNIQUE"
    options = "STRICT"
    if _is_rowless(table, contents):
        key, options = "TEXT PRIMARY KEY", "STRICT, WITHOUT ROWID"  # each key is there once
    yield f"CREATE TABLE {table.name} (key {key}{columns}) {options}"
    for order in table.orders:
        name = "_".join((table.name, *order))
        there = " AND ".join(f"{field} IS NOT NULL" for field in order if field in table.optional)
        where = f" WHERE {there}" if there else ""
        yield f"CREATE INDEX {name} ON {table.name} ({', '.join(order)}){where}"


def _is_rowless(table: Table, contents: Contents) -> bool:
    """Return whether rows are stored in the index of their keys, where large ones would be slow."""
    return bool(contents.packed) and not table.numbered and table.name not in contents.packed


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
    """Return a value as it is stored: readable JSON where UTF-8 can hold it."""
    if not isinstance(value, dict | list):
        return value
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(value)
    return text
