"""Where results are kept: a SQLite file beside the archive's, or two collections beside its own.

Of a MongoDB server nothing is asked but finding, inserting, replacing and deleting by key. Parts
are written under a name that is new each time, the head that names them last; then the old ones go.
"""

import json
import uuid
from collections.abc import Mapping

from mmcrawl.stores.mongodb import Kind
from mmcrawl.stores.mongodb_place import MongoPlace
from mmcrawl.stores.sqlite_file import Form, SqliteFile

_SCHEMA = """
CREATE TABLE head (method TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE part (
    method TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, content BLOB NOT NULL,
    UNIQUE (method, name, number)
);
"""
_MISSING = "`scrapy rank` computes them"
_KIND = Kind("ranks", "mmcrawl ranks", 1, "rank_", ("head", "part"), _MISSING)
_ROW = 256 << 20  # bytes of one row; SQLite takes a billion at most
_DOCUMENT = 8 << 20  # bytes of one document; a server takes 16 MB at most


class SqliteResults(SqliteFile):
    """A :class:`~mmcrawl.rank.results.kept.ResultStore` in a file; what is replaced, is so at once.

    Args, Raises: As of :class:`~mmcrawl.stores.sqlite_file.SqliteFile`.
    """

    form = Form("a file of ranks", f"there are no ranks {{}}; {_MISSING}", (0x6D6D726B, 0), _SCHEMA)

    def heads(self) -> dict[str, str]:
        with self._reading() as db:
            return dict(db.execute("SELECT method, content FROM head").fetchall())

    def part(self, method: str, head: str, part: str) -> bytes | None:
        with self._reading() as db:
            rows = db.execute(
                "SELECT part.content FROM head JOIN part ON part.method = head.method"
                " WHERE head.method = ? AND head.content = ? AND name = ? ORDER BY number",
                (method, head, part),
            ).fetchall()
        return b"".join(content for (content,) in rows) if rows else None

    def replace(self, method: str, head: str, parts: Mapping[str, bytes]) -> None:
        rows = [
            (method, name, number, content[start : start + _ROW])
            for name, content in parts.items()
            for number, start in enumerate(range(0, len(content), _ROW))
        ]
        with self._writing() as db:
            db.execute("DELETE FROM part WHERE method = ?", (method,))
            db.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", rows)
            db.execute("INSERT OR REPLACE INTO head VALUES (?, ?)", (method, head))


class MongoResults(MongoPlace):
    """A :class:`~mmcrawl.rank.results.kept.ResultStore` in the database of the archive."""

    kind = _KIND

    def __init__(self, uri: str, *, create: bool) -> None:
        super().__init__(uri, create=create)
        self._heads, self._parts = map(self._documents, _KIND.tables)

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
