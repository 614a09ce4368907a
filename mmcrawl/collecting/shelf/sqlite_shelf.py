"""Works and corrections in an SQLite file."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mmcrawl.collecting.shelf.shelf import Shelf, as_row
from mmcrawl.errors import StoreError

_APPLICATION_ID = 0x6D6D6377  # "mmcw"
_VERSION = 1
_WAIT = 30.0  # seconds for another process to finish its write
_SCHEMA = """
CREATE TABLE work (id TEXT PRIMARY KEY, place INTEGER NOT NULL, record TEXT NOT NULL) STRICT;
CREATE TABLE file (key TEXT PRIMARY KEY, work TEXT NOT NULL) STRICT;
CREATE TABLE correction (work TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
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
            raise StoreError(f"there are no works {path}; `scrapy works describe` makes them")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"folder {path.parent} cannot be made: {error.strerror}") from error
        with self._explained():
            self._db = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        self._db.close()

    def rows(self) -> Iterator[dict[str, Any]]:
        with self._explained():
            for (record,) in self._db.execute("SELECT record FROM work ORDER BY place"):
                yield as_row(record)

    def ids(self) -> dict[str, str]:
        with self._explained():
            return dict(self._db.execute("SELECT key, work FROM file"))

    def put(self, works: Sequence[tuple[dict[str, Any], Sequence[str]]]) -> None:
        with self._writing() as db:
            db.execute("DELETE FROM work")
            db.execute("DELETE FROM file")
            db.executemany(
                "INSERT INTO work VALUES (?, ?, ?)",
                ((row["id"], place, json.dumps(row)) for place, (row, _) in enumerate(works)),
            )
            db.executemany(
                "INSERT OR REPLACE INTO file VALUES (?, ?)",
                ((key, row["id"]) for row, keys in works for key in keys),
            )

    def corrections(self) -> dict[str, dict[str, Any]]:
        with self._explained():
            rows = self._db.execute("SELECT work, record FROM correction").fetchall()
        return {work: as_row(record) for work, record in rows}

    def put_corrections(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        with self._writing() as db:
            for work, fields in values.items():
                db.execute("DELETE FROM correction WHERE work = ?", (work,))
                if fields:
                    record = json.dumps(dict(fields))
                    db.execute("INSERT INTO correction VALUES (?, ?)", (work, record))

    def _prepare(self) -> None:
        db = self._db
        db.execute("PRAGMA journal_mode = WAL")
        with self._writing():
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _SCHEMA.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {_VERSION}")
        marks = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS]
        if marks != [_APPLICATION_ID, _VERSION]:
            raise StoreError(
                f"{self.name} is not a file of works of this version of mmcrawl; move it away"
            )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._explained():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
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
            raise StoreError(f"works {self.name} cannot be read or written: {error}") from error


_MARKS = ("application_id", "user_version")
