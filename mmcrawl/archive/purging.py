"""Removing versions for good.

Chunks keep their places for ever: what nothing refers to any more is left out of its pack, and its
number stands for no bytes. So nothing that stays has to be written differently.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.frames import compressed
from mmcrawl.archive.format.manifest import Entry, Run, pack_manifest, runs_of
from mmcrawl.archive.format.reading import Reader, live_entry
from mmcrawl.archive.format.sealing import TAIL_LEVEL
from mmcrawl.archive.format.segments import MANIFEST_LEVEL
from mmcrawl.archive.model import Purged
from mmcrawl.archive.rows import CHUNK_DIGEST, SHIFT, PackRow, UrlRow, place
from mmcrawl.archive.timeline import Seen, line_of

_NUMBER = (1 << SHIFT) - 1
_BLANK = Entry(0, 0, 0.0, 0, b"", ())

_LIVE, _INDEXED = 1, 2


def purge(backend: Backend, urls: Iterable[UrlRow], before: float | None) -> Purged:
    """Remove versions of some URLs; all of them, or those replaced before a time.

    Raises:
        StoreError: a pack is damaged, so that it cannot be told what may go; nothing is removed.
    """
    size = backend.size()
    with backend.sole():
        leaving = [_leaving(backend, url, before) for url in urls]
        numbers = {(each.url.id, number) for each in leaving for number in each.numbers}
        sweep = _Sweep(backend, Reader(backend), numbers) if numbers else None
        for each in leaving:
            # Visits first, so that none is ever left without its version.
            backend.remove_visits(each.url.id, each.times)
            backend.remove_versions(each.url.id, each.numbers)
            if each.all:
                backend.remove_url(each.url.id)
        if sweep is not None:
            sweep.remove()
    backend.compact()
    visits = sum(len(each.times) for each in leaving) + len(numbers)
    return Purged(len(numbers), visits, max(0, size - backend.size()))


def remove_dead(backend: Backend, reader: Reader) -> None:
    """Remove entries that are no version's, and chunks that no version is made of.

    Raises:
        StoreError: a pack is damaged, so that it cannot be told what may go; nothing is removed.
    """
    with backend.sole():
        _Sweep(backend, reader, frozenset()).remove()


@dataclass(frozen=True, slots=True)
class _Leaving:
    """What a purge takes from a URL.

    Attributes:
        url: Its row.
        numbers: Of versions.
        times: Of visits that found one of these.
        all: Whether nothing is left.
    """

    url: UrlRow
    numbers: list[int]
    times: list[float]
    all: bool


def _leaving(backend: Backend, url: UrlRow, before: float | None) -> _Leaving:
    versions, visits = backend.versions(url.id), backend.visits(url.id)
    kept = _still_seen(line_of(versions, visits), before) if before is not None else set()
    numbers = [version.number for version in versions if version.number not in kept]
    times = [visit.time for visit in visits if visit.number not in kept]
    return _Leaving(url, numbers, times, not kept)


def _still_seen(line: Sequence[Seen], before: float) -> set[int]:
    """Return the numbers of the versions that were seen last at a time, and of those seen later."""
    first = bisect_right(line, before, key=lambda seen: seen.time)
    return {seen.version.number for seen in line[max(0, first - 1) :]}


class _Sweep:
    """What is dead, or will be when some versions are gone; found without changing anything.

    All that removing it will read is read first: a store without transactions could not take back
    what was removed before damage is met.

    Args:
        backend, reader: Of the archive.
        leaving: URL and number of versions that will be gone.

    Raises:
        StoreError: a pack is damaged.
    """

    def __init__(self, backend: Backend, reader: Reader, leaving: Set[tuple[int, int]]) -> None:
        self._backend = backend
        self._reader = reader
        self._leaving = leaving
        # Of each stream a byte for each entry and each chunk, 0 for what is dead.
        self._entries: defaultdict[int, bytearray] = defaultdict(bytearray)
        self._chunks: defaultdict[int, bytearray] = defaultdict(bytearray)
        self._mark_live()
        self._dead = list(self._dead_digests())
        self._moved = list(self._stored_twice()) if self._dead else []
        # A pack is written before those that it is compressed with, which stand before it.
        self._packs = sorted(
            filter(self._is_to_change, self._all_packs()),
            key=lambda pack: place(pack.stream, pack.chunk),
            reverse=True,
        )

    def remove(self) -> None:
        if self._dead:
            self._backend.remove_chunks(self._dead)
            self._backend.add_chunks(self._moved)
        for pack in self._packs:
            self._thin_out(pack)

    def _all_packs(self) -> Iterator[PackRow]:
        for stream in self._backend.streams():
            yield from self._backend.packs(stream)

    def _mark_live(self) -> None:
        for pack in self._all_packs():
            for index, entry in enumerate(self._reader.manifest(pack).entries()):
                row = live_entry(self._backend, pack, index, entry)
                if row is not None and (row.url, row.number) not in self._leaving:
                    _mark(self._entries[pack.stream], pack.entry + index, 1)
                    for start, count in entry.runs:
                        _mark(self._chunks[start >> SHIFT], start & _NUMBER, count)

    def _dead_digests(self) -> Iterator[bytes]:
        for digest, at in self._backend.chunks():
            marks, number = self._chunks[at >> SHIFT], at & _NUMBER
            if number < len(marks) and marks[number]:
                marks[number] = _INDEXED
            else:
                yield digest

    def _stored_twice(self) -> Iterator[tuple[bytes, int]]:
        """Yield what the index knew at another place, which will be gone."""
        for stream, marks in self._chunks.items():
            number = marks.find(_LIVE)
            while number >= 0:
                at = place(stream, number)
                yield sha256(self._reader.body([(at, 1)])).digest()[:CHUNK_DIGEST], at
                number = marks.find(_LIVE, number + 1)

    def _is_to_change(self, pack: PackRow) -> bool:
        """Return whether something of a pack is dead; what stays of it can be read then."""
        entries, kept = self._kept(pack)
        raw = sum(end - start for start, end in kept)
        manifest = self._reader.manifest(pack)
        if raw == pack.raw and entries == manifest.entries() and self._stays(manifest.like):
            return False
        if raw:
            self._reader.content(pack)
        return True

    def _stays(self, runs: Iterable[Run]) -> bool:
        """Return whether no chunk of some runs is dead."""
        for start, count in runs:
            first = start & _NUMBER
            marks = self._chunks[start >> SHIFT][first : first + count]
            if len(marks) < count or not all(marks):
                return False
        return True

    def _living(self, runs: Iterable[Run]) -> Iterator[int]:
        """Yield the places of the chunks of some runs that are not dead."""
        for start, count in runs:
            first = start & _NUMBER
            marks = self._chunks[start >> SHIFT][first : first + count]
            yield from (start + index for index, mark in enumerate(marks) if mark)

    def _kept(self, pack: PackRow) -> tuple[list[Entry], list[tuple[int, int]]]:
        """Return the entries of a pack, dead ones blank, and its chunks, dead ones empty."""
        manifest = self._reader.manifest(pack)
        live, chunks = self._entries[pack.stream], self._chunks[pack.stream]
        entries = [
            entry if any(live[number : number + 1]) else _BLANK
            for number, entry in enumerate(manifest.entries(), pack.entry)
        ]
        kept = [
            (start, end) if any(chunks[number : number + 1]) else (start, start)
            for number, (start, end) in enumerate(pairwise(manifest.offsets), pack.chunk)
        ]
        return entries, kept

    def _thin_out(self, pack: PackRow) -> None:
        """Write a pack without what is dead; not at all if nothing is left."""
        entries, kept = self._kept(pack)
        raw = sum(end - start for start, end in kept)
        if not raw and all(entry is _BLANK for entry in entries):
            self._backend.remove_pack(pack)
            return
        content = self._reader.content(pack)
        level = pack.level or TAIL_LEVEL
        runs = runs_of(self._living(self._reader.manifest(pack).like))
        data = compressed(
            b"".join(content[start:end] for start, end in kept), level, like=self._reader.body(runs)
        )
        sizes = [end - start for start, end in kept]
        written = pack_manifest(entries, sizes, MANIFEST_LEVEL, runs)
        new = replace(pack, raw=raw, size=len(written) + len(data))
        self._backend.replace_packs([pack], new, written, data)


def _mark(marks: bytearray, first: int, count: int) -> None:
    end = first + count
    marks.extend(bytes(max(0, end - len(marks))))
    marks[first:end] = bytes([_LIVE]) * count
