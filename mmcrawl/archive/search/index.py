"""The search index: an SQLite file with a full-text table (FTS5), for any kind of archive.

A block is indexed once, however many versions and pages contain it: as a *document*. A *run* says
that a document was on a page in some consecutive versions. The full-text table is contentless; it
receives texts as tokens, cut by :mod:`.tokens` and separated by spaces. Every change is a
transaction, so the index stays consistent when its writer dies.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from mmcrawl.archive.search.tokens import tokens
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.errors import StoreError
from mmcrawl.store.sqlite_files import (
    FileKind,
    address_to_read,
    connected,
    explained,
    is_empty,
    require_tables,
    set_up,
    why_not,
)

logger = logging.getLogger(__name__)

KIND_WEIGHTS: Mapping[str, float] = {
    "title": 2.0,
    "topic": 1.5,
    "image": 1.0,
    "small": 0.7,
    "related-links": 0.6,
    "comments": 0.5,
    "navigation": 0.3,
    "copyright": 0.2,
    "noise-links": 0.2,
    "advertisement": 0.1,
}
"""What a block of a kind counts; 1 for any other."""

MAIN_KINDS = ("title", "topic")
"""What a page is about stands in these; blocks of them are found before all others."""

BESIDE_KINDS = ("navigation", "copyright", "noise-links", "advertisement")
"""What stands on most pages of a site; words are looked for there if nothing else has them."""

KIND_NAMES = ("", *KINDS)
KIND_NUMBERS = {kind: number for number, kind in enumerate(KIND_NAMES)}

# How texts become tokens belongs to the form: documents are deleted by their tokens.
_TOKENS = (7, version("PyStemmer"), *KINDS)
_FORMAT = zlib.crc32(repr(_TOKENS).encode()) >> 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS page (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE,
  host TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS version (page INTEGER, place INTEGER, number INTEGER NOT NULL,
  time REAL NOT NULL, until REAL NOT NULL, language INTEGER NOT NULL, PRIMARY KEY (page, place))
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS run (document INTEGER, page INTEGER, first INTEGER, kind INTEGER,
  media INTEGER, last INTEGER NOT NULL, PRIMARY KEY (document, page, first, kind, media))
  WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS run_media ON run (document, page) WHERE media > 0;
CREATE INDEX IF NOT EXISTS run_page ON run (page, last);
CREATE TABLE IF NOT EXISTS document (id INTEGER PRIMARY KEY, digest BLOB NOT NULL,
  encoding INTEGER NOT NULL, media INTEGER NOT NULL, topic TEXT NOT NULL, text BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS document_digest ON document (substr(digest, 1, 4));
CREATE TABLE IF NOT EXISTS name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5 (text, topic, content = '',
  tokenize = "ascii tokenchars ''''");
"""
_KIND = FileKind("search index", "mmsx", _FORMAT, _SCHEMA, "another archive, or move it away")
_FTS5 = "SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'"
_WAIT = 60.0  # seconds
_DAMAGED = ("malformed", "corrupt", "no such table", "vtable constructor failed")
_MOST_WORDS = 100_000  # of a block
_LONGEST = 1_000_000  # characters of a block that are kept


class DamagedError(StoreError):
    """The index cannot be read; it can be rebuilt from the archive."""


def words_of(topic: str, text: str) -> tuple[str, str]:
    """Return the columns of the full-text table of a document."""
    said = [token.word for token, _ in zip(tokens(text), range(_MOST_WORDS), strict=False)]
    return " ".join(said), " ".join(token.word for token in tokens(topic))


def packed(text: str) -> bytes:
    """Return a text as it is kept, to be shown."""
    return zlib.compress(text[:_LONGEST].encode("utf-8", "surrogatepass"), 9, -15)


def unpacked(content: bytes) -> str:
    """Return a text that was kept.

    Raises:
        DamagedError: it cannot be read.
    """
    try:
        return zlib.decompress(content, -15).decode("utf-8", "surrogatepass")
    except (zlib.error, ValueError, TypeError) as error:
        raise DamagedError(f"the search index is damaged ({error}); rebuild it") from error


