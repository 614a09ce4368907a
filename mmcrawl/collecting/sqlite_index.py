"""The index of a collection in an SQLite file, which several processes may use at once."""

import json
import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, fields, replace
from itertools import islice
from pathlib import Path
from typing import Self

from mmcrawl.collecting.index import Summary
from mmcrawl.collecting.model import EVERY_KIND, MediaFile, State
from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.frontier.addresses import host_of
from mmcrawl.stores.sqlite_files import (
    address_to_read,
    connected,
    is_empty,
    may_be_written,
    raise_if_interrupted,
    require_tables,
)

_APPLICATION_ID = 0x6D6D636D  # "mmcm"
_SCHEMA_VERSION = 1
_PAGE = 1_000  # records read at a time
_COLUMNS = tuple(field.name for field in fields(MediaFile))
_SCHEMA = """
CREATE TABLE file (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, state TEXT NOT NULL,
    digest TEXT NOT NULL, size INTEGER NOT NULL, content_type TEXT NOT NULL, etag TEXT NOT NULL,
    last_modified TEXT NOT NULL, final_url TEXT NOT NULL, parent TEXT NOT NULL,
    page TEXT NOT NULL, tries INTEGER NOT NULL, reason TEXT NOT NULL, added_at REAL NOT NULL,
    changed_at REAL NOT NULL, owner TEXT NOT NULL, lease_until REAL NOT NULL, host TEXT NOT NULL
) STRICT;
CREATE INDEX file_state ON file (state);
CREATE INDEX file_digest ON file (digest) WHERE digest <> '';
"""
_ALL = ", ".join(_COLUMNS)
_INSERT = (
    f"INSERT OR IGNORE INTO file ({_ALL}, host) VALUES"  # noqa: S608 - our own names
    f" ({', '.join('?' * (len(_COLUMNS) + 1))})"
)
_TAKE = (
    "UPDATE file SET state = 'taken', owner = ?, lease_until = ?, changed_at = ?,"  # noqa: S608
    " tries = tries + 1 WHERE id IN (SELECT id FROM file WHERE state = 'waiting'"
    " AND kind IN (SELECT value FROM json_each(?))"
    " AND host NOT IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?)"
    f" RETURNING id, {_ALL}"
)
_SETTLE = (
    f"UPDATE file SET {' = ?, '.join(_COLUMNS)} = ?"  # noqa: S608
    " WHERE url = ? AND state = 'taken' AND owner = ?"
)
_FREE = "state = 'waiting', owner = '', lease_until = 0"


