"""Reads records and bodies, given their places in the archive."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from typing import Generic, TypeVar

from zstandard import ZstdCompressionDict

from mmcrawl.archive.format.columns import Like, decompressed, dictionary
from mmcrawl.archive.format.head import GONE, Entry, Head, read_head
from mmcrawl.archive.index import (
    NUMBERS,
    Index,
    Packed,
    Segment,
    VersionRow,
    VisitRow,
    place,
    stream_of,
)
from mmcrawl.errors import StoreError

_HEADS = 16 << 20  # bytes kept
_FRAMES = 64 << 20  # a segment, and another
_DICTIONARIES = 2  # kept
_DICTIONARY = 16 << 20  # all 32 MB of a segment save 4 % more, and take twice the time
_STREAMS = 1_000
_ATTEMPTS = 4

_K = TypeVar("_K")
_V = TypeVar("_V")
_R = TypeVar("_R")


class _Kept(Generic[_K, _V]):
    """A cache of what was used last, up to a weight."""

    def __init__(self, most: int, weight: Callable[[_V], int]) -> None:
        self._most = most
        self._weigh = weight
        self._weight = 0
        self._items: OrderedDict[_K, _V] = OrderedDict()

    def get(self, key: _K) -> _V | None:
        item = self._items.get(key)
        if item is not None:
            self._items.move_to_end(key)
        return item

    def put(self, key: _K, item: _V) -> None:
        self.drop(key)
        self._items[key] = item
        self._weight += self._weigh(item)
        while self._weight > self._most and len(self._items) > 1:
            self.drop(next(iter(self._items)))

    def drop(self, key: _K) -> None:
        if (item := self._items.pop(key, None)) is not None:
            self._weight -= self._weigh(item)


class GoneError(StoreError):
    """A segment was replaced by another while it was read: look it up again."""

    def __init__(self) -> None:
        super().__init__("a segment was replaced by another process; do it again")


class PurgedError(StoreError):
    """A record was purged."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a record of archive {name} was purged")


