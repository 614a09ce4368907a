"""Examining an archive: everything is read, every version is rebuilt; and its numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice, pairwise
from operator import itemgetter

import numpy as np

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.blocks import Outline
from mmcrawl.archive.format.cutting import are_blocks_of, outline_of
from mmcrawl.archive.format.facts import as_version, cut_by, encoding_of
from mmcrawl.archive.format.manifest import Entry, Manifest, Run
from mmcrawl.archive.format.reading import GoneError, Reader, live_entry, named
from mmcrawl.archive.model import ArchiveStats, CheckReport, Fault, HostStats, as_text
from mmcrawl.archive.purging import remove_dead
from mmcrawl.archive.rows import CHUNK_DIGEST, SHIFT, PackRow, VersionRow, place
from mmcrawl.errors import StoreError

_NUMBER = (1 << SHIFT) - 1
_SORTED = 200_000  # chunks of the index that are held in memory at once
_MERGED = 200_000  # numbers that are sorted into those that are known at once


class Checker:
    """One examination; nothing that was read before is trusted."""

    def __init__(self, backend: Backend, *, repair: bool) -> None:
        self._backend = backend
        self._repair = repair
        self._reader = Reader(backend)
        self._faults: list[Fault] = []
        self._damaged: list[int] = []  # places of chunks
        self._unknown: list[tuple[PackRow, list[tuple[bytes, int]]]] = []
        self._packs = self._chunks = self._versions = self._indexed = 0
        self._replaced = self._dead = self._removed = 0

    def report(self) -> CheckReport:
        """Examine everything."""
        self._faults += [Fault(problem) for problem in self._backend.problems()]
        for stream in self._backend.streams():
            self._check_stream(stream)
        self._check_unknown()
        self._check_heads()
        counts = self._backend.counts()
        if self._versions != counts["versions"]:
            self._check_rows()
        if self._indexed != counts["chunks"] or self._damaged:
            self._check_index()
        if self._repair and self._dead and all(fault.repaired for fault in self._faults):
            remove_dead(self._backend, Reader(self._backend))
            self._removed += self._dead
        return CheckReport(
            urls=counts["urls"],
            versions=counts["versions"],
            packs=self._packs,
            chunks=self._chunks,
            faults=tuple(self._faults),
            leftovers=self._replaced + self._dead - self._removed,
            removed=self._removed,
        )

    def _check_stream(self, stream: int) -> None:
        """Examine the packs of a stream; one that another has replaced was left behind."""
        end = 0
        packs = self._backend.packs(stream)
        for pack in sorted(packs, key=lambda pack: (pack.entry, -pack.entries)):
            if pack.entry + pack.entries <= end:
                self._replaced += 1
                if self._repair:
                    self._backend.remove_pack(pack)
                    self._removed += 1
                continue
            end = pack.entry + pack.entries
            self._packs += 1
            self._chunks += pack.chunks
            try:
                self._check_pack(pack)
            except GoneError:
                continue  # another process has replaced it meanwhile, after examining it
            except StoreError as error:
                self._faults.append(Fault(f"{named(pack)} is damaged: {error}"))

    def _check_pack(self, pack: PackRow) -> None:
        manifest = self._reader.manifest(pack)
        strange = self._strange_chunks(pack, manifest)
        touched = [
            self._check_entry(pack, index, entry) for index, entry in enumerate(manifest.entries())
        ]
        if not strange:
            return
        if all(touched):
            self._unknown.append((pack, strange))
        else:
            self._damaged += [at for _, at in strange]
            chunks = ", ".join(str(at & _NUMBER) for _, at in strange[:10])
            self._faults.append(Fault(f"{named(pack)} is damaged: chunks {chunks}"))

    def _strange_chunks(self, pack: PackRow, manifest: Manifest) -> list[tuple[bytes, int]]:
        """Return digests and places of the chunks that the index does not know."""
        first = place(pack.stream, pack.chunk)
        try:
            content = self._reader.content(pack)
        except StoreError as error:
            self._faults.append(Fault(f"{named(pack)} is damaged: {error}"))
            self._damaged += range(first, first + pack.chunks)
            return []
        digests = [
            sha256(content[start:end]).digest()[:CHUNK_DIGEST] if end > start else b""
            for start, end in pairwise(manifest.offsets)
        ]
        known = self._backend.find_chunks([digest for digest in digests if digest])
        found = [(digest, first + n) for n, digest in enumerate(digests) if digest]
        self._indexed += sum(known.get(digest) == at for digest, at in found)
        return [(digest, at) for digest, at in found if digest not in known]

    def _check_unknown(self) -> None:
        """Find what versions are made of and the index does not know.

        What no version needs belongs to a writer that died before it had told the index.
        """
        unknown = sorted(at for _, chunks in self._unknown for _, at in chunks)
        needed = self._needed(unknown) if unknown else set()
        for pack, chunks in self._unknown:
            lost = [(digest, at) for digest, at in chunks if at in needed]
            if lost:
                self._note_chunks(pack, lost)

    def _needed(self, places: Sequence[int]) -> set[int]:
        """Return those of some chunks, in order, that a version is made of."""
        needed: set[int] = set()
        for stream in self._backend.streams():
            for pack in self._backend.packs(stream):
                with suppress(StoreError):  # a fault already, or being replaced
                    for index, entry in enumerate(self._reader.manifest(pack).entries()):
                        if live_entry(self._backend, pack, index, entry):
                            needed.update(_within(places, entry.runs))
        return needed

    def _note_chunks(self, pack: PackRow, chunks: Sequence[tuple[bytes, int]]) -> None:
        if self._repair:
            self._backend.add_chunks(chunks)
            self._indexed += len(chunks)
        what = f"{named(pack)} has {len(chunks)} chunks that the index does not know"
        self._faults.append(Fault(what, repaired=self._repair))

    def _check_entry(self, pack: PackRow, index: int, entry: Entry) -> bool:
        """Rebuild a version; return whether it is whole."""
        row = live_entry(self._backend, pack, index, entry)
        if row is None:
            self._dead += entry.number > 0
            return True
        self._versions += 1
        try:
            body = self._reader.body(entry.runs)
        except (StoreError, GoneError) as error:
            self._blame(row, f"it cannot be rebuilt: {error}")
            return False
        if sha256(body).digest() != row.digest or len(body) != row.size:
            self._blame(row, "its bytes are not those that were stored")
            return False
        if (entry.time, entry.status) != (row.time, row.status):
            self._blame(row, "its time or status is not what was stored")
        if entry.columns is not None and not are_blocks_of(entry.columns, body, encoding_of(entry)):
            self._blame(row, "its blocks are not those of its bytes")
        return True

    def _blame(self, row: VersionRow, what: str) -> None:
        url = self._backend.url_by_id(row.url)
        name = url.url if url is not None else f"URL {row.url}"
        self._faults.append(Fault(f"version {row.number} of {name}: {what}", name, row.number))

    def _check_heads(self) -> None:
        for url in self._backend.urls():
            for visit in self._backend.visits(url.id):
                row = self._backend.version(url.id, visit.number) if visit.head else None
                try:
                    if row is not None:
                        as_version(url.url, row, self._reader.entry(row), visit.head)
                except StoreError as error:
                    when = as_text(visit.time)
                    what = f"headers of {url.url} at {when} cannot be read: {error}"
                    self._faults.append(Fault(what, url.url, visit.number))

    def _check_rows(self) -> None:
        """Find the versions whose entry was not met."""
        for url in self._backend.urls():
            for row in self._backend.versions(url.id):
                try:
                    self._reader.entry(row)
                except StoreError as error:
                    self._blame(row, f"it cannot be rebuilt: {error}")

    def _check_index(self) -> None:
        """Find digests that lead to bytes of another digest, or to damaged ones."""
        damaged = set(self._damaged)
        chunks = self._backend.chunks()
        wrong: list[bytes] = []
        while some := list(islice(chunks, _SORTED)):
            # In the order of places: each pack is decoded once for all of its chunks.
            for digest, at in sorted(some, key=itemgetter(1)):
                if at in damaged or self._digest_at(at) != digest:
                    wrong.append(digest)
        if wrong:
            if self._repair:
                self._backend.remove_chunks(wrong)
            what = f"the index has {len(wrong)} chunks that are not where it says, or damaged"
            self._faults.append(Fault(what, repaired=self._repair))

    def _digest_at(self, at: int) -> bytes:
        try:
            return sha256(self._reader.body([(at, 1)])).digest()[:CHUNK_DIGEST]
        except (StoreError, GoneError):
            return b""


def _within(places: Sequence[int], runs: Iterable[Run]) -> Iterator[int]:
    """Yield those of some places, in order, that are in a run."""
    for start, count in runs:
        yield from places[bisect_left(places, start) : bisect_left(places, start + count)]


def stats_of(backend: Backend, reader: Reader) -> ArchiveStats:
    """Count what there is; reads every manifest, but no page.

    Raises:
        StoreError: a pack is damaged; the message names it.
    """
    counts = backend.counts()
    hosts = {name: HostStats(*numbers) for name, numbers in backend.totals().items()}
    blocks, layouts = _Distinct(), _Distinct()
    uncut = raw = 0
    for stream in backend.streams():
        for pack in backend.packs(stream):
            raw += pack.raw
            try:
                manifest = reader.manifest(pack)
                for outline in _outlines(reader, manifest):
                    blocks.add(map(_key, outline.marks, outline.sizes))
                    layouts.add([int.from_bytes(outline.layout, "big")])
            except GoneError:
                continue  # being replaced now; its blocks are few
            except StoreError as error:
                raise StoreError(
                    f"{named(pack)} is damaged ({error}); check the archive"
                ) from error
            uncut += sum(bool(cut_by(entry)[0]) for entry in manifest.uncut())
    return ArchiveStats(
        urls=counts["urls"],
        versions=counts["versions"],
        visits=counts["versions"] + counts["visits"],
        blocks=blocks.count,
        distinct_blocks=blocks.distinct,
        layouts=layouts.count,
        distinct_layouts=layouts.distinct,
        uncut=uncut,
        chunks=counts["chunks"],
        raw_bytes=sum(host.raw_bytes for host in hosts.values()),
        chunk_bytes=raw,
        stored_bytes=backend.size(),
        hosts=hosts,
    )


def _outlines(reader: Reader, manifest: Manifest) -> Iterator[Outline]:
    outlines = (outline_of(reader, entry) for entry in manifest.entries())
    return (outline for outline in outlines if outline is not None)


def _key(mark: bytes, size: int) -> int:
    return int.from_bytes(mark, "big") << 32 | size


class _Distinct:
    """Counts numbers below 2^64, and how many different ones there are: 8 bytes for each of these.

    Attributes:
        count: Of all.
    """

    def __init__(self) -> None:
        self.count = 0
        self._known = np.empty(0, np.uint64)
        self._waiting: list[int] = []

    def add(self, numbers: Iterable[int]) -> None:
        """Count more."""
        before = len(self._waiting)
        self._waiting += numbers
        self.count += len(self._waiting) - before
        if len(self._waiting) > max(_MERGED, len(self._known) // 4):
            self._merge()

    @property
    def distinct(self) -> int:
        """How many different ones."""
        self._merge()
        return len(self._known)

    def _merge(self) -> None:
        self._known = np.union1d(self._known, np.array(self._waiting, np.uint64))
        self._waiting = []
