"""The SQLite file of a crawl: its tables, opening it, and messages for a damaged file.

A file with other tables was made by another version of mmcrawl.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mmcrawl.errors import DamagedStoreError, MissingStoreError, StoreError
from mmcrawl.store.sqlite_files import (
    SHARED_CRAWL,
    FileKind,
    address_to_read,
    connected,
    mark_of,
    raise_if_interrupted,
    require_ours,
    set_up,
    why_not,
)

SCHEMA_VERSION = 10

SCHEMA = """
CREATE TABLE job (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    arguments TEXT NOT NULL CHECK (json_valid(arguments)),
    started_at REAL NOT NULL, finished_at REAL, reason TEXT NOT NULL DEFAULT '',
    memory TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(memory)),
    archives TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(archives))
) STRICT;
CREATE TABLE host (
    job INTEGER NOT NULL, id INTEGER NOT NULL, origin TEXT NOT NULL,
    PRIMARY KEY (job, id), UNIQUE (job, origin)
) WITHOUT ROWID, STRICT;
CREATE TABLE link (
    id INTEGER PRIMARY KEY, key INTEGER, host INTEGER NOT NULL, path TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('W', 'R', 'C', 'E')),
    score REAL NOT NULL, content REAL NOT NULL, structure REAL NOT NULL,
    parent INTEGER CHECK (parent < id AND parent >> 40 = id >> 40),
    logical_layer INTEGER NOT NULL, physical_layer INTEGER NOT NULL,
    priority INTEGER NOT NULL, url_words TEXT NOT NULL, anchor TEXT NOT NULL,
    group_title TEXT NOT NULL, request BLOB, error TEXT NOT NULL DEFAULT '', settled INTEGER,
    block TEXT NOT NULL DEFAULT '', tag_path TEXT NOT NULL DEFAULT '', alias_key INTEGER
) STRICT;
CREATE INDEX link_key ON link (key);
CREATE INDEX link_alias_key ON link (alias_key) WHERE alias_key IS NOT NULL;
CREATE TABLE page (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, title TEXT NOT NULL,
    keywords TEXT NOT NULL, description TEXT NOT NULL, digest INTEGER NOT NULL,
    contains_media INTEGER NOT NULL, relevant INTEGER NOT NULL, topic_score REAL NOT NULL,
    links BLOB NOT NULL CHECK (length(links) % 4 = 0),
    links_on_page INTEGER NOT NULL, visited_at REAL NOT NULL, new_media INTEGER NOT NULL
) STRICT;
CREATE TABLE note (
    id INTEGER PRIMARY KEY, job INTEGER NOT NULL, text TEXT NOT NULL CHECK (json_valid(text))
) STRICT;
CREATE INDEX page_digest ON page (digest);
CREATE TABLE media_page (
    job INTEGER NOT NULL, url TEXT NOT NULL, title TEXT NOT NULL, topic_score REAL NOT NULL,
    words TEXT NOT NULL, status INTEGER NOT NULL, visited_at REAL NOT NULL,
    extra TEXT NOT NULL DEFAULT '', PRIMARY KEY (job, url)
) WITHOUT ROWID, STRICT;
CREATE TABLE media_resource (
    job INTEGER NOT NULL, url TEXT NOT NULL, page TEXT NOT NULL, kind TEXT NOT NULL,
    tag TEXT NOT NULL, text TEXT NOT NULL, key INTEGER NOT NULL, place INTEGER NOT NULL,
    others TEXT NOT NULL CHECK (json_valid(others)), PRIMARY KEY (job, page, url)
) WITHOUT ROWID, STRICT;
CREATE INDEX media_resource_key ON media_resource (job, key);
CREATE TABLE listed (
    id INTEGER PRIMARY KEY, job INTEGER NOT NULL, key INTEGER NOT NULL, url TEXT NOT NULL,
    words TEXT NOT NULL, tag_path TEXT NOT NULL, parent INTEGER NOT NULL, place INTEGER NOT NULL,
    UNIQUE (job, key)
) STRICT;
CREATE INDEX listed_place ON listed (job, place);
CREATE TABLE listed_media (
    job INTEGER NOT NULL, key INTEGER NOT NULL, list TEXT NOT NULL, url TEXT NOT NULL,
    kind TEXT NOT NULL, tag TEXT NOT NULL, text TEXT NOT NULL, others TEXT NOT NULL,
    PRIMARY KEY (job, key, url)
) WITHOUT ROWID, STRICT;
CREATE TABLE followed (
    job INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, settled INTEGER NOT NULL,
    PRIMARY KEY (job, first)
) WITHOUT ROWID, STRICT;
CREATE TABLE section (
    job INTEGER NOT NULL, name TEXT NOT NULL, pages INTEGER NOT NULL, PRIMARY KEY (job, name)
) WITHOUT ROWID, STRICT;
CREATE TABLE section_media (
    job INTEGER NOT NULL, section TEXT NOT NULL, url TEXT NOT NULL, pages INTEGER NOT NULL,
    PRIMARY KEY (job, section, url)
) WITHOUT ROWID, STRICT;
CREATE TABLE site_wide (
    job INTEGER NOT NULL, url TEXT NOT NULL, PRIMARY KEY (job, url)
) WITHOUT ROWID, STRICT;
CREATE TABLE pattern (
    job INTEGER NOT NULL, host TEXT NOT NULL, pattern TEXT NOT NULL, urls INTEGER NOT NULL,
    hits INTEGER NOT NULL, misses INTEGER NOT NULL, PRIMARY KEY (job, pattern)
) WITHOUT ROWID, STRICT;
"""
REQUISITES = """
CREATE TABLE requisite (
    id INTEGER PRIMARY KEY, job INTEGER NOT NULL, key INTEGER NOT NULL, origin TEXT NOT NULL,
    url TEXT NOT NULL, page INTEGER NOT NULL, steps INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'W' CHECK (status IN ('W', 'R', 'C', 'E')),
    bytes INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', UNIQUE (job, key)
) STRICT;
CREATE INDEX requisite_waiting ON requisite (job, origin, steps DESC, id) WHERE status = 'W';
CREATE INDEX requisite_page ON requisite (page);
"""
"""Tables of crawls that keep what pages need to be seen; other stores do without."""
KIND = FileKind("store", "mmcr", SCHEMA_VERSION, SCHEMA, later=REQUISITES)

# Columns that are named as the fields of the records.
_PAGE_COLUMNS = (
    "url", "title", "keywords", "description", "digest", "contains_media", "relevant",
    "topic_score", "links_on_page", "visited_at", "new_media",
)  # fmt: skip
_LINK_COLUMNS = (
    "logical_layer", "physical_layer", "priority", "url_words", "anchor", "group_title", "request",
    "block", "tag_path",
)  # fmt: skip
page_values, link_values = attrgetter(*_PAGE_COLUMNS), attrgetter(*_LINK_COLUMNS)
NEW_PAGE = (
    f"INSERT INTO page (id, links, {', '.join(_PAGE_COLUMNS)})"  # noqa: S608 - our own names
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
NEW_LINK = (
    "INSERT INTO link (id, key, host, path, status, score, structure, parent, content,"  # noqa: S608
    f" {', '.join(_LINK_COLUMNS)}, error, alias_key)"
    " VALUES (?, ?, ?, ?, ?, ?, 0.0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

# What the schema cannot say: ids are counted from 0 in each job, and what is named is there.
FAULTS = """
SELECT 'links of no job' FROM link WHERE id >> 40 NOT IN (SELECT id FROM job)
UNION ALL SELECT 'links are missing' FROM link
    GROUP BY id >> 40 HAVING max(id) <> (id >> 40 << 40) + count(*) - 1