class SqliteIndex:
    """A `MediaIndex` in a file.

    Args:
        path: of the file.
        create: whether it is made, with its folder, where there is none.

    Raises:
        StoreError: it is missing, damaged, or none that this version can use.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.name = str(path)
        self._lock = threading.RLock()
        if not create and not path.is_file():
            raise MissingStoreError(
                f"there is no collection {path}; `scrapy collect` begins one for a crawl"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"folder {path.parent} cannot be made ({error.strerror}); name another one with"
                " -s MMCRAWL_MEDIA=FOLDER"
            ) from error
        with self._explained():
            writes = create or may_be_written(path)
            self._db = connected(path.absolute().as_uri() if writes else address_to_read(path))
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def add(self, files: Iterable[MediaFile]) -> int:
        added, rest = 0, iter(files)
        while rows := [(*astuple(file), host_of(file.url)) for file in islice(rest, _PAGE)]:
            with self._writing() as db:
                added += db.executemany(_INSERT, rows).rowcount
        return added

    def take(
        self,
        owner: str,
        now: float,
        until: float,
        most: int,
        *,
        kinds: Collection[str] = EVERY_KIND,
        busy: Collection[str] = (),
    ) -> list[MediaFile]:
        with self._writing() as db:
            db.execute(
                f"UPDATE file SET {_FREE} WHERE state = 'taken' AND lease_until < ?",  # noqa: S608
                (now,),
            )
            kept = json.dumps([*kinds]), json.dumps([*busy])
            taken = db.execute(_TAKE, (owner, until, now, *kept, most)).fetchall()
        return [_file(row[1:]) for row in sorted(taken)]

    def renew(self, owner: str, until: float) -> None:
        with self._writing() as db:
            db.execute(
                "UPDATE file SET lease_until = ? WHERE state = 'taken' AND owner = ?",
                (until, owner),
            )

    def settle(self, files: Sequence[MediaFile], owner: str) -> int:
        rows = [
            (*astuple(replace(file, owner="", lease_until=0.0)), file.url, owner) for file in files
        ]
        with self._writing() as db:
            return max(db.executemany(_SETTLE, rows).rowcount, 0)

    def give_back(self, owner: str) -> None:
        with self._writing() as db:
            db.execute(
                f"UPDATE file SET {_FREE} WHERE state = 'taken' AND owner = ?",  # noqa: S608
                (owner,),
            )

    def owners(self) -> set[str]:
        with self._reading() as db:
            rows = db.execute("SELECT DISTINCT owner FROM file WHERE state = 'taken'")
            return {row[0] for row in rows}

    def again(self, states: Collection[State]) -> int:
        with self._writing() as db:
            changed = db.execute(
                f"UPDATE file SET {_FREE}, changed_at = ?"  # noqa: S608
                " WHERE state IN (SELECT value FROM json_each(?))",
                (time.time(), json.dumps([*states])),
            )
            return changed.rowcount

    def find(self, url: str) -> MediaFile | None:
        with self._reading() as db:
            row = db.execute(f"SELECT {_ALL} FROM file WHERE url = ?", (url,)).fetchone()  # noqa: S608
        return None if row is None else _file(row)

    def files(self, states: Collection[State] = ()) -> Iterator[MediaFile]:
        wanted, last = json.dumps([*(states or State)]), 0
        while True:
            with self._reading() as db:
                rows = db.execute(
                    f"SELECT id, {_ALL} FROM file WHERE id > ?"  # noqa: S608
                    " AND state IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?",
                    (last, wanted, _PAGE),
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            yield from (_file(row[1:]) for row in rows)

    def summary(self) -> Summary:
        with self._reading() as db:
            states = db.execute("SELECT state, count(*) FROM file GROUP BY state").fetchall()
            held = db.execute(
                "SELECT kind, count(*), sum(size) FROM (SELECT min(kind) AS kind, max(size) AS size"
                " FROM file WHERE state = 'held' GROUP BY digest) GROUP BY kind"
            ).fetchall()
            reasons = db.execute(
                "SELECT reason, count(*) FROM file WHERE state IN ('failed', 'skipped')"
                " GROUP BY reason"
            ).fetchall()
        return Summary(
            {State(state): count for state, count in states},
            {kind: count for kind, count, _ in held},
            {kind: size for kind, _, size in held},
            dict(reasons),
        )

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._explained():
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

    def _prepare(self) -> None:
        """Set up an empty file, or check that it is ours."""
        db = self._db
        if is_empty(db):
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            if is_empty(db):  # else another process has set it up in the meantime
                for statement in _SCHEMA.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
            db.execute("COMMIT")
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION_ID:
            raise StoreError(f"{self.name} is not an index of mmcrawl; name another folder")
        if version != _SCHEMA_VERSION:
            raise StoreError(
                f"{self.name} was written by another version of mmcrawl (schema {version}, this"
                f" one has {_SCHEMA_VERSION}); use that version, or name another folder"
            )
        require_tables(db, self.name, _SCHEMA)
        db.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise_if_interrupted(error)
            raise StoreError(_why_it_failed(self.name, str(error))) from error


def _file(row: tuple[object, ...]) -> MediaFile:
    file = MediaFile(*row)  # type: ignore[arg-type]
    return replace(file, state=State(file.state))


def _why_it_failed(name: str, text: str) -> str:
    if "disk is full" in text or "disk I/O" in text:
        return f"index {name} cannot be written ({text}); make room and run the same command again"
    if "not a database" in text:
        return f"{name} is not an index of mmcrawl; name another folder"
    if "malformed" in text or "corrupt" in text:
        return f"index {name} is damaged ({text}); restore it from a copy, or remove it: files stay"
    if "locked" in text or "busy" in text:
        return f"index {name} is locked by another process; wait for it, and go on"
    return f"index {name} failed: {text}"
