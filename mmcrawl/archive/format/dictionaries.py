"""What a segment is compressed with, as a dictionary: chunks before it that it repeats.

A page that is visited again after the segment of its host was closed repeats the version before;
the next segment of a stream repeats the one before it. A dictionary is named by chunks, which keep
their places for ever, and stands before the segment that needs it: in the same stream, or in one
that was begun earlier. So no pack ever comes to need itself.

A segment is read after the packs of its dictionary, and these after those of theirs. To keep reads
short, the segments of a stream share the begin of one that has no dictionary itself, until that is
too old to be of use.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.frames import compressed
from mmcrawl.archive.format.manifest import Entry, Run
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.rows import PackRow, is_closed, place

_SIZE = 1 << 20  # bytes of a dictionary
_DEPTH = 1  # packs to be read before one of a dictionary can be
_LEAST_GAIN = 0.03  # of its bytes, for which a segment may need another
_LEVEL = 3  # quick, and enough to tell


def dictionary_of(
    backend: Backend, reader: Reader, first: PackRow, entries: Sequence[Entry], content: bytearray
) -> tuple[Run, ...]:
    """Return the chunks that a segment is better compressed with, () for none.

    Args:
        backend, reader: Of the archive.
        first: The first of the packs that become the segment.
        entries, content: Of the segment.
    """
    runs = _of_the_segment_before(backend, reader, first)
    runs = runs or _of_the_version_before(backend, reader, first, entries)
    if not runs or not content:
        return ()
    alone = len(compressed(content, _LEVEL))
    gained = alone - len(compressed(content, _LEVEL, like=reader.body(runs)))
    return runs if gained >= _LEAST_GAIN * alone else ()


def _of_the_segment_before(backend: Backend, reader: Reader, first: PackRow) -> tuple[Run, ...]:
    """Return the begin of the last segment of the stream that has no dictionary."""
    for pack in reversed(backend.packs(first.stream)):
        if pack.chunk + pack.chunks <= first.chunk and pack.chunks and is_closed(pack):
            manifest = reader.manifest(pack)
            if not manifest.like:
                count = max(1, bisect_right(manifest.offsets, _SIZE) - 1)
                return ((place(pack.stream, pack.chunk), count),)
    return ()


def _of_the_version_before(
    backend: Backend, reader: Reader, first: PackRow, entries: Sequence[Entry]
) -> tuple[Run, ...]:
    """Return what the version before the first of a segment is made of, as far as it may be."""
    entry = next((entry for entry in entries if entry.number), None)
    row = backend.version(entry.url, entry.number - 1) if entry is not None else None
    if row is None:
        return ()
    runs: list[Run] = []
    left = _SIZE
    for run in reader.entry(row).runs:
        if sum(run) > place(first.stream, first.chunk):
            continue
        for pack, at, count in reader.spans([run]):
            offsets = reader.manifest(pack).offsets
            left -= offsets[at + count] - offsets[at]
            if left < 0:
                return tuple(runs)
            if _depth(reader, pack) <= _DEPTH:
                runs.append((place(pack.stream, pack.chunk + at), count))
    return tuple(runs)


def _depth(reader: Reader, pack: PackRow) -> int:
    """Return how many packs are read one after the other before a pack can be."""
    needed = {of for of, _, _ in reader.spans(reader.manifest(pack).like)}
    return 1 + max(_depth(reader, each) for each in needed) if needed else 0
