"""The search index in two collections of a MongoDB database, beside those of the archive.

Nothing but finding, inserting, replacing and deleting by key is asked of the server: neither text
indexes nor transactions. Objects are written before the head that names them, with the write
concern "majority, journaled".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from pymongo import MongoClient, WriteConcern
from pymongo.errors import ConfigurationError, DuplicateKeyError, PyMongoError

from mmcrawl.errors import StoreError

__all__ = ["MongoIndex"]

_HEAD = "head"
_AT_ONCE = 8 << 20  # bytes that one message holds
_FEW = 32  # objects
_WAIT = 20_000  # milliseconds
_ABANDONED = timedelta(days=1)
_CREDENTIALS = re.compile(r"//[^/@]*@")


class MongoIndex:
    """A :class:`~mmcrawl.archive.search_index.IndexStore` in a database.

    Args:
        uri: As of the archive: it names the database.
    """

    def __init__(self, uri: str) -> None:
        self.name = _CREDENTIALS.sub("//", uri)
        with self._explained():
            self._client: MongoClient[dict[str, Any]] = MongoClient(
                uri, serverSelectionTimeoutMS=_WAIT, tz_aware=True
            )
            try:
                database = self._client.get_default_database()
            except ConfigurationError as error:
                raise StoreError(
                    f"{self.name} names no database; use mongodb://HOST/DATABASE"
                ) from error
            durable = WriteConcern(w="majority", j=True)
            self._database = database
            self._objects = database.get_collection("search_objects", write_concern=durable)
            self._heads = database.get_collection("search_head", write_concern=durable)

    def head(self) -> tuple[int, bytes] | None:
        with self._explained():
            found = self._heads.find_one({"_id": _HEAD})
        return (int(found["generation"]), bytes(found["content"])) if found else None

    def get(self, keys: Collection[str]) -> dict[str, bytes]:
        # One by one if they are few: some servers look up a key in their index, but read all
        # there is to find several.
        with self._explained():
            if len(keys) <= _FEW:
                found = [self._objects.find_one({"_id": key}, {"content": 1}) for key in keys]
            else:
                found = list(self._objects.find({"_id": {"$in": sorted(keys)}}, {"content": 1}))
        return {item["_id"]: bytes(item["content"]) for item in found if item is not None}

    def commit(
        self,
        generation: int,
        head: bytes,
        objects: Mapping[str, bytes] | None = None,
        removed: Iterable[str] = (),
    ) -> bool:
        with self._explained():
            for batch in _batches(objects or {}):
                self._objects.insert_many(batch)
            if not self._replace_head(generation, head):
                return False
            for segment in removed:
                self._objects.delete_many({"segment": segment})
        return True

    def _replace_head(self, generation: int, head: bytes) -> bool:
        new = {"_id": _HEAD, "generation": generation + 1, "content": head}
        if generation:
            known = {"_id": _HEAD, "generation": generation}
            return self._heads.replace_one(known, new).matched_count == 1
        try:
            self._heads.insert_one(new)
        except DuplicateKeyError:
            return False
        return True

    def sweep(self, kept: Collection[str]) -> None:
        """Remove objects of other segments, if they are a day old: none is being written then."""
        old = {"at": {"$lt": datetime.now(UTC) - _ABANDONED}}
        with self._explained():
            found = {item["segment"] for item in self._objects.find(old, {"segment": 1})}
            for segment in found.difference(kept):
                self._objects.delete_many({"segment": segment})

    def clear(self) -> None:
        with self._explained():
            found = self._heads.find_one({"_id": _HEAD}, {"generation": 1})
            if found and self._replace_head(int(found["generation"]), b'{"format":0}'):
                self._objects.delete_many({})

    def size(self) -> int:
        with self._explained():
            names = (self._objects.name, self._heads.name)
            known = set(self._database.list_collection_names())
            found = [self._database.command("collStats", n) for n in names if n in known]
        return int(sum(stats["storageSize"] + stats["totalIndexSize"] for stats in found))

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except PyMongoError as error:
            reason = " ".join(str(error).split())[:300]
            raise StoreError(
                f"search index {self.name} failed ({reason}); is the server running?"
            ) from error


def _batches(objects: Mapping[str, bytes]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size, now = 0, datetime.now(UTC)
    for key, content in objects.items():
        if batch and size + len(content) > _AT_ONCE:
            yield batch
            batch, size = [], 0
        segment = key.partition("/")[0]
        batch.append({"_id": key, "segment": segment, "at": now, "content": content})
        size += len(content)
    if batch:
        yield batch
