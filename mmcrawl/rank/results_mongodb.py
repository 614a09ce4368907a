"""Results of ranking in two collections of a MongoDB database, beside those of the archive.

Nothing but finding, inserting, replacing and deleting by key is asked of the server. Parts are
written under a name that is new each time, the head that names them last; then the old ones go.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pymongo import MongoClient, WriteConcern
from pymongo.errors import ConfigurationError, PyMongoError

from mmcrawl.archive.places import shown
from mmcrawl.errors import StoreError

__all__ = ["MongoRanks"]

_AT_ONCE = 8 << 20  # bytes of one document; a server takes 16 MB at most
_WAIT = 20_000  # milliseconds


class MongoRanks:
    """A :class:`~mmcrawl.rank.results.RankStore` in a database.

    Args:
        uri: As of the archive: it names the database.
    """

    def __init__(self, uri: str) -> None:
        self.name = shown(uri)
        with self._explained():
            self._client: MongoClient[dict[str, Any]] = MongoClient(
                uri, serverSelectionTimeoutMS=_WAIT
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
                starts = range(0, len(content), _AT_ONCE)
                pieces[name] = len(starts)
                for number, start in enumerate(starts):
                    piece = content[start : start + _AT_ONCE]
                    self._parts.insert_one({"_id": f"{written}/{name}/{number}", "content": piece})
            new = {
                "_id": method,
                "content": head,
                "written": written,
                "pieces": json.dumps(pieces),
            }
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
