"""The MongoDB collections of streams and packs.

* ``stream``: its number in hexadecimal; field ``name`` (unique).
* ``claim``: ``STREAM/ENTRY`` in hexadecimal; field ``chunk``, the next one after those that came
  with the entry. To reserve is to insert the claim that follows the last one.
* ``pack``: ``STREAM/ENTRY/ENTRIES``; fields of :class:`~mmcrawl.archive.backend.PackRow`, the place
  of the first chunk, the name of its parts (``parts``) and how many there are (``m``, ``d``).
* ``part``: ``NAME/m0``, ``NAME/d0`` and so on: pieces of the manifest and of the data, at most 8 MB
  each. They are written before the pack that names them, and go after it.

Packs that are replaced go in ascending order. Those that still stand at any moment are the last
ones, so the pack that begins last at or before a number holds it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from bson import ObjectId
from pymongo import ASCENDING, DESCENDING, DeleteOne
from pymongo.errors import DuplicateKeyError

from mmcrawl.archive.backend import SHIFT, PackRow, place
from mmcrawl.archive.mongodb_known import KnownPacks, Parts
from mmcrawl.archive.mongodb_leases import sealing
from mmcrawl.archive.mongodb_urls import UrlCollections, guarded
from mmcrawl.errors import StoreError

__all__ = ["PackCollections"]

_NUMBER = (1 << SHIFT) - 1
_PIECE = 8 << 20
_ATTEMPTS = 1_000
_CANDIDATES = 4  # packs to look at for one that holds a number; the first does, mostly
_REMEMBERED = 10_000  # streams of which something is known without asking

_K = TypeVar("_K")
_V = TypeVar("_V")
_Row = dict[str, Any]


class PackCollections(UrlCollections):
    """What of an open database is about streams and packs."""

    def __init__(self, uri: str, *, create: bool = True, read_only: bool = False) -> None:
        super().__init__(uri, create=create, read_only=read_only)
        self._streams = self._server.documents("stream")
        self._claims = self._server.documents("claim")
        self._packs = self._server.documents("pack")
        self._parts = self._server.documents("part")
        self._numbers: OrderedDict[str, int] = OrderedDict()  # of streams; they never change
        self._free: OrderedDict[int, tuple[int, int]] = OrderedDict()  # others may have taken it
        self._known = KnownPacks()

    # -- streams ------------------------------------------------------------------------------

    def stream(self, name: str) -> int:
        with self.writing():
            number = self._numbers.get(name)
            if number is None:
                number = int(self._numbered(self._streams, {"name": name}, {})["_id"], 16)
                _remember(self._numbers, name, number)
            return number

    @guarded
    def streams(self) -> list[int]:
        return [int(row["_id"], 16) for row in self._streams.find().sort("_id", ASCENDING)]

    def reserve(self, stream: int, chunks: int) -> tuple[int, int]:
        with self.writing():
            at = self._free.get(stream) or self._after_last_claim(stream)
            for _ in range(_ATTEMPTS):
                entry, chunk = at
                claim = {"_id": f"{stream:08x}/{entry:08x}", "chunk": chunk + chunks}
                try:
                    self._claims.insert_one(claim)
                except DuplicateKeyError:  # another process was faster
                    at = self._after_last_claim(stream)
                else:
                    _remember(self._free, stream, (entry + 1, chunk + chunks))
                    return at
        raise StoreError(f"archive {self.name} is written so much that no entry is free; try again")

    def _after_last_claim(self, stream: int) -> tuple[int, int]:
        for row in self._claims.find(_all_of(stream)).sort("_id", DESCENDING).limit(1):
            return int(row["_id"].rpartition("/")[2], 16) + 1, int(row["chunk"])
        return 0, 0

    # -- packs --------------------------------------------------------------------------------

    def add_pack(self, pack: PackRow, manifest: bytes, data: bytes) -> None:
        with self.writing():
            contents = {"m": _pieces(manifest), "d": _pieces(data)}
            counts = {kind: len(pieces) for kind, pieces in contents.items()}
            parts = Parts(f"{_key(pack)}/{ObjectId()}", **counts)
            keys = [*parts.of_manifest(), *parts.of_data()]
            pieces = zip(keys, contents["m"] + contents["d"], strict=True)
            self._parts.insert_many([{"_id": key, "bytes": piece} for key, piece in pieces])
            row = {
                "_id": _key(pack),
                "entry": pack.entry,
                "chunk": place(pack.stream, pack.chunk),
                "chunks": pack.chunks,
                "raw": pack.raw,
                "level": pack.level,
                "size": pack.size,
                "parts": parts.name,
                **counts,
            }
            self._packs.replace_one({"_id": row["_id"]}, row, upsert=True)
            self._known.note(pack, parts)

    @guarded
    def pack_with_entry(self, entry: int) -> PackRow | None:
        stream, number = entry >> SHIFT, entry & _NUMBER
        if (known := self._known.with_entry(stream, number)) is not None:
            return known
        condition = {"_id": {"$gt": f"{stream:08x}/", "$lt": f"{stream:08x}/{number + 1:08x}"}}
        rows = self._packs.find(condition).sort("_id", DESCENDING).limit(_CANDIDATES)
        packs = self._read(rows)
        if len(packs) == _CANDIDATES:
            packs += self.packs(stream)
        return next((p for p in packs if p.entry <= number < p.entry + p.entries), None)

    @guarded
    def pack_with_chunk(self, chunk: int) -> PackRow | None:
        stream, number = chunk >> SHIFT, chunk & _NUMBER
        if (known := self._known.with_chunk(stream, number)) is not None:
            return known
        condition = {"chunk": {"$gte": place(stream, 0), "$lte": chunk}, "chunks": {"$gt": 0}}
        order = [("chunk", DESCENDING), ("entry", DESCENDING)]
        packs = self._read(self._packs.find(condition).sort(order).limit(_CANDIDATES))
        if len(packs) == _CANDIDATES:
            packs += self.packs(stream)
        return next((p for p in packs if p.chunk <= number < p.chunk + p.chunks), None)

    @guarded
    def packs(self, stream: int) -> list[PackRow]:
        return self._read(self._packs.find(_all_of(stream)).sort("_id", ASCENDING))

    @guarded
    def tail(self, stream: int) -> list[PackRow]:
        sealed = {**_all_of(stream), "level": {"$gt": 0}}
        last = self._read(self._packs.find(sealed).sort("_id", DESCENDING).limit(1))
        if not last:
            return self.packs(stream)
        segment = last[0]
        after = {"_id": {"$gt": _key(segment), "$lt": f"{stream:08x}0"}}
        packs = self._read(self._packs.find(after).sort("_id", ASCENDING))
        # What a segment has replaced may still stand behind it.
        end = segment.entry + segment.entries
        return [segment, *(pack for pack in packs if pack.entry >= end)]

    @guarded
    def manifest(self, pack: PackRow) -> bytes | None:
        return self._bytes(pack, Parts.of_manifest)

    @guarded
    def data(self, pack: PackRow) -> bytes | None:
        return self._bytes(pack, Parts.of_data)

    def _bytes(self, pack: PackRow, keys: Callable[[Parts], list[str]]) -> bytes | None:
        known = self._known.parts(pack)
        if known is not None and (content := self._content(keys(known))) is not None:
            return content
        self._known.forget(pack.stream)
        row = self._packs.find_one({"_id": _key(pack)})
        if row is None or self._read([row]) != [pack]:
            return None
        return self._content(keys(_parts_of(row)))

    def _content(self, keys: Iterable[str]) -> bytes | None:
        pieces = []
        for key in keys:
            row = self._parts.find_one({"_id": key})
            if row is None:
                return None
            pieces.append(row["bytes"])
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def replace_packs(
        self, old: Sequence[PackRow], new: PackRow, manifest: bytes, data: bytes
    ) -> bool:
        keys = [_key(pack) for pack in old]
        with self._holding(sealing(new.stream)):
            between = {"_id": {"$gte": keys[0], "$lte": keys[-1]}}
            rows = list(self._packs.find(between).sort("_id", ASCENDING))
            present = dict(zip(self._read(rows), rows, strict=True))
            if not all(pack in present for pack in old):
                return False
            self._leases.confirm()
            self._known.forget(new.stream)
            self.add_pack(new, manifest, data)
            self._remove(
                [key for key in keys if key != _key(new)],
                [_parts_of(present[pack]) for pack in old],
            )
            return True

    def remove_pack(self, pack: PackRow) -> None:
        with self.writing():
            self._known.forget(pack.stream)
            row = self._packs.find_one({"_id": _key(pack)})
            if row is not None:
                self._remove([row["_id"]], [_parts_of(row)])

    def _remove(self, packs: Sequence[str], parts: Iterable[Parts]) -> None:
        if packs:
            self._packs.bulk_write([DeleteOne({"_id": key}) for key in sorted(packs)])
        keys = [key for each in parts for key in (*each.of_manifest(), *each.of_data())]
        self._delete(self._parts, keys)

    def _read(self, rows: Iterable[_Row]) -> list[PackRow]:
        packs = []
        for row in rows:
            stream, entry, entries = (int(number, 16) for number in row["_id"].split("/"))
            pack = PackRow(
                stream=stream,
                entry=entry,
                entries=entries,
                chunk=row["chunk"] & _NUMBER,
                chunks=row["chunks"],
                raw=row["raw"],
                level=row["level"],
                size=row["size"],
            )
            self._known.note(pack, _parts_of(row))
            packs.append(pack)
        return packs


def _remember(known: OrderedDict[_K, _V], key: _K, value: _V) -> None:
    # Threads that read do so at the same time; each step leaves the whole as it should be.
    known[key] = value
    if len(known) > _REMEMBERED:
        known.popitem(last=False)


def _key(pack: PackRow) -> str:
    return f"{pack.stream:08x}/{pack.entry:08x}/{pack.entries:08x}"


def _all_of(stream: int) -> _Row:
    """Return the condition for the keys that begin with a stream's number."""
    return {"_id": {"$gt": f"{stream:08x}/", "$lt": f"{stream:08x}0"}}  # "0" comes after "/"


def _pieces(content: bytes) -> list[bytes]:
    return [content[start : start + _PIECE] for start in range(0, len(content), _PIECE)]


def _parts_of(row: _Row) -> Parts:
    return Parts(row["parts"], row["m"], row["d"])
