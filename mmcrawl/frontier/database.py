"""The SQLite file of a crawl: opening it, and what is said when it is damaged."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mmcrawl.errors import StoreError
from mmcrawl.frontier.faults import FAULTS, damaged, why_it_failed
from mmcrawl.frontier.schema import APPLICATION_ID, LAYOUT, SCHEMA, SCHEMA_VERSION, layout


def _explained(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a cursor that fails with a StoreError."""

    @wraps(method)
    def explained(cursor: "_Cursor", *arguments: Any) -> Any:
        try:
            return method(cursor, *arguments)
        except (sqlite3.Error, UnicodeDecodeError) as error:  # of a message with damaged bytes
            raise StoreError(why_it_failed(cursor.connection.name, error)) from error

    return explained


class _Cursor(sqlite3.Cursor):
    """A cursor that tells of a file found damaged while it is read."""

    connection: "_Connection"
    execute = _explained(sqlite3.Cursor.execute)
    executemany = _explained(sqlite3.Cursor.executemany)
    fetchone = _explained(sqlite3.Cursor.fetchone)
    fetchall = _explained(sqlite3.Cursor.fetchall)
    __next__ = _explained(sqlite3.Cursor.__next__)


class _Connection(sqlite3.Connection):
    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.name = name

    def execute(self, *arguments: Any) -> Any:
        return self.cursor(_Cursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> Any:
        return self.cursor(_Cursor).executemany(*arguments)


def connect(path: Path | None) -> sqlite3.Connection:
    """Open a file, or memory if there is no path; it is set up if it is empty.

    Raises:
        StoreError: it is damaged, of another program or of another version.
    """
    name = str(path) if path else ":memory:"
    try:
        db = sqlite3.connect(
            name, isolation_level=None, check_same_thread=False, factory=_Connection
        )
        try:
            _prepare(db, name)
        except BaseException:
            db.close()
            raise
    except sqlite3.Error as error:
        raise StoreError(why_it_failed(name, error)) from error
    return db


def _prepare(db: sqlite3.Connection, name: str) -> None:
    """Set up an empty database, or check that it is ours."""
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if tables == 0:
        db.execute("PRAGMA page_size = 4096")
        if name != ":memory:":
            db.execute("PRAGMA journal_mode = WAL")
        db.executescript(
            f"BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION_ID};"
            f" PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
        )
    elif application != APPLICATION_ID:
        raise StoreError(f"{name} belongs to another program; name another file as the store")
    elif version < SCHEMA_VERSION:
        raise StoreError(
            f"{name} was written by an older version of mmcrawl (schema {version}, this one has"
            f" {SCHEMA_VERSION}); it is not read: name another file as the store"
        )
    elif version > SCHEMA_VERSION:
        raise StoreError(
            f"{name} was written by a newer version of mmcrawl (schema {version}, this one has"
            f" {SCHEMA_VERSION}); use that version, or name another file as the store"
        )
    else:
        if layout(row[0] for row in db.execute("SELECT sql FROM sqlite_master")) != LAYOUT:
            raise damaged(name, "its tables are not those of mmcrawl")
        for check in ("PRAGMA integrity_check(1)", FAULTS):
            fault = (db.execute(check).fetchone() or ["ok"])[0]
            if fault != "ok":
                raise damaged(name, fault.splitlines()[-1])
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA cache_size = -32000")


def remove_own_file(path: Path) -> None:
    """Remove an SQLite file, and what SQLite keeps beside it, if it is one of mmcrawl.

    Raises:
        StoreError: it cannot be removed.
    """
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            ours = db.execute("PRAGMA application_id").fetchone()[0] >> 16 == APPLICATION_ID >> 16
    except sqlite3.Error:  # there is none, or it is of another kind
        return
    try:
        # The file last: what is left of a journal would be rolled back into the next one.
        for ending in ("-journal", "-wal", "-shm", "") if ours else ():
            Path(f"{path}{ending}").unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be made anew: {error.strerror}; remove it") from error
