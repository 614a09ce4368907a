"""The MongoDB collections of streams and packs.

* ``stream``: its number in hexadecimal; fields ``name`` (unique), ``claimed``: from which entry on
  the last claim is looked for.
* ``claim``: ``STREAM/ENTRY`` in hexadecimal, the first entry of some; fields ``entry`` and
  ``chunk``, the next ones after those that were taken with it. To reserve is to insert the claim
  that follows the last one.
* ``pack``: ``STREAM/ENTRY/ENTRIES``; fields of :class:`~mmcrawl.archive.rows.PackRow`, the place
  of the first chunk, the name of its parts (``parts``) and how many there are (``m``, ``d``), and
  a checksum (``sum``).
* ``part``: ``NAME/m0``, ``NAME/d0`` and so on: pieces of the manifest and of the data, at most 8 MB
  each. They are written before the pack that names them, and go after it.

Packs that are replaced go in ascending order. Those that still stand at any moment are the last
ones, so the pack that begins last at or before a number holds it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from bson import ObjectId
from pymongo import ASCENDING, DESCENDING, DeleteOne, ReplaceOne, UpdateOne

from mmcrawl.archive.common import PAGE, guarded
from mmcrawl.archive.mongodb.known import KnownPacks, Parts
from mmcrawl.archive.mongodb.leases import sealing
from mmcrawl.archive.mongodb.rows import seal_of
from mmcrawl.archive.mongodb.visits import VisitCollections
from mmcrawl.archive.rows import SHIFT, PackRow, place
from mmcrawl.errors import StoreError
from mmcrawl.stores.mongodb import change_all, insert_new

_NUMBER = (1 << SHIFT) - 1
_PIECE = 8 << 20
_ATTEMPTS = 1_000
_CANDIDATES = 4  # packs to look at for one that holds a number; the first does, mostly
_REMEMBERED = 10_000  # streams of which something is known without asking
_CLAIMS = 32  # entries from which on it is noted how far a stream is claimed

_K = TypeVar("_K")
_V = TypeVar("_V")
_Row = dict[str, Any]


class PackCollections(VisitCollections):
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

    def streams_named(self, names: Iterable[str]) -> dict[str, int]:
        with self.writing():
            wanted = set(names)
            known = {name: self._numbers[name] for name in wanted if name in self._numbers}
            new = sorted(wanted - set(known))
            for row in self._named(self._streams, "name", new):
                known[row["name"]] = int(row["_id"], 16)
            made = [{"name": name, "claimed": 0} for name in new if name not in known]
            for row in self._numbered(self._streams, "name", made):
                known[row["name"]] = int(row["_id"], 16)
                _remember(self._free, known[row["name"]], (0, 0))
            for name in new:
                _remember(self._numbers, name, known[name])
            return known

    @guarded
    def streams(self) -> list[int]:
        return [int(row["_id"], 16) for row in self._streams.find().sort("_id", ASCENDING)]

    def reserve(self, wanted: Mapping[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
        given: dict[int, tuple[int, int]] = {}
        with self.writing():
            for _ in range(_ATTEMPTS):
                left = [stream for stream in wanted if stream not in given]
                if not left:
                    return given
                free = self._after_last_claims(left)
                after = {
                    stream: (
                        free[stream][0] + wanted[stream][0],
                        free[stream][1] + wanted[stream][1],
                    )
                    for stream in left
                }
                claims = [
                    {
                        "_id": f"{stream:08x}/{free[stream][0]:08x}",
                        "entry": after[stream][0],
                        "chunk": after[stream][1],
                    }
                    for stream in left
                ]
                refused = insert_new(self._claims, claims)
                for n, stream in enumerate(left):
                    if n in refused:  # another process was faster
                        self._free.pop(stream, None)
                    else:
                        given[stream] = free[stream]
                        _remember(self._free, stream, after[stream])
        raise StoreError(f"archive {self.name} is written so much that no entry is free; try again")

    def _after_last_claims(self, streams: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Return the entry and the chunk behind what was claimed, by stream."""
        free = {stream: self._free[stream] for stream in streams if stream in self._free}
        keys = [f"{stream:016x}" for stream in streams if stream not in free]
        if not keys:
            return free
        rows = self._named(self._streams, "_id", keys)
        claimed = {int(row["_id"], 16): int(row.get("claimed", 0)) for row in rows}
        ranges = [(f"{s:08x}/{entry:08x}", f"{s:08x}0") for s, entry in claimed.items()]
        last = dict.fromkeys(claimed, (-1, 0, 0))
        for row in self._in_ranges(self._claims, ranges):
            stream, first = (int(number, 16) for number in row["_id"].split("/"))
            last[stream] = max(last[stream], (first, int(row["entry"]), int(row["chunk"])))
        self._note_claimed({s: at[0] for s, at in last.items() if at[0] >= claimed[s] + _CLAIMS})
        return free | {stream: (entry, chunk) for stream, (_, entry, chunk) in last.items()}

    def _note_claimed(self, claimed: Mapping[int, int]) -> None:
        updates = [
            UpdateOne({"_id": f"{stream:016x}"}, {"$max": {"claimed": entry}})
            for stream, entry in claimed.items()
        ]
        change_all(self._streams, updates)

    # -- packs --------------------------------------------------------------------------------

    def add_packs(self, packs: Sequence[tuple[PackRow, bytes, bytes]]) -> None:
        with self.writing():
            if not packs:
                return
            rows: list[_Row] = []
            named: dict[PackRow, Parts] = {}
            for pack, manifest, data in packs:
                m, d = _pieces(manifest), _pieces(data)
                parts = named[pack] = Parts(f"{_key(pack)}/{ObjectId()}", len(m), len(d))
                keys = [*parts.of_manifest(), *parts.of_data()]
                rows += [{"_id": k, "bytes": p} for k, p in zip(keys, m + d, strict=True)]
            self._parts.insert_many(rows, ordered=False)
            replacements = [
                ReplaceOne({"_id": _key(pack)}, _row(pack, parts), upsert=True)
                for pack, parts in named.items()
            ]
            change_all(self._packs, replacements)
            for pack, parts in named.items():
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
    def packs_with_entries(self, entries: Iterable[int]) -> dict[int, PackRow]:
        return self._held(entries, self._known.with_entry, self.pack_with_entry)

    @guarded
    def packs_with_chunks(self, chunks: Iterable[int]) -> dict[int, PackRow]:
        return self._held(chunks, self._known.with_chunk, self.pack_with_chunk)

    def _held(
        self,
        places: Iterable[int],
        known: Callable[[int, int], PackRow | None],
        find: Callable[[int], PackRow | None],
    ) -> dict[int, PackRow]:
        """Return packs by place: of streams of which not all is known, the last ones are read."""
        wanted = sorted(set(places))
        met = {at >> SHIFT for at in wanted if known(at >> SHIFT, at & _NUMBER) is None}
        if met:
            some = [_all_of(stream) for stream in sorted(met)]
            self._read(self._packs.find({"$or": some}).sort("_id", DESCENDING).limit(PAGE))
        found = ((at, known(at >> SHIFT, at & _NUMBER) or find(at)) for at in wanted)
        return {at: pack for at, pack in found if pack is not None}

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

    def tails(self) -> list[int]:
        return []  # there is no index of them, and other processes are at work on theirs

    @guarded
    def manifest(self, pack: PackRow) -> bytes | None:
        return self._bytes(pack, Parts.of_manifest)

    @guarded
    def manifests(self, packs: Sequence[PackRow]) -> dict[PackRow, bytes]:
        keys = {
            pack: parts.of_manifest()
            for pack in packs
            if (parts := self._known.parts(pack)) is not None
        }
        rows = self._named(self._parts, "_id", [key for some in keys.values() for key in some])
        pieces: dict[str, bytes] = {row["_id"]: row["bytes"] for row in rows}
        found = {}
        for pack in packs:
            if pack in keys and all(key in pieces for key in keys[pack]):
                found[pack] = b"".join(pieces[key] for key in keys[pack])
            elif (frame := self.manifest(pack)) is not None:
                found[pack] = frame
        return found

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
        self,
        old: Sequence[PackRow],
        new: PackRow,
        manifest: bytes,
        data: bytes,
        needed: Collection[PackRow] = (),
    ) -> bool:
        keys = [_key(pack) for pack in old]
        with self._holding(sealing(new.stream)):
            between = {"_id": {"$gte": keys[0], "$lte": keys[-1]}}
            rows = list(self._packs.find(between).sort("_id", ASCENDING))
            present = dict(zip(self._read(rows), rows, strict=True))
            if not all(pack in present for pack in old) or not self._are_there(needed):
                return False
            self._leases.confirm()
            self._known.forget(new.stream)
            self.add_packs([(new, manifest, data)])
            self._remove(
                [key for key in keys if key != _key(new)],
                [_parts_of(present[pack]) for pack in old],
            )
            return True

    def _are_there(self, packs: Collection[PackRow]) -> bool:
        rows = self._packs.find({"_id": {"$in": [_key(pack) for pack in packs]}}) if packs else ()
        return set(packs) == set(self._read(rows))

    def remove_pack(self, pack: PackRow) -> None:
        with self.writing():
            self._known.forget(pack.stream)
            row = self._packs.find_one({"_id": _key(pack)})
            if row is not None:
                self._remove([row["_id"]], [_parts_of(row)])

    def _remove(self, packs: Sequence[str], parts: Iterable[Parts]) -> None:
        change_all(self._packs, [DeleteOne({"_id": key}) for key in sorted(packs)])
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


def _row(pack: PackRow, parts: Parts) -> _Row:
    row: _Row = {
        "_id": _key(pack),
        "entry": pack.entry,
        "chunk": place(pack.stream, pack.chunk),
        "chunks": pack.chunks,
        "raw": pack.raw,
        "level": pack.level,
        "size": pack.size,
        "parts": parts.name,
        "m": parts.m,
        "d": parts.d,
    }
    return {**row, "sum": seal_of(row)}


def _pieces(content: bytes) -> list[bytes]:
    return [content[start : start + _PIECE] for start in range(0, len(content), _PIECE)]


def _parts_of(row: _Row) -> Parts:
    return Parts(row["parts"], row["m"], row["d"])
