"""Where results are kept: a SQLite file beside the archive's, or two collections beside its own.

Of a MongoDB server nothing is asked but finding, inserting, replacing and deleting by key. Parts
are written under a name that is new each time, the head that names them last; then the old ones go.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pymongo import MongoClient, WriteConcern
from pymongo.errors import ConfigurationError, PyMongoError

from mmcrawl.archive.uris import shown
from mmcrawl.errors import StoreError
from mmcrawl.stores.sqlite_files import (
    connected,
    is_empty,
    raise_if_interrupted,
    require_tables,
)

APPLICATION_ID = 0x6D6D726B  # "mmrk"
_SCHEMA = """
CREATE TABLE head (method TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE part (
    method TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, content BLOB NOT NULL,
    UNIQUE (method, name, number)
);
"""
_ROW = 256 << 20  # bytes of one row; SQLite takes a billion at most
_DOCUMENT = 8 << 20  # bytes of one document; a server takes 16 MB at most
_SELECTION = 20_000  # milliseconds until a server that does not answer is given up


class SqliteResults:
    """A :class:`~mmcrawl.rank.results.kept.ResultStore` in a file; what is replaced, is so at once.

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
            db = connected(f"file:{quote(str(Path(path).absolute()))}?mode={mode}")
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
            (method, name, number, content[start : start + _ROW])
            for name, content in parts.items()
            for number, start in enumerate(range(0, len(content), _ROW))
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
        if is_empty(db) and not read_only:
            db.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA.replace('TABLE', 'TABLE IF NOT EXISTS')}"
                f"PRAGMA application_id = {APPLICATION_ID}; COMMIT;"
            )
        elif db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreError(f"{self.name} does not hold ranks of mmcrawl; move it away")
        require_tables(db, self.name, _SCHEMA)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise_if_interrupted(error)
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


class MongoResults:
    """A :class:`~mmcrawl.rank.results.kept.ResultStore` in a database.

    Args:
        uri: As of the archive: it names the database.
    """

    def __init__(self, uri: str) -> None:
        self.name = shown(uri)
        with self._explained():
            self._client: MongoClient[dict[str, Any]] = MongoClient(
                uri, serverSelectionTimeoutMS=_SELECTION
            )
            try:
                database = self._client.get_default_database()
            except ConfigurationError as error:
                raise StoreError(
                    f"{self.name} names no database; use mongodb://HOST/DATABASE"
                ) from error
            durable = WriteConcern(w="majority", j=True)
            self._heads = database.get_collection("rank_head", write_concern=durable)
            self._parts = database.get_collection("rank_part", write_concern=durable)

    def heads(self) -> dict[str, str]:
        with self._explained():
            return {item["_id"]: item["content"] for item in self._heads.find({})}

    def part(self, method: str, head: str, part: str) -> bytes | None:
        with self._explained():
            current = self._heads.find_one({"_id": method})
            if current is None or current["content"] != head:
                return None
            pieces = []
            for number in range(json.loads(current["pieces"])[part]):
                piece = self._parts.find_one({"_id": f"{current['written']}/{part}/{number}"})
                if piece is None:
                    return None
                pieces.append(bytes(piece["content"]))
        return b"".join(pieces)

    def replace(self, method: str, head: str, parts: Mapping[str, bytes]) -> None:
        written = uuid.uuid4().hex
        pieces: dict[str, int] = {}
        with self._explained():
            before = self._heads.find_one({"_id": method})
            for name, content in parts.items():
                starts = range(0, len(content), _DOCUMENT)
                pieces[name] = len(starts)
                for number, start in enumerate(starts):
                    piece = content[start : start + _DOCUMENT]
                    self._parts.insert_one({"_id": f"{written}/{name}/{number}", "content": piece})
            new = {"content": head, "written": written, "pieces": json.dumps(pieces)}
            self._heads.replace_one({"_id": method}, new, upsert=True)
            if before is not None:
                for name, count in json.loads(before["pieces"]).items():
                    for number in range(count):
                        self._parts.delete_one({"_id": f"{before['written']}/{name}/{number}"})

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except PyMongoError as error:
            reason = " ".join(str(error).split())[:300]
            raise StoreError(
                f"ranks cannot be kept in {self.name} ({reason}); is the server running?"
            ) from error
