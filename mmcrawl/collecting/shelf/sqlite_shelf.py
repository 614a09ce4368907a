"""Works and corrections in an SQLite file."""

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mmcrawl.collecting.shelf.shelf import CORRECTIONS, Change, Record, Shelf, as_row
from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.stores.sqlite_files import (
    address_to_read,
    connected,
    is_empty,
    may_be_written,
    raise_if_interrupted,
    require_tables,
)

_APPLICATION_ID = 0x6D6D6377  # "mmcw"
_VERSION = 3
_MARKS = ("application_id", "user_version")
_SCHEMA = """
CREATE TABLE work (
    id TEXT PRIMARY KEY, place INTEGER NOT NULL, changed REAL NOT NULL, record TEXT NOT NULL
) STRICT;
CREATE TABLE file (key TEXT PRIMARY KEY, work TEXT NOT NULL) STRICT;
CREATE TABLE correction (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
CREATE TABLE collection (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
CREATE TABLE mark (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
CREATE TABLE revision (number INTEGER NOT NULL) STRICT;
INSERT INTO revision VALUES (0);
"""


class SqliteShelf(Shelf):
    """A `Shelf` in a file. Others may read while one writes.

    Args:
        path: Of the file.
        create: Whether it is made, with its folder, where there is none.

    Raises:
        StoreError: it is missing, damaged, or none that this version can use.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.name = str(path)
        if not create and not path.is_file():
            raise MissingStoreError(
                f"there are no works {path}; `scrapy works describe` makes them"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"folder {path.parent} cannot be made: {error.strerror}") from error
        with self._explained():
            writes = create or may_be_written(path)
            self._db = connected(path.absolute().as_uri() if writes else address_to_read(path))
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        self._db.close()

    def rows(self) -> Iterator[Record]:
        with self._explained():
            for record, changed in self._db.execute(
                "SELECT record, changed FROM work ORDER BY place"
            ):
                yield as_row(record) | {"changed_at": changed}

    def row(self, id_: str) -> Record | None:
        with self._explained():
            found = self._db.execute("SELECT record, changed FROM work WHERE id = ?", (id_,))
            row = found.fetchone()
        return None if row is None else as_row(row[0]) | {"changed_at": row[1]}

    def ids(self) -> dict[str, str]:
        with self._explained():
            return dict(self._db.execute("SELECT key, work FROM file"))

    def put(self, works: Sequence[tuple[Record, Sequence[str]]]) -> None:
        with self._writing() as db:
            db.execute("DELETE FROM work")
            db.execute("DELETE FROM file")
            db.executemany(
                "INSERT INTO work (id, place, changed, record) VALUES (?, ?, ?, ?)",
                (
                    (row["id"], place, row["changed_at"], json.dumps(row))
                    for place, (row, _) in enumerate(works)
                ),
            )
            db.executemany(
                "INSERT OR REPLACE INTO file VALUES (?, ?)",
                ((key, row["id"]) for row, keys in works for key in keys),
            )

    def records(self, kind: str) -> dict[str, Record]:
        with self._explained():
            rows = self._db.execute(f"SELECT id, record FROM {kind}").fetchall()  # noqa: S608
        return {id_: as_row(record) for id_, record in rows}

    def change(self, kind: str, change: Change) -> None:
        with self._writing() as db:
            for id_, record in change(self.records(kind)).items():
                db.execute(f"DELETE FROM {kind} WHERE id = ?", (id_,))  # noqa: S608
                if record:
                    row = (id_, json.dumps(record))
                    db.execute(f"INSERT INTO {kind} VALUES (?, ?)", row)  # noqa: S608
                if kind == CORRECTIONS:
                    db.execute("UPDATE work SET changed = ? WHERE id = ?", (time.time(), id_))

    def revision(self) -> int:
        with self._explained():
            return int(self._db.execute("SELECT number FROM revision").fetchone()[0])

    def _prepare(self) -> None:
        db = self._db
        if is_empty(db):
            db.execute("PRAGMA journal_mode = WAL")
            with self._writing():
                if is_empty(db):  # else another process has set it up in the meantime
                    for statement in _SCHEMA.split(";\n"):
                        db.execute(statement)
                    db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                    db.execute(f"PRAGMA user_version = {_VERSION}")
        marks = [int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in _MARKS]
        if marks != [_APPLICATION_ID, _VERSION]:
            raise StoreError(
                f"{self.name} is not a file of works of this version of mmcrawl; move it away"
            )
        require_tables(db, self.name, _SCHEMA)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._explained():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("UPDATE revision SET number = number + 1")
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise_if_interrupted(error)
            full = any(sign in str(error) for sign in ("full", "I/O"))
            advice = "; make room on its disk" if full else ""
            raise StoreError(
                f"works {self.name} cannot be read or written: {error}{advice}"
            ) from error
