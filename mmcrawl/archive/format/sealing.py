"""Sealing: merges the small segments at the end of a stream into a solid one.

A new version is written at once and cheaply, as a small segment compressed alone, without reading
older ones. When the tail of a stream has grown, it is merged with the last segment that is not yet
full, unless that is many times as large. Versions of a page then share one window of the
compressor. Merging runs outside a transaction: every version of the new segment is rebuilt and
compared with its digest before the new segment replaces the old ones.

A segment is one frame of up to 32 MB. On front pages, frames of 1 MB take 1.3 to 1.5 times as many
bytes if each uses the first one as dictionary, and 3 to 9 times if compressed alone. The first half
of a stream's first full segment is the dictionary of all later ones, which saves 1 (news), 7 (JSON)
and 38 % (XML of 103 pages); that segment has no dictionary itself, so a read decodes at most two
segments. Before something in it is purged, the segments that use it are rewritten without it. Level
12 takes 8 % more bytes than level 19 and a fifteenth of its time; `archive pack` uses 19.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256

from mmcrawl.archive.format.columns import Like, decompressed
from mmcrawl.archive.format.cutting import cut_entries
from mmcrawl.archive.format.head import About, Entry, Head, packed, read_head
from mmcrawl.archive.format.reading import GoneError, Reader
from mmcrawl.archive.index import Index, Packed, Segment
from mmcrawl.errors import StoreError

logger = logging.getLogger(__name__)

LARGEST_SEGMENT = 32 << 20
"""Bytes that segments are put together up to."""

CLOSED = 28 << 20
"""Bytes from which on a segment is full: closed, never compressed again by itself."""

TAIL = 16 << 20
"""Bytes that a stream grows by before its tail is sealed."""

TAILS = 32 << 20
"""Bytes of all tails from which on the largest are sealed: a crawl of many hosts has many."""

TAIL_LEVEL = 3
SEALED_LEVEL = 12
HEAD_LEVEL = 19
_IN_TAIL = "level", "=", 0
_WORTH_IT = 32  # a segment is compressed again with a tail that is at least this part of it
LONGEST_END = 2.0  # seconds of closing after which no more is begun, but left for the next time


def is_closed(segment: Segment) -> bool:
    """Return whether a segment is full."""
    return segment.level > 0 and segment.raw >= CLOSED


class Sealer:
    """Seals the tails of streams, one thread at a time.

    Who stores the page that makes a tail large waits for it, two seconds or so. It makes the
    archive smaller, and what cannot be sealed is as safe.
    """

    def __init__(self, index: Index, reader: Reader) -> None:
        self._index = index
        self._reader = reader
        self._are_new = False  # segments, so that the store may have room to give back
        self._tails: Counter[int] = Counter()  # bytes by which tails have grown
        self._has_grown = False

    def grown(self, raw: Mapping[int, int]) -> None:
        """Record the bytes that streams have grown by, and seal what is large.

        Not to be called while the index is being written to: others would wait for that.
        """
        self._has_grown = self._has_grown or bool(raw)
        self._tails.update({stream: more for stream, more in raw.items() if more})
        for stream in raw:
            if self._tails[stream] >= TAIL:
                self._seal_quietly(stream)
        if self._tails.total() >= TAILS:
            for stream, _ in self._tails.most_common():
                if self._tails.total() > TAILS // 2:
                    self._seal_quietly(stream)

    def finish(self) -> None:
        """Seal what there is in a few seconds, and give room back."""
        end = time.monotonic() + LONGEST_END
        # Those of a process that was killed are sealed by the next that stores something.
        largest = [stream for stream, _ in self._tails.most_common()]
        wanted = (
            dict.fromkeys([*largest, *self._index.streams(_IN_TAIL)]) if self._has_grown else {}
        )
        left = 0
        for stream in wanted:
            if time.monotonic() > end:
                left += 1
            else:
                self._seal_quietly(stream, ending=True)
        if left:
            logger.info(
                "The pages of %d hosts are compressed when the archive is closed the next time, or"
                " by `scrapy archive seal`; they are safe already",
                left,
            )
        if self._are_new:
            try:
                self._index.store.compact()
            except StoreError as error:
                logger.warning("The archive was not made smaller: %s", error)

    # -- sealing ------------------------------------------------------------------------------

    def seal_all(self, level: int) -> None:
        """Recompress every segment of another level, cut all pages; a StoreError if some failed."""
        failed = None
        for stream in self._index.streams():
            try:
                self.seal(stream, level, whole=True, ending=True)
                for segment in self._segments(stream):
                    entries = cut_entries(self._index, self._reader, segment)
                    if entries is not None or segment.level != level:
                        self._put([segment], level, self._base_for(segment), entries=entries)
            except GoneError:
                continue  # another process seals the same stream
            except StoreError as error:
                failed = error
        if failed is not None:
            raise failed

    def seal(
        self, stream: int, level: int = SEALED_LEVEL, *, whole: bool = False, ending: bool = False
    ) -> None:
        """Seal the tail of a stream, if it has one; if that fails, nothing is lost.

        Args:
            whole: Whether a tail of any size is merged with a segment that is not full.
            ending: Whether what is not full gets its dictionary, too, which takes time each time.
        """
        with suppress(GoneError):  # another process seals the same stream
            for segments in _batches(self._segments(stream), whole=whole):
                raw = sum(segment.raw for segment in segments)
                base = self._base_for(segments[0]) if ending or raw >= CLOSED else None
                self._put(segments, level, base)

    def _segments(self, stream: int) -> list[Segment]:
        return self._index.segments([stream]).get(stream, [])

    def _base_for(self, segment: Segment) -> Segment | None:
        """Return the dictionary for a segment: the first segment of its stream that can be one."""
        for one in self._segments(segment.stream):
            if one.first >= segment.first:
                break
            if is_closed(one) and self._reader.head(one).about.base is None:
                return one
        return None

    def _seal_quietly(self, stream: int, *, ending: bool = False) -> None:
        """Seal; what cannot be sealed stays as it is, and is safe."""
        del self._tails[stream]  # if it fails, it is tried again when as much has come
        try:
            self.seal(stream, ending=ending)
        except StoreError as error:
            logger.warning("A tail of the archive was not sealed: %s", error)
        except Exception:
            logger.exception("A tail of the archive was not sealed")

    def _put(
        self,
        segments: Sequence[Segment],
        level: int,
        base: Segment | None,
        *,
        entries: Sequence[Entry] | None = None,
    ) -> None:
        """Put one segment in place of some, with other entries if given, of the same bodies."""
        found = entries or [
            entry for segment in segments for entry in self._reader.head(segment).entries()
        ]
        made = rewritten(self._reader, segments, found, level, base=base)
        self._index.replace(segments, made, base=base)
        self._reader.forget(segments[0].stream)
        self._are_new = True


def _bodies(
    reader: Reader, segments: Sequence[Segment], entries: Sequence[Entry]
) -> Iterator[memoryview]:
    """Yield the bodies of the entries of segments, unchecked; only versions have one."""
    waiting = iter(entries)
    for segment in segments:
        head = reader.head(segment)
        content = memoryview(reader.content(segment))
        for index, entry in zip(range(len(head)), waiting, strict=False):
            start, end = head.span(index, entry)
            yield content[start:end] if entry.is_version else content[:0]


def rewritten(
    reader: Reader,
    segments: Sequence[Segment],
    entries: Sequence[Entry],
    level: int,
    *,
    base: Segment | None,
) -> Packed:
    """Return a segment that is to replace others in order, proved by its digests.

    Args:
        entries: What it has: theirs, or others with the same bodies, or none where one is purged.
        base: Its dictionary, None for none.

    Raises:
        StoreError: a body is not that which was stored.
    """
    heads = [reader.head(segment) for segment in segments]
    urls = {number: url for head in heads for number, url in head.about.urls.items()}
    about = heads[0].about
    first = base.first if base is not None else None
    like = reader.dictionary(base)
    about = About(about.stream, about.number, about.first, level, urls, first)
    bodies = [*_bodies(reader, segments, entries)]
    made = packed(about, entries, bodies, HEAD_LEVEL, level or TAIL_LEVEL, like=like)
    _prove(made, segments[0], like)
    return made


def _prove(made: Packed, old: Segment, like: Like) -> None:
    """Rebuild every version from what is about to be written."""
    segment, frame, data = made
    head: Head = read_head(frame)
    content = memoryview(decompressed(data, segment.raw, like=like) if segment.raw else b"")
    for index, entry in enumerate(head.entries()):
        start, end = head.span(index, entry)
        if entry.is_version and sha256(content[start:end]).digest() != entry.digest:
            raise StoreError(
                f"{old.label} is damaged: the bytes of version {entry.number} of"
                f" {head.about.urls[entry.url]} are not those that were stored; check the archive"
            )


def _batches(segments: Sequence[Segment], *, whole: bool) -> Iterator[list[Segment]]:
    """Yield the segments to be joined: those of the tail, and what they are as large as.

    A number that was reserved by a process that died leaves a gap, which ends a segment. `whole`
    takes in the last one before the tail however small that is.
    """
    run: list[Segment] = []
    for segment in segments:
        if run and run[-1].end != segment.first:
            yield from _cut_up(run, whole=whole)
            run = []
        run.append(segment)
    yield from _cut_up(run, whole=whole)


def _cut_up(run: Sequence[Segment], *, whole: bool) -> Iterator[list[Segment]]:
    first = next((n for n, segment in enumerate(run) if not segment.level), len(run))
    if first == len(run):
        return
    raw = sum(segment.raw for segment in run[first:])
    while first and not is_closed(run[first - 1]):
        if not whole and raw * _WORTH_IT < run[first - 1].raw:
            break
        first -= 1
        raw += run[first].raw
    batch: list[Segment] = []
    raw = 0
    for segment in run[first:]:
        if batch and raw + segment.raw > LARGEST_SEGMENT:
            yield batch
            batch, raw = [], 0
        batch.append(segment)
        raw += segment.raw
    if any(not segment.level for segment in batch):
        yield batch