class Index:
    """The file of an index. Any thread may use it; one at a time does.

    It is made if it is missing, and emptied if it is in another form; where it is read only,
    nothing is found then.

    Raises:
        StoreError: SQLite has no FTS5, the file is of something else, or cannot be opened.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.name = str(path)
        self._path = path
        self._read_only = read_only
        self._lock = threading.RLock()
        with self._explained():
            self._db = self._opened()

    def _opened(self) -> sqlite3.Connection:
        """Open the file; an empty index in memory where there is none that can be read."""
        self._empty = False
        if self._path.exists() or not self._read_only:
            new = f"file:{quote(str(self._path.absolute()))}?mode=rwc"
            db = _connected(address_to_read(self._path) if self._read_only else new)
            with ExitStack() as unless_used:
                unless_used.callback(db.close)
                if self._prepared(db):
                    unless_used.pop_all()
                    return db
        self._empty = True
        db = _connected(":memory:")
        set_up(db, _KIND)
        return db

    def _prepared(self, db: sqlite3.Connection) -> bool:
        """Bring a file into the form that is read; False if it is in another, or in none yet."""
        if self._read_only and is_empty(db):  # another process makes it, or was killed as it did
            return False
        if set_up(db, _KIND):
            return True
        names = "application_id", "user_version"
        application, form = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        if application != _KIND.application:
            raise StoreError(why_not(_KIND, self.name, "not a database"))
        if form == _FORMAT:
            require_tables(db, self.name, "", _SCHEMA)  # if one is missing: reported, rebuilt
        elif not self._read_only:
            logger.warning("search index %s has another format; it is rebuilt", self.name)
            _empty(db)
        return form == _FORMAT or not self._read_only

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection on which everything is as it was at one moment."""
        with self._lock, self._explained():
            if self._empty and self._path.exists():
                self._db.close()
                self._db = self._opened()
            with _transaction(self._db, "DEFERRED"):
                yield self._db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection on which all changes are made, or none."""
        with self._lock, self._explained(), _transaction(self._db, "IMMEDIATE"):
            yield self._db

    def tidy(self, *, thoroughly: bool = False) -> None:
        """Leave nothing in the log of what was deleted; make the file small, if requested."""
        with self._lock, self._explained():
            if thoroughly:
                self._db.execute("INSERT INTO word (word) VALUES ('optimize')")
                self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def clear(self) -> None:
        """Remove everything, also what is damaged."""
        with self._lock, self._explained():
            _empty(self._db)
        self.tidy()

    def size(self) -> int:
        """Return the bytes that the index takes."""
        paths = (self._path, Path(f"{self._path}-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def close(self) -> None:
        """Close; may be called twice."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        with explained(_KIND, self.name):
            try:
                yield
            except sqlite3.Error as error:
                if any(sign in str(error) for sign in _DAMAGED):
                    raise DamagedError(
                        f"search index {self.name} is damaged ({error}); rebuild it"
                    ) from error
                raise


def _connected(name: str) -> sqlite3.Connection:
    db = connected(name, wait=_WAIT)
    if not db.execute(_FTS5).fetchone()[0]:
        db.close()
        raise StoreError(
            f"the SQLite {sqlite3.sqlite_version} of this Python has no FTS5, which searching"
            " needs; use a Python whose sqlite3 has it"
        )
    db.execute("PRAGMA secure_delete = ON")  # what was purged is overwritten
    db.execute("PRAGMA synchronous = NORMAL")  # a commit that is lost in a power cut is made again
    db.execute("PRAGMA temp_store = MEMORY")
    return db


def _empty(db: sqlite3.Connection) -> None:
    """Put an empty index in place of all there is, for other connections too."""
    with closing(connected(":memory:")) as empty:
        set_up(empty, _KIND)
        empty.backup(db)


@contextmanager
def _transaction(db: sqlite3.Connection, kind: str) -> Iterator[None]:
    db.execute(f"BEGIN {kind}")
    with db:
        yield


class IndexedBlock(NamedTuple):
    """A block of a page as it is indexed."""

    digest: str
    kind: str
    topic: str
    text: str | None  # visible, line by line; of images alone, the topic; None if it was not read
    inside: int  # kinds of media in its bytes, as bits
    around: int  # of those that stand behind it


class ReadVersion(NamedTuple):
    """What was read of a version; `problem` says why it cannot be, "" if it can."""

    language: str = ""
    encoding: str = ""
    blocks: Sequence[IndexedBlock] = ()
    problem: str = ""
