"""Results of ranking in a SQLite file of their own, beside the archive."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from mmcrawl.errors import StoreError

__all__ = ["SqliteRanks"]

APPLICATION_ID = 0x6D6D726B  # "mmrk"
_SCHEMA = """
CREATE TABLE head (method TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE part (
    method TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, content BLOB NOT NULL,
    UNIQUE (method, name, number)
);
"""
_WAIT = 30.0  # seconds for another process to finish its write
_AT_ONCE = 256 << 20  # bytes of one row; SQLite takes a billion at most


class SqliteRanks:
    """A :class:`~mmcrawl.rank.results.RankStore` in a file; what is replaced, is so at once.

    Args:
        path: Of the file.
        read_only: Do not make it: without a file there are no results.
    """

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self.name = path
        self._db: sqlite3.Connection | None = None
        if read_only and not Path(path).exists():
            return
        with self._explained():
            mode = "ro" if read_only else "rwc"
            db = sqlite3.connect(
                f"file:{quote(str(Path(path).absolute()))}?mode={mode}",
                uri=True,
                timeout=_WAIT,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                self._prepare(db, read_only)
            except BaseException:
                db.close()
                raise
        self._db = db

    def heads(self) -> dict[str, str]:
        if self._db is None:
            return {}
        with self._explained():
            return dict(self._db.execute("SELECT method, content FROM head").fetchall())

    def part(self, method: str, head: str, part: str) -> bytes | None:
        if self._db is None:
            return None
        with self._explained():
            rows = self._db.execute(
                "SELECT part.content FROM head JOIN part ON part.method = head.method"
                " WHERE head.method = ? AND head.content = ? AND name = ? ORDER BY number",
                (method, head, part),
            ).fetchall()
        return b"".join(content for (content,) in rows) if rows else None

    def replace(self, method: str, head: str, parts: Mapping[str, bytes]) -> None:
        if self._db is None:
            raise StoreError(f"{self.name} was opened for reading only")
        rows = [
            (method, name, number, content[start : start + _AT_ONCE])
            for name, content in parts.items()
            for number, start in enumerate(range(0, len(content), _AT_ONCE))
        ]
        with self._explained():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute("DELETE FROM part WHERE method = ?", (method,))
                self._db.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", rows)
                self._db.execute("INSERT OR REPLACE INTO head VALUES (?, ?)", (method, head))
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def close(self) -> None:
        if self._db is not None:
            self._db.close()

    def _prepare(self, db: sqlite3.Connection, read_only: bool) -> None:
        tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables and not read_only:
            db.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA.replace('TABLE', 'TABLE IF NOT EXISTS')}"
                f"PRAGMA application_id = {APPLICATION_ID}; COMMIT;"
            )
        elif db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreError(f"{self.name} does not hold ranks of mmcrawl; move it away")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "not a database" in text or "malformed" in text:
                advice = "remove the file, and compute the ranks anew"
            elif "full" in text:
                advice = "make room, and compute the ranks anew"
            elif "locked" in text or "busy" in text:
                advice = "another process writes it; wait for it"
            else:
                advice = "may you read and write there?"
            raise StoreError(f"ranks cannot be kept in {self.name} ({text}); {advice}") from error