UNION ALL SELECT 'hosts are missing' FROM host GROUP BY job HAVING max(id) <> count(*) - 1
UNION ALL SELECT 'links of no host' FROM link
    WHERE NOT EXISTS (SELECT 1 FROM host WHERE host.job = link.id >> 40 AND host.id = link.host)
UNION ALL SELECT 'pages of no link' FROM page WHERE id NOT IN (SELECT id FROM link)
UNION ALL SELECT 'numbers out of range' FROM link WHERE settled NOT BETWEEN 1 AND 1 << 40
    OR logical_layer NOT BETWEEN 0 AND 1 << 40 OR physical_layer NOT BETWEEN 0 AND 1 << 40
    OR content NOT BETWEEN 0 AND 2 OR score = 9e999
UNION ALL SELECT 'numbers out of range' FROM page WHERE topic_score NOT BETWEEN 0 AND 2
UNION ALL SELECT 'notes of a job' FROM job WHERE json_type(arguments) <> 'object'
    OR json_type(memory) <> 'object' OR json_type(archives) <> 'object'
    OR EXISTS (SELECT 1 FROM json_each(archives) WHERE type <> 'integer')
LIMIT 1
"""


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
    """A cursor that reports a file found damaged while it is read."""

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
    """Open a file, or memory, set up if empty; a StoreError if it is damaged or not ours.

    What memory has no room for SQLite keeps in a file without a name, which ends with the process.
    """
    name = str(path) if path else "memory"
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=rwc" if path else ""
        db = _opened(address, name)
        try:
            _prepare(db, name)
        except BaseException:
            db.close()
            raise
    except sqlite3.Error as error:
        raise StoreError(why_it_failed(name, error)) from error
    return db


def _opened(address: str, name: str) -> sqlite3.Connection:
    # Checks of our tables call functions of JSON, which SQLite counts as unsafe: not even the names
    # of tables could be read. That all of them are ours is the first thing that is asked.
    db = connected(address, _Connection, trust=True)
    db.name = name  # type: ignore[attr-defined]
    return db


def _prepare(db: sqlite3.Connection, name: str) -> None:
    """Set up an empty database, or check that it is ours."""
    if not set_up(db, KIND, ("page_size = 4096",)):
        _require_ours(db, name)
        for check in ("PRAGMA integrity_check(1)", FAULTS):
            fault = (db.execute(check).fetchone() or ["ok"])[0]
            if fault != "ok":
                raise damaged(name, fault.splitlines()[-1])
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA cache_size = -32000")


def _require_ours(db: sqlite3.Connection, name: str) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] == int.from_bytes(SHARED_CRAWL.encode()):
        raise StoreError(
            f"{name} keeps a crawl of several workers; continue it with -a workers=N, or name"
            " another file"
        )
    require_ours(db, name, KIND)


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a snapshot of a file: later writes are not seen.

    It is not checked for damage, which would take as long as reading all of it.

    Raises:
        StoreError: there is no such file, or it is of another program or of another version.
    """
    name = str(path)
    if not path.is_file():
        raise MissingStoreError(
            f"there is no store {name}; name the file of a crawl (-a store=FILE.db)"
        )
    try:
        address = address_to_read(path)
        db = _opened(address, name)
        try:
            _require_ours(db, name)
            db.execute("BEGIN")  # one state of the file until it is closed
        except BaseException:
            db.close()
            raise
    except sqlite3.Error as error:
        raise StoreError(why_it_failed(name, error)) from error
    return db


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection as of `connect_read_only`; a StoreError also for damage found."""
    try:
        with closing(connect_read_only(path)) as db:
            yield db
    except (LookupError, TypeError, ValueError) as error:
        raise damaged(str(path), error) from error


def is_crawl_store(path: Path) -> bool:
    """Return whether a file is the store of a crawl, of one process or of several."""
    return mark_of(path) in {KIND.mark, SHARED_CRAWL}


def remove_own_file(path: Path) -> None:
    """Remove an SQLite file of mmcrawl with what is beside it; a StoreError if it cannot be."""
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            ours = db.execute("PRAGMA application_id").fetchone()[0] >> 16 == KIND.application >> 16
    except sqlite3.Error:  # there is none, or it is of another kind
        return
    try:
        # The file last: what is left of a journal would be rolled back into the next one.
        for ending in ("-journal", "-wal", "-shm", "") if ours else ():
            Path(f"{path}{ending}").unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be recreated: {error.strerror}; remove it") from error


def damaged(store: str, fault: object) -> StoreError:
    """Return the error for a damaged store: what is damaged, and what can be done."""
    what = " ".join(str(fault).split())[:200]
    return DamagedStoreError(
        f"store {store} is damaged ({what}); restore it from a copy, or name another file: an"
        " archive of the crawl's pages is not concerned"
    )


def why_it_failed(name: str, error: Exception) -> str:
    """Return the message for an SQLite error, or for a wrong value in a store."""
    raise_if_interrupted(error)
    text = str(error)
    if any(sign in text for sign in ("malformed", "corrupt", "decode", "no such")):
        return str(damaged(name, text))
    return why_not(KIND, name, text)
