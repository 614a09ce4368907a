"""Where the chunks of a batch stand, and the packs that it writes: mostly one to a stream.

A chunk is recognised by its digest, wherever it was stored before or is about to be. What is known
stands at a *place*; what is new, at a number counted within the batch until numbers are reserved:
``~place(stream, n)``, which no place is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.frames import compressed
from mmcrawl.archive.format.manifest import Entry, pack_manifest, runs_of
from mmcrawl.archive.format.planning import NewVersion
from mmcrawl.archive.format.sealing import LARGEST_SEGMENT, TAIL_LEVEL
from mmcrawl.archive.rows import SEGMENT, SHIFT, PackRow, VersionRow, is_closed, place

FAN_OUT = 4
"""Segments that a version is read from; what stands in others is stored again."""

LARGEST_PACK = LARGEST_SEGMENT - SEGMENT
"""Bytes that versions share a pack up to: it fits behind every segment that is not full."""

_NUMBER = (1 << SHIFT) - 1

Packed = tuple[PackRow, bytes, bytes]
"""A pack, its manifest and its data."""

_Segment = tuple[int, int]
"""Stream and first entry; -1 for all that is to be the stream's next segment."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A version and where its chunks are; `new` of them came with it."""

    version: NewVersion
    places: list[int]
    new: list[bytes]


@dataclass(slots=True)
class _Tail:
    """What a stream gets: its versions, and how the new chunks are numbered."""

    placed: list[_Placed] = field(default_factory=list)
    numbers: dict[bytes, int] = field(default_factory=dict)


class Batch:
    """What is new in a batch.

    Args:
        backend: Asked once for all chunks.
        versions: In order, with the streams they go to.
    """

    def __init__(self, backend: Backend, versions: Sequence[tuple[NewVersion, int]]) -> None:
        self._backend = backend
        chunks = (digest for version, _ in versions for digest, _ in version.item.chunks)
        self._known = backend.find_chunks(list(dict.fromkeys(chunks)))
        packs = backend.packs_with_chunks(self._known.values()) if self._known else {}
        self._closed = {at: pack.entry for at, pack in packs.items() if is_closed(pack)}
        self._new: dict[bytes, int] = {}
        self._tails: defaultdict[int, _Tail] = defaultdict(_Tail)
        self._first: Mapping[int, tuple[int, int]] = {}
        for version, stream in versions:
            self._place(version, stream)

    def reserve(self) -> None:
        """Take the numbers that it needs."""
        wanted = {
            stream: (len(tail.placed), len(tail.numbers)) for stream, tail in self._tails.items()
        }
        self._first = self._backend.reserve(wanted)

    def packs(self) -> Iterator[Packed]:
        """Yield the packs; numbers must have been reserved."""
        for stream, tail in self._tails.items():
            entry, chunk = self._first[stream]
            for part in _parts(tail.placed):
                packed = self._packed(part, stream, entry, chunk)
                yield packed
                entry += packed[0].entries
                chunk += packed[0].chunks

    def chunks(self) -> Iterator[tuple[bytes, int]]:
        """Yield digests and places of the new chunks."""
        for stream, tail in self._tails.items():
            for digest, number in tail.numbers.items():
                yield digest, self._at(~place(stream, number))

    def versions(self) -> Iterator[tuple[NewVersion, VersionRow, Entry, Sequence[bytes]]]:
        """Yield the versions with their rows, their entries and the chunks that came with them."""
        for stream, tail in self._tails.items():
            first = place(stream, self._first[stream][0])
            for number, placed in enumerate(tail.placed):
                row = replace(placed.version.row, entry=first + number)
                yield placed.version, row, self._entry(placed), placed.new

    # -- placing ------------------------------------------------------------------------------

    def _place(self, version: NewVersion, stream: int) -> None:
        """Give places to the chunks of a version, new ones to those it is not to be read from."""
        tail = self._tails[stream]
        by_digest = dict(version.item.chunks)
        found = {
            digest: at for digest in by_digest if (at := self._find(digest, stream)) is not None
        }
        weight: Counter[_Segment] = Counter()
        for digest, at in found.items():
            weight[self._segment(at)] += len(by_digest[digest])
        del weight[stream, -1]
        read = {segment for segment, _ in weight.most_common(FAN_OUT)} | {(stream, -1)}
        places = {digest: at for digest, at in found.items() if self._segment(at) in read}
        new = []
        for digest, chunk in by_digest.items():
            if digest not in places:
                number = tail.numbers[digest] = len(tail.numbers)
                places[digest] = ~place(stream, number)
                self._new.setdefault(digest, places[digest])
                new.append(chunk)
        at_all = [places[digest] for digest, _ in version.item.chunks]
        tail.placed.append(_Placed(version, at_all, new))

    def _find(self, digest: bytes, stream: int) -> int | None:
        """Return where a chunk is, in the stream's own new ones if it is there."""
        number = self._tails[stream].numbers.get(digest)
        if number is not None:
            return ~place(stream, number)
        return self._known.get(digest, self._new.get(digest))

    def _segment(self, at: int) -> _Segment:
        if at < 0:
            return ~at >> SHIFT, -1
        return at >> SHIFT, self._closed.get(at, -1)

    def _at(self, at: int) -> int:
        """Return the place of what may have been given a number of the batch."""
        if at >= 0:
            return at
        stream, number = ~at >> SHIFT, ~at & _NUMBER
        return place(stream, self._first[stream][1] + number)

    # -- packing ------------------------------------------------------------------------------

    def _entry(self, placed: _Placed) -> Entry:
        version, row = placed.version, placed.version.row
        runs = tuple(runs_of(map(self._at, placed.places)))
        identity = row.url, row.number, row.time, row.status
        return Entry(*identity, version.facts, runs, version.columns)

    def _packed(self, part: Sequence[_Placed], stream: int, entry: int, chunk: int) -> Packed:
        chunks = [chunk for placed in part for chunk in placed.new]
        content = b"".join(chunks)
        entries = [self._entry(placed) for placed in part]
        manifest = pack_manifest(entries, [len(chunk) for chunk in chunks], TAIL_LEVEL)
        data = compressed(content, TAIL_LEVEL)
        pack = PackRow(
            stream=stream,
            entry=entry,
            entries=len(entries),
            chunk=chunk,
            chunks=len(chunks),
            raw=len(content),
            level=0,
            size=len(manifest) + len(data),
        )
        return pack, manifest, data


def _parts(placed: Sequence[_Placed]) -> Iterator[list[_Placed]]:
    """Yield the versions that share a pack."""
    part: list[_Placed] = []
    raw = 0
    for one in placed:
        size = sum(map(len, one.new))
        if part and raw + size > LARGEST_PACK:
            yield part
            part, raw = [], 0
        part.append(one)
        raw += size
    yield part
