"""The search index in a SQLite file of its own, beside the archive."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from mmcrawl.errors import StoreError

__all__ = ["SqliteIndex"]

APPLICATION_ID = 0x6D6D7378  # "mmsx"
_SCHEMA = """
CREATE TABLE head (id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, content BLOB NOT NULL);
CREATE TABLE object (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, content BLOB NOT NULL);
"""
_WAIT = 60.0  # seconds
_AT_ONCE = 500


class SqliteIndex:
    """A :class:`~mmcrawl.archive.search_index.IndexStore` in a file; a commit is a transaction.

    After a power cut the newest commits may be missing, and are made again by the next update:
    ``synchronous`` is NORMAL, since nothing here is the only copy.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.name = str(path)
        self._path = path
        self._read_only = read_only
        self._lock = threading.RLock()
        self._db = self._opened()

    def _opened(self) -> sqlite3.Connection | None:
        """Open the file; None if there is none and it may not be made."""
        if self._read_only and not self._path.exists():
            return None
        mode = "ro" if self._read_only else "rwc"
        with self._explained():
            db = sqlite3.connect(
                f"file:{quote(str(self._path.absolute()))}?mode={mode}",
                uri=True,
                timeout=_WAIT,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables and not self._read_only:
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA.replace('TABLE', 'TABLE IF NOT EXISTS')}"
                f"PRAGMA application_id = {APPLICATION_ID}; COMMIT;"
            )
        elif tables and db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreError(f"{self.name} is not a search index of mmcrawl; move it away")
        db.execute("PRAGMA secure_delete = ON")  # what was purged is overwritten
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA journal_size_limit = 16777216")

    def head(self) -> tuple[int, bytes] | None:
        with self._reading() as db:
            return None if db is None else self._head(db)

    def get(self, keys: Collection[str]) -> dict[str, bytes]:
        wanted = list(keys)
        found: dict[str, bytes] = {}
        with self._reading() as db:
            if db is None:
                return found
            for start in range(0, len(wanted), _AT_ONCE):
                part = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = db.execute(
                    f"SELECT key, content FROM object WHERE key IN ({marks})",  # noqa: S608
                    part,
                )
                found.update(rows)
        return found

    def commit(
        self,
        generation: int,
        head: bytes,
        objects: Mapping[str, bytes] | None = None,
        removed: Iterable[str] = (),
    ) -> bool:
        with self._writing() as db:
            current = self._head(db)
            if (current[0] if current else 0) != generation:
                return False
            db.executemany(
                "INSERT INTO object (key, content) VALUES (?, ?)", (objects or {}).items()
            )
            db.execute("INSERT OR REPLACE INTO head VALUES (1, ?, ?)", (generation + 1, head))
            for segment in removed:
                db.execute(
                    "DELETE FROM object WHERE key >= ? AND key < ?", (f"{segment}/", f"{segment}0")
                )
        return True

    def sweep(self, kept: Collection[str]) -> None:
        """Give free space back; a transaction leaves nothing to sweep."""
        with self._reading() as db:
            if db is not None and not self._read_only:
                db.executescript("PRAGMA incremental_vacuum;")
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def clear(self) -> None:
        with self._writing() as db:
            current = self._head(db)
            db.execute("DELETE FROM object")
            db.execute("DELETE FROM head")
            if current:
                db.execute("INSERT INTO head VALUES (1, ?, ?)", (current[0] + 1, b'{"format":0}'))
        self.sweep(())

    def size(self) -> int:
        paths = (self._path, Path(f"{self._path}-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()

    @staticmethod
    def _head(db: sqlite3.Connection) -> tuple[int, bytes] | None:
        row = db.execute("SELECT generation, content FROM head").fetchone()
        return (int(row[0]), bytes(row[1])) if row else None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        with self._lock, self._explained():
            if self._db is None:
                self._db = self._opened()
            yield self._db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._explained():
            if self._read_only or self._db is None:
                raise StoreError(f"search index {self.name} was opened for reading only")
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
        except sqlite3.DatabaseError as error:
            text = str(error)
            if "not a database" in text or "malformed" in text or "corrupt" in text:
                advice = "remove the file; it is made again from the archive"
            elif "full" in text:
                advice = "make room and go on; no page is lost"
            elif "locked" in text or "busy" in text:
                advice = "another process writes it; wait for it"
            else:
                advice = "may you read and write there?"
            raise StoreError(f"search index {self.name} failed ({text}); {advice}") from error
