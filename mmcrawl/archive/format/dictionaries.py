"""What a segment is compressed with, as a dictionary: chunks before it that it repeats.

A page that is visited again after the segment of its host was closed repeats the version before;
the next segment of a stream repeats the one before it. A dictionary is named by chunks, which keep
their places for ever, and stands before the segment that needs it: in the same stream, or in one
that was begun earlier. So no pack ever comes to need itself.

A segment is read after the packs of its dictionary, and these after those of theirs. So the nearest
segment is not always taken: one that needs fewer others is, unless it saves much less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.frames import compressed
from mmcrawl.archive.format.manifest import Entry, Run
from mmcrawl.archive.format.reading import Reader
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