class Reader:
    """Finds records and bodies, and keeps what it decoded last. Any thread may ask; all that it
    returns is there and undamaged, else a StoreError tells.

    A segment never changes, and no other ever has its name: what was decoded stays true, also when
    another process puts a segment in its place.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._lock = threading.Lock()  # of what is kept; nobody waits for anything inside it
        self._segments: _Kept[int, list[Segment]] = _Kept(_STREAMS, lambda _: 1)
        self._heads: _Kept[str, Head] = _Kept(_HEADS, lambda head: head.weight)
        self._frames: _Kept[str, bytes] = _Kept(_FRAMES, len)
        self._dictionaries: _Kept[str, ZstdCompressionDict] = _Kept(_DICTIONARIES, lambda _: 1)

    # -- segments -----------------------------------------------------------------------------

    def note(self, written: Iterable[Packed]) -> None:
        """Record segments that were written at the ends of streams."""
        for segment, frame, _ in written:
            head = read_head(frame)  # what comes next is compared with these
            with self._lock:
                self._heads.put(segment.key, head)
                known = self._segments.get(segment.stream)
                if known is not None and known[-1].end <= segment.first:
                    known.append(segment)
                elif not segment.first:
                    self._segments.put(segment.stream, [segment])

    def forget(self, stream: int) -> None:
        """Look the segments of a stream up again."""
        with self._lock:
            self._segments.drop(stream)

    def segment_of(self, at: int) -> Segment:
        """Return the segment that a place is in; raises StoreError if there is none."""
        if (segment := self.segments_of([at]).get(at)) is None:
            raise StoreError(f"archive {self._index.name} is damaged: a record is missing")
        return segment

    def segments_of(self, places: Iterable[int]) -> dict[int, Segment]:
        """Return the segments that places are in; those that are in none are left out."""
        wanted = set(places)
        found = self._known(wanted)
        if left := {stream_of(at) for at in wanted - found.keys()}:
            for stream, segments in self._index.segments(left).items():
                with self._lock:
                    self._segments.put(stream, segments)
            found |= self._known(wanted - found.keys())
        return found

    def _known(self, places: Iterable[int]) -> dict[int, Segment]:
        found = {}
        with self._lock:
            for at in places:
                segments = self._segments.get(stream_of(at)) or []
                n = bisect_right(segments, at, key=lambda segment: segment.at) - 1
                if n >= 0 and segments[n].holds(at):
                    found[at] = segments[n]
        return found

    # -- heads and data -----------------------------------------------------------------------

    def head(self, segment: Segment) -> Head:
        """Return the head of a segment."""
        with self._lock:
            head = self._heads.get(segment.key)
        if head is None:
            frame = self._index.heads([segment]).get(segment.key)
            if frame is None:
                self.forget(segment.stream)
                raise GoneError
            head = self._read_head(segment, frame)
        told = head.about.number, head.about.first, len(head), head.raw
        if told != (segment.stream, segment.first, segment.entries, segment.raw):
            raise StoreError(f"{segment.label} is damaged: its head is another's")
        return head

    def _read_head(self, segment: Segment, frame: bytes) -> Head:
        try:
            head = read_head(frame)
        except StoreError as error:
            raise StoreError(f"{segment.label} is damaged: {error}") from error
        with self._lock:
            self._heads.put(segment.key, head)
        return head

    def fetch(self, places: Iterable[int]) -> None:
        """Read the heads of the segments that places are in at once: records are at hand then."""
        segments = {segment.key: segment for segment in self.segments_of(places).values()}
        with self._lock:
            missing = [one for key, one in segments.items() if self._heads.get(key) is None]
        for key, frame in self._index.heads(missing).items():
            with suppress(StoreError):  # reported to the caller that asks for one of its entries
                self._read_head(segments[key], frame)

    def held(self, places: Iterable[int]) -> dict[Segment, frozenset[int]]:
        """Return the segments that places are in, each with those that it holds."""
        found: defaultdict[Segment, set[int]] = defaultdict(set)
        for at, segment in self.segments_of(places).items():
            found[segment].add(at)
        return {segment: frozenset(some) for segment, some in found.items()}

    def base_of(self, segment: Segment) -> Segment | None:
        """Return the segment whose bodies are the dictionary of another's, None for none."""
        first = self.head(segment).about.base
        if first is None:
            return None
        base = self.segment_of(place(segment.stream, first))
        if self.head(base).about.base is not None:
            raise StoreError(f"{base.label} is damaged: it is no dictionary of another")
        return base

    def dictionary(self, base: Segment | None) -> Like:
        """Return what is the dictionary of the segments that have this base, b"" for none."""
        if base is None:
            return b""
        with self._lock:
            known = self._dictionaries.get(base.key)
        if known is None:
            content = memoryview(self.content(base, min(base.raw, _DICTIONARY)))
            known = dictionary(content[:_DICTIONARY])
            with self._lock:
                self._dictionaries.put(base.key, known)
        return known

    def content(self, segment: Segment, up_to: int | None = None) -> bytes:
        """Return the first bytes of a segment's bodies; a second read in it decodes all of them."""
        needed = segment.raw if up_to is None else up_to
        if not needed:
            return b""
        with self._lock:
            known = self._frames.get(segment.key)
        if known is not None and len(known) >= needed:
            return known
        like = self.dictionary(self.base_of(segment))
        frame = self._index.data(segment)
        if frame is None:
            self.forget(segment.stream)
            raise GoneError
        try:
            content = decompressed(frame, segment.raw, up_to=None if known else up_to, like=like)
        except StoreError:
            if not known or up_to is None:
                raise
            # Damaged behind that.
            content = decompressed(frame, segment.raw, up_to=up_to, like=like)
        with self._lock:
            self._frames.put(segment.key, content)
        return content

    # -- records ------------------------------------------------------------------------------

    def entry(self, row: VersionRow | VisitRow) -> Entry:
        """Return the record of a version or a visit."""
        return self._again_if_gone(lambda: self._found(row)[2])

    def _found(self, row: VersionRow | VisitRow) -> tuple[Segment, int, Entry]:
        segment = self.segment_of(row.at)
        index = row.at - segment.at
        entry = self.head(segment).entry(index)
        is_version = isinstance(row, VersionRow)
        number = row.number if isinstance(row, VersionRow) else row.version
        told = (entry.url, entry.number, entry.is_version, entry.is_visit)
        if told != (row.url, number, is_version, not is_version):
            self.forget(segment.stream)
            if entry.kind == GONE:
                raise PurgedError(self._index.name)
            raise StoreError(f"archive {self._index.name} is damaged: a record is another's")
        return segment, index, entry

    def read(self, row: VersionRow) -> tuple[Entry, bytes]:
        """Return the record and the body of a version."""

        def attempt() -> tuple[Entry, bytes]:
            segment, index, entry = self._found(row)
            return entry, self.body(segment, index, entry)

        return self._again_if_gone(attempt)

    def body(self, segment: Segment, index: int, entry: Entry) -> bytes:
        """Return the body of an entry; a StoreError if it has another digest."""
        start, end = self.head(segment).span(index, entry)
        body = self.content(segment, end)[start:end] if entry.size else b""
        if sha256(body).digest() != entry.digest:
            raise StoreError("its bytes are not those that were stored")
        return body

    def _again_if_gone(self, read: Callable[[], _R]) -> _R:
        """Read, and once more if another process has replaced a segment."""
        for _ in range(_ATTEMPTS):
            try:
                return read()
            except GoneError:
                continue
        raise StoreError(f"archive {self._index.name} is damaged: a segment cannot be found")


def live_versions(index: Index, segment: Segment, head: Head) -> dict[int, Entry]:
    """Return a segment's versions by index, less numbers that another process took first."""
    entries = {n: entry for n, entry in enumerate(head.entries()) if entry.is_version}
    keys = {n: entry.url << NUMBERS | entry.number for n, entry in entries.items()}
    places = {key: row.at for key, row in index.versions_by_key(keys.values()).items()}
    return {n: one for n, one in entries.items() if places.get(keys[n]) == segment.at + n}
