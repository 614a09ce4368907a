"""Segments: packs that follow each other, put together, proved and written in place of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.frames import compressed, is_frame_of, parts_of
from mmcrawl.archive.format.manifest import Entry, Run, pack_manifest, read_manifest
from mmcrawl.archive.format.reading import GoneError, Reader, live_entry, named
from mmcrawl.archive.rows import PackRow, is_closed, place
from mmcrawl.errors import StoreError

_SIZE = 16 << 20  # bytes of a dictionary: a segment
_DEPTH = 1  # packs to be read before a segment of a dictionary can be; a page may need one more
_LEVEL = 12  # lower ones find a fifth of what repeats in a dictionary of this size
_WEIGHT = 1.1
"""By which a segment must be smaller for each pack that is to be read before it.

From 1 to 1.15, the segments of four series (two of news, terms, a blog) take 0.98 to 1.02 times as
many bytes, and 2.2 to 1.6 packs are decoded for a page.
"""
MANIFEST_LEVEL = 19


def dictionary_of(
    backend: Backend, reader: Reader, first: PackRow, entries: Sequence[Entry], content: bytearray
) -> tuple[Run, ...]:
    """Return the chunks that a segment is best compressed with, () for none.

    Args:
        backend, reader: Of the archive.
        first: The first of the packs that become the segment.
        entries, content: Of the segment.
    """
    if not content:
        return ()
    found = [*_segments_before(backend, reader, first)]
    best: tuple[Run, ...] = ()
    least = float(len(compressed(content, _LEVEL)))
    if not found:
        with suppress(StoreError):
            found = [_version_before(backend, reader, first, entries)]
    for runs in found:
        with suppress(StoreError):  # a damaged one is none
            like = reader.body(runs)
            size = len(compressed(content, _LEVEL, like=like)) if like else least
            weighed = size * _WEIGHT ** _packs_before(reader, runs)
            if weighed < least:
                best, least = runs, weighed
    return best


def _segments_before(backend: Backend, reader: Reader, first: PackRow) -> Iterator[tuple[Run, ...]]:
    """Yield the last segments of the stream that need few others, each less than those before."""
    least = _DEPTH + 1
    for pack in reversed(backend.packs(first.stream)):
        if pack.chunk + pack.chunks <= first.chunk and pack.chunks and is_closed(pack):
            try:
                depth = depth_of(reader, pack)
            except StoreError:
                continue
            if depth < least:
                yield ((place(pack.stream, pack.chunk), pack.chunks),)
                least = depth
            if not least:
                return


def _version_before(
    backend: Backend, reader: Reader, first: PackRow, entries: Sequence[Entry]
) -> tuple[Run, ...]:
    """Return what the version before the first of a segment is made of, as far as it may be."""
    entry = next((entry for entry in entries if entry.number), None)
    row = backend.version(entry.url, entry.number - 1) if entry is not None else None
    runs: list[Run] = []
    left = _SIZE
    for run in reader.entry(row).runs if row is not None else ():
        if sum(run) > place(first.stream, first.chunk):
            continue
        for pack, at, count in reader.spans([run]):
            offsets = reader.manifest(pack).offsets
            size = offsets[at + count] - offsets[at]
            if size <= left and depth_of(reader, pack) <= _DEPTH + 1:
                runs.append((place(pack.stream, pack.chunk + at), count))
                left -= size
    return tuple(runs)


def depth_of(reader: Reader, pack: PackRow) -> int:
    """Return how many packs are read one after the other before a pack can be."""
    return _packs_before(reader, reader.manifest(pack).like)


def _packs_before(reader: Reader, runs: Iterable[Run]) -> int:
    """Return the same of what is compressed with some chunks."""
    needed = {pack for pack, _, _ in reader.spans(runs)}
    return max((1 + depth_of(reader, pack) for pack in needed), default=0)


@dataclass(frozen=True, slots=True)
class _Joined:
    """Packs put together."""

    entries: list[Entry]
    sizes: list[int]
    content: bytearray


class SegmentWriter:
    """Writes segments.

    Args:
        backend, reader: Of the archive.

    Attributes:
        are_new: Whether any were written, so that the store may have space to give back.
    """

    def __init__(self, backend: Backend, reader: Reader) -> None:
        self._backend = backend
        self._reader = reader
        self.are_new = False

    def put(self, packs: Sequence[PackRow], level: int, *, hasty: bool = False) -> None:
        """Put one segment in place of packs that follow each other.

        Args:
            packs: In order.
            level: Of zstd.
            hasty: Whether a dictionary is not worth choosing: it will be compressed again soon.
        """
        joined = self._joined(packs)
        first = packs[0]
        runs: tuple[Run, ...] = ()
        if first.sealed and 2 * first.raw >= len(joined.content):
            runs = self._reader.manifest(first).like  # chosen by most of what the segment has
        if not runs and not hasty:
            runs = dictionary_of(self._backend, self._reader, first, joined.entries, joined.content)
        needed = {pack for pack, _, _ in self._reader.spans(runs)}
        like = self._reader.body(runs)
        manifest = pack_manifest(joined.entries, joined.sizes, MANIFEST_LEVEL, runs)
        data = compressed(joined.content, level, like=like)
        segment = PackRow(
            stream=first.stream,
            entry=first.entry,
            entries=len(joined.entries),
            chunk=first.chunk,
            chunks=len(joined.sizes),
            raw=len(joined.content),
            level=level,
            size=len(manifest) + len(data),
        )
        self._verify(segment, manifest, data, joined.content)
        self._backend.replace_packs(packs, segment, manifest, data, needed)
        self.are_new = True

    def _joined(self, packs: Sequence[PackRow]) -> _Joined:
        entries: list[Entry] = []
        sizes: list[int] = []
        content = bytearray(sum(pack.raw for pack in packs))
        position = 0
        for pack in packs:
            manifest = self._reader.manifest(pack)
            entries += manifest.entries()
            sizes += [end - start for start, end in pairwise(manifest.offsets)]
            if pack.raw:
                frame = self._backend.data(pack)
                if frame is None:
                    raise GoneError
                for part in parts_of(frame, self._reader.like(pack)):
                    content[position : position + len(part)] = part
                    position += len(part)
        if position != sum(pack.raw for pack in packs):
            raise StoreError(f"{named(packs[0])} or one behind it is damaged (its size)")
        return _Joined(entries, sizes, content)

    def _verify(
        self, segment: PackRow, manifest_frame: bytes, data: bytes, joined: bytearray
    ) -> None:
        """Rebuild every version of a segment from what is about to be written."""
        manifest = read_manifest(manifest_frame)
        like = self._reader.body(manifest.like)
        if segment.raw and not is_frame_of(data, joined, like):
            raise StoreError(f"{named(segment)} was compressed wrongly; its packs stay as they are")
        content = memoryview(joined)
        offsets = manifest.offsets
        for index, entry in enumerate(manifest.entries()):
            version = live_entry(self._backend, segment, index, entry)
            if version is None:
                continue
            pieces: list[bytes | memoryview] = []
            for start, count in entry.runs:
                first = start - place(segment.stream, segment.chunk)
                if first >= 0 and first + count <= segment.chunks:
                    pieces.append(content[offsets[first] : offsets[first + count]])
                else:
                    pieces.append(self._reader.body([(start, count)]))
            if sha256(b"".join(pieces)).digest() != version.digest:
                raise StoreError(
                    f"archive {self._backend.name} is damaged: {named(segment)}, version"
                    f" {version.number} of URL {version.url}; check it"
                )

    def keep_entries(self, pack: PackRow, entries: Sequence[Entry]) -> None:
        """Write a pack again with other entries and the same chunks."""
        before = self._reader.manifest(pack)
        sizes = [end - start for start, end in pairwise(before.offsets)]
        manifest = pack_manifest(entries, sizes, MANIFEST_LEVEL, before.like)
        data = self._backend.data(pack)
        if data is not None:
            new = replace(pack, size=len(manifest) + len(data))
            self._backend.replace_packs([pack], new, manifest, data)
