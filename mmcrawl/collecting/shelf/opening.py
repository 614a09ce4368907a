"""Opening the works of a crawl: in an SQLite file, or a MongoDB database."""

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mmcrawl.collecting.shelf.shelf import CORRECTIONS, Change, Record, Shelf, as_row
from mmcrawl.stores.sqlite_file import Form, SqliteFile
from mmcrawl.stores.uris import is_server

_RECORDS = "CREATE TABLE IF NOT EXISTS {} (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT"
_SCHEMA = """
CREATE TABLE work (
    id TEXT PRIMARY KEY, place INTEGER NOT NULL, changed REAL NOT NULL, record TEXT NOT NULL
) STRICT;
CREATE TABLE file (key TEXT PRIMARY KEY, work TEXT NOT NULL) STRICT;
CREATE TABLE correction (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
CREATE TABLE collection (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
CREATE TABLE mark (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
CREATE TABLE suggestion (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
CREATE TABLE revision (number INTEGER NOT NULL) STRICT;
INSERT INTO revision VALUES (0);
"""
_FORM = Form(
    "a file of works",
    "there are no works {}; `scrapy works describe` makes them",
    (0x6D6D6377, 3),  # "mmcw"
    _SCHEMA,
    may_lack=True,  # a kind of records that was not kept yet when it was made
    instead="another one with -s MMCRAWL_MEDIA=FOLDER",
)


class SqliteShelf(SqliteFile, Shelf):
    """A `Shelf` in a file. Others may read while one writes."""

    form = _FORM

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
            known = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (kind,))
            asked = f"SELECT id, record FROM {kind}"  # noqa: S608
            rows = self._db.execute(asked).fetchall() if known.fetchone() else []
        return {id_: as_row(record) for id_, record in rows}

    def change(self, kind: str, change: Change) -> None:
        with self._writing() as db:
            db.execute(_RECORDS.format(kind))
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

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with super()._writing() as db:
            yield db
            db.execute("UPDATE revision SET number = number + 1")


def open_shelf(store: str, folder: Path, *, create: bool = True) -> Shelf:
    """Open the works of a crawl.

    Args:
        store: URI of the crawl's store. One on a server has the works in its database.
        folder: Where the works of all other stores are kept, in ``works.db``.
        create: Whether it is made where there is none.

    Raises:
        StoreError: it cannot be opened, or there is none.
    """
    if is_server(store):
        from mmcrawl.collecting.shelf.mongodb_shelf import MongoShelf

        return MongoShelf(store, create=create)

    return SqliteShelf(folder / "works.db", create=create)
