"""The archive in a MongoDB database, for crawls on more than one machine.

Any server of MongoDB's protocol will do. Transactions, joins and text indexes are not asked for;
what must be atomic is an insertion under a unique key, the one thing that all servers do alike.

* ``chunk``: a digest in hexadecimal; field ``at``, its place.

The other collections are told in :mod:`~mmcrawl.archive.mongodb.packs`,
:mod:`~mmcrawl.archive.mongodb.urls` and :mod:`~mmcrawl.archive.mongodb.visits`, who may write in
:mod:`~mmcrawl.archive.mongodb.leases`, how the server is reached in
:mod:`~mmcrawl.archive.mongodb.server`.

On a sharded cluster: ``chunk`` by ``_id``, hashed; ``version``, ``visit``, ``claim``, ``pack`` and
``part`` by ``_id``, which begins with the number of the URL or the stream, so that what is read
together stands together; ``url`` by ``url`` and ``stream`` by ``name``, which must be unique. The
others are small and stay on one shard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from bson import ObjectId
from pymongo import ASCENDING, ReplaceOne
from pymongo.errors import OperationFailure

from mmcrawl.archive.common import PAGE, guarded
from mmcrawl.archive.mongodb.packs import PackCollections
from mmcrawl.archive.mongodb.proofs import Proofs
from mmcrawl.archive.mongodb.rows import version_key
from mmcrawl.archive.mongodb.server import TABLES
from mmcrawl.archive.rows import Disproved, VersionRow
from mmcrawl.errors import StoreError
from mmcrawl.stores.mongodb import change_all, insert_new

_ORPHAN = timedelta(days=1)  # after which parts that no pack names are removed
_COUNTED = {
    "urls": "url",
    "versions": "version",
    "visits": "visit",
    "packs": "pack",
    "chunks": "chunk",
}


class MongoBackend(PackCollections):
    """A :class:`~mmcrawl.archive.backend.Backend` in a database.

    Args:
        uri: ``mongodb://HOST/DATABASE``, with the options of the driver. A server that does not
            answer is given up after 5 seconds, unless ``serverSelectionTimeoutMS`` is among them.
        create: Whether to set the archive up where there is none.
        read_only: Never write.

    Raises:
        StoreError: it cannot be reached, is missing, or is no archive that this version can use.
    """

    def __init__(self, uri: str, *, create: bool = True, read_only: bool = False) -> None:
        super().__init__(uri, create=create, read_only=read_only)
        self._chunks = self._server.documents("chunk")
        self._proofs = Proofs(self._server)

    # -- chunks -------------------------------------------------------------------------------

    @guarded
    def find_chunks(self, digests: Sequence[bytes]) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for start in range(0, len(digests), PAGE):
            keys = [digest.hex() for digest in digests[start : start + PAGE]]
            rows = self._chunks.find({"_id": {"$in": keys}}).batch_size(PAGE)
            found.update((bytes.fromhex(row["_id"]), row["at"]) for row in rows)
        return found

    def add_chunks(self, chunks: Iterable[tuple[bytes, int]]) -> None:
        rows = [{"_id": digest.hex(), "at": at} for digest, at in sorted(chunks)]
        with self.writing(), self._withdrawn_if_late(self._chunks, rows, "at"):
            insert_new(self._chunks, rows)  # a digest that is there already is what was wanted

    def remove_chunks(self, digests: Iterable[bytes]) -> None:
        with self.writing():
            self._delete(self._chunks, [digest.hex() for digest in digests])

    @guarded
    def _chunks_after(self, digest: bytes) -> list[tuple[bytes, int]]:
        rows = self._chunks.find({"_id": {"$gt": digest.hex()}}).sort("_id", ASCENDING)
        found = rows.limit(PAGE).batch_size(PAGE)
        return [(bytes.fromhex(row["_id"]), row["at"]) for row in found]

    # -- the whole ----------------------------------------------------------------------------

    @guarded
    def counts(self) -> dict[str, int]:
        return {
            key: self._server.documents(table).count_documents({})
            for key, table in _COUNTED.items()
        }

    @guarded
    def totals(self) -> dict[str, tuple[int, int, int]]:
        totals: dict[str, tuple[int, int, int]] = {}
        urls = self.urls()
        while rows := list(islice(urls, PAGE)):
            versions = self._totals_of([row.id for row in rows])
            for row in rows:
                count, size = versions.get(row.id, (0, 0))
                before = totals.get(row.host, (0, 0, 0))
                totals[row.host] = (before[0] + 1, before[1] + count, before[2] + size)
        return dict(sorted(totals.items()))

    def _totals_of(self, urls: Sequence[int]) -> dict[int, tuple[int, int]]:
        these = {"url": {"$in": list(urls)}}
        sums = {"_id": "$url", "count": {"$sum": 1}, "size": {"$sum": "$size"}}
        rows = self._versions.aggregate([{"$match": these}, {"$group": sums}])
        return {row["_id"]: (int(row["count"]), int(row["size"])) for row in rows}

    @guarded
    def size(self) -> int:
        """Return the bytes in use: what is free in the files for what comes next is not counted."""
        total = 0
        for table in TABLES:
            name = self._server.documents(table).name
            stats = self._server.database.command("collStats", name)
            stored = stats["storageSize"] or stats["size"]  # what is in memory only is not stored
            total += stored + stats.get("totalIndexSize", 0)
            # Elsewhere, what is free is not part of the size.
            total -= stats.get("freeStorageSize", 0)
        return int(total)

    @guarded
    def problems(self) -> list[str]:
        self._known.forget()
        found = []
        for table in TABLES:
            name = self._server.documents(table).name
            try:
                report = self._server.database.command("validate", name)
            except OperationFailure:
                continue  # not every user may ask, not every server can tell
            if not report.get("valid", True):
                errors = "; ".join(map(str, report.get("errors", [])))
                found.append(f"the collection {name} is damaged: {errors}")
        return found + self._proofs.problems()

    @guarded
    def disproved(self) -> list[Disproved]:
        return self._proofs.disproved()

    def restore(self, group: Disproved) -> bool:
        try:
            with self.writing():
                self._known.forget()
                self._met.clear()
                return self._proofs.restore(group)
        except StoreError:
            return False

    def settle(self, losses: Iterable[str]) -> None:
        with self.writing():
            told = sorted(self.settled().union(losses))
            values = {"$set": {"last": 0, "told": told}}
            self._server.documents("counter").update_one({"_id": "loss"}, values, upsert=True)

    @guarded
    def settled(self) -> set[str]:
        found = self._server.documents("counter").find_one({"_id": "loss"}) or {}
        return set(found.get("told", ()))

    def proves_versions(self, url: int) -> bool | None:
        return None

    def put_versions(self, rows: Sequence[VersionRow], untrue: Sequence[VersionRow] = ()) -> None:
        with self.writing():
            for start in range(0, len(rows), PAGE):
                some = self._written(rows[start : start + PAGE])
                change_all(self._versions, [ReplaceOne({"_id": r["_id"]}, r, True) for r in some])
            self._delete(self._versions, [version_key(row.url, row.number) for row in untrue])

    @guarded
    def nameless(self) -> list[int]:
        known = {int(row["_id"], 16) for row in self._urls.find({}, {"_id": 1})}
        named = {
            int(row["_id"])
            for documents in (self._versions, self._visits)
            for row in documents.aggregate([{"$group": {"_id": "$url"}}])
            if row["_id"] is not None  # told as a document that is damaged
        }
        return sorted(named - known)

    @guarded
    def reserved(self, stream: int) -> tuple[int, int]:
        self._free.pop(stream, None)
        return self._after_last_claims([stream])[stream]

    @guarded
    def compact(self) -> None:
        with self.writing():
            self._remove_orphans()
        for table in TABLES:
            name = self._server.documents(table).name
            try:
                self._server.database.command("compact", name)
            except OperationFailure:
                continue  # not every user may, and the server uses free space again

    def _remove_orphans(self) -> None:
        """Remove what a process left that died between writing parts and naming them."""
        before = datetime.now(UTC) - _ORPHAN
        named = {row["parts"] for row in self._packs.find({}, {"parts": 1})}
        orphans = []
        for row in self._parts.find({"_id": {"$gt": ""}}, {"_id": 1}):
            name = row["_id"].rpartition("/")[0]
            made = ObjectId(name.rpartition("/")[2]).generation_time
            if name not in named and made < before:
                orphans.append(row["_id"])
        self._delete(self._parts, orphans)

    def close(self) -> None:
        self._leases.close()
        self._server.client.close()
