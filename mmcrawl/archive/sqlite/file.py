"""An archive's SQLite file: opening it, telling it from others, saying why it cannot be used."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from mmcrawl.archive.sqlite.proofs import PROOFS
from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.stores.sqlite_files import (
    FileKind,
    address_to_read,
    connected,
    explained,
    is_empty,
    require_ours,
    set_up,
)

SCHEMA_VERSION = 3
_FREE_PAGES = 8_192  # 32 MB: what sealing frees for the next pages while a crawl goes on
_PAGES_AT_ONCE = 4_096
_NO_SUCH_FILE = "there is no archive {}; store a page there first, or name another file"

_SCHEMA = """
CREATE TABLE stream (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, entries INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE url (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, key INTEGER NOT NULL,
    host INTEGER NOT NULL, stream INTEGER, last INTEGER NOT NULL DEFAULT 0,
    late INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX url_key ON url (key);
CREATE INDEX url_host ON url (host);
CREATE TABLE host (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE version (
    url INTEGER NOT NULL, number INTEGER NOT NULL, time REAL NOT NULL, status INTEGER NOT NULL,
    digest BLOB NOT NULL, size INTEGER NOT NULL, entry INTEGER NOT NULL, method TEXT NOT NULL,
    level INTEGER NOT NULL, location TEXT NOT NULL,
    PRIMARY KEY (url, number)
) WITHOUT ROWID;
CREATE TABLE visit (
    url INTEGER NOT NULL, time REAL NOT NULL, number INTEGER NOT NULL, status INTEGER NOT NULL,
    head BLOB, PRIMARY KEY (url, time)
) WITHOUT ROWID;
CREATE TABLE pack (
    id INTEGER PRIMARY KEY, entries INTEGER NOT NULL, chunk INTEGER NOT NULL,
    chunks INTEGER NOT NULL, raw INTEGER NOT NULL, level INTEGER NOT NULL, size INTEGER NOT NULL,
    manifest BLOB NOT NULL, data BLOB NOT NULL
);
CREATE INDEX pack_chunk ON pack (chunk, id);
CREATE INDEX pack_sealed ON pack (id) WHERE level > 0;
CREATE TABLE chunk (digest BLOB PRIMARY KEY, place INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE change (
    url INTEGER NOT NULL, old INTEGER NOT NULL, new INTEGER NOT NULL, kinds TEXT NOT NULL,
    PRIMARY KEY (url, old, new)
) WITHOUT ROWID;
"""

KIND = FileKind("archive", "mmca", SCHEMA_VERSION, f"{_SCHEMA}{PROOFS}")


def connect(path: Path, *, create: bool, read_only: bool) -> sqlite3.Connection:
    """Open the file, made and set up if wished.

    Raises:
        StoreError: it is missing, or is not an archive that this version can use.
    """
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not an archive; name a file")
    if not path.exists() and (read_only or not create):
        raise MissingStoreError(_NO_SUCH_FILE.format(path))
    if not path.parent.is_dir():
        raise StoreError(
            f"archive {path} cannot be made: there is no folder {path.parent}; make it first"
        )
    with explained(KIND, str(path)):
        db = _opened(path, read_only)
        try:
            _prepare(db, path, create and not read_only)
            if not read_only and db.execute("PRAGMA freelist_count").fetchone()[0] > _FREE_PAGES:
                give_back(db)  # a process was killed before it did
        except BaseException:
            db.close()
            raise
    return db


def _opened(path: Path, read_only: bool) -> sqlite3.Connection:
    if read_only:
        return connected(address_to_read(path))
    return connected(f"file:{quote(str(path.absolute()))}?mode=rwc")


def _prepare(db: sqlite3.Connection, path: Path, may_create: bool) -> None:
    if may_create:
        # Of 4,096 bytes: chunks are stored in large packs, and small rows waste little.
        set_up(db, KIND, ("page_size = 4096", "auto_vacuum = INCREMENTAL"))
    elif is_empty(db):
        raise MissingStoreError(_NO_SUCH_FILE.format(path))
    require_ours(db, str(path), KIND)
    db.execute("PRAGMA cache_size = -8000")
    db.execute("PRAGMA journal_size_limit = 16777216")


def give_back(db: sqlite3.Connection) -> None:
    """Make the file smaller by its free pages; others may write in between."""
    before, free = -1, db.execute("PRAGMA freelist_count").fetchone()[0]
    while free and free != before:
        # Each step of the statement frees one page; execute() would take one step only.
        db.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE});")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        before, free = free, db.execute("PRAGMA freelist_count").fetchone()[0]
