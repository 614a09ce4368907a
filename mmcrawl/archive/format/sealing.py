"""Sealing: the tail of a stream, small packs compressed alone, becomes part of a solid segment.

A version is written at once and cheaply, without reading what was stored before. When the tail of
a stream has grown, it is compressed again together with the open segment, the last one that is not
full yet; there, the versions of a page stand in one window of the compressor. The work is done
outside of a transaction, every version of the new segment is rebuilt and compared with its digest,
and only then it takes the place of the old packs.

Segments are compressed as small as they can be when they are full, and when the archive is closed;
those that grow are compressed faster.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.manifest import Entry
from mmcrawl.archive.format.reading import GoneError, Reader
from mmcrawl.archive.format.segments import SegmentWriter
from mmcrawl.archive.rows import SEGMENT, PackRow, is_closed
from mmcrawl.errors import StoreError

logger = logging.getLogger(__name__)

LARGEST_SEGMENT = (16 << 20) - 1
"""Bytes that packs are put together up to: what is larger needs tables of twice the size."""

TAIL = 8 << 20
"""Bytes of a stream's tail from which on it is sealed."""

TAILS = 32 << 20
"""Bytes of all tails from which on the largest are sealed: a crawl of many hosts has many."""

TAIL_LEVEL = 3
HASTY_LEVEL = 12
"""Of segments that are open while a crawl goes on: they will soon be compressed again."""

SEALED_LEVEL = 19
_WORTH_IT = 4  # a smaller tail is sealed if it is at least this part of the open segment
_STREAMS = 100_000  # whose tails are kept count of
_ALL = -1  # in place of a stream: the largest tails of all
_ASKED_FROM = 4  # what tails were before is asked for when they have grown by this part of TAIL
PATIENCE = 60.0  # seconds that who stores waits for sealing
LONGEST_END = 120.0  # seconds of closing, after which the rest is compressed in haste
_LOOK = 1.0  # seconds between two looks whether the thread still lives
_MUCH = 32 << 20  # bytes to compress at the end of which a user is told


Cutter = Callable[[Backend, Reader, PackRow], list[Entry] | None]
"""Gives the entries of a pack with blocks, None if all have theirs."""


@dataclass(frozen=True, slots=True)
class _Tail:
    """Bytes that a tail has, and whether those from before were asked for."""

    raw: int
    asked: bool


_NO_TAIL = _Tail(0, False)


class Sealer:
    """Seals the tails of streams in a thread of its own.

    Nobody waits for that thread longer than it lives, and who stores waits a while at most: sealing
    makes the archive smaller, and what is not sealed is as safe.
    """

    def __init__(self, backend: Backend, reader: Reader, cut: Cutter) -> None:
        self._backend = backend
        self._reader = reader
        self._segments = SegmentWriter(backend, reader)
        self._cut = cut
        self._changed = threading.Condition()  # of what follows; no store is asked inside of it
        self._tails: OrderedDict[int, _Tail] = OrderedDict()
        self._waiting: OrderedDict[int, None] = OrderedDict()
        self._running: int | None = None
        self._thread: threading.Thread | None = None
        self._is_over = False
        self._total = 0  # bytes of all tails
        self._most = TAILS
        self._hasty: set[int] = set()  # streams whose open segment was compressed in haste

    def grown(self, raw: Mapping[int, int]) -> None:
        """Take note of the bytes that streams have grown by; waits if sealing does not keep up.

        Not to be called while the backend is being written to: sealing would wait for that.
        """
        for stream, more in raw.items():
            tail = self._grown(stream, more)
            if tail >= TAIL:
                self._ask(stream)
            if tail >= 3 * TAIL and not self._wait_while(partial(self._has, stream), PATIENCE):
                logger.warning("The archive is written faster than it can be sealed")
        if self._total >= self._most:
            self._ask(_ALL)

    def _note(self, stream: int, tail: _Tail | None) -> None:
        """Keep what is known of a tail, None for nothing; to be called inside of the lock."""
        self._total -= self._tails.pop(stream, _NO_TAIL).raw
        if tail is not None:
            self._total += tail.raw
            self._tails[stream] = tail
        if len(self._tails) > _STREAMS:
            self._total -= self._tails.popitem(last=False)[1].raw

    def _grown(self, stream: int, more: int) -> int:
        """Return the bytes of a tail. Small ones are not asked for: they may be greater."""
        with self._changed:
            tail = self._tails.get(stream, _NO_TAIL)
        tail = replace(tail, raw=tail.raw + more)
        if not tail.asked and tail.raw * _ASKED_FROM >= TAIL:
            packs = self._backend.tail(stream)
            tail = _Tail(sum(pack.raw for pack in packs if not pack.sealed), True)
        with self._changed:
            self._note(stream, tail)
        return tail.raw

    def finish(self) -> None:
        """Seal what is worth it, give space back, and end."""
        self.wait()
        mine = self._hasty.union(stream for stream, tail in self._tails.items() if tail.raw)
        # Those of a process that was killed are sealed by the next that stores something.
        others = set(self._backend.tails()) if mine else set()
        wanted = [
            stream
            for stream in sorted(mine | others)
            if stream in self._hasty or self._is_worth_it(stream)
        ]
        raw = sum(pack.raw for stream in wanted for pack in self._backend.tail(stream))
        if raw >= _MUCH:
            logger.info(
                "The archive is made smaller: %d MB of pages are compressed. They are safe already;"
                " whoever stops this loses nothing but room",
                raw >> 20,
            )
        end = time.monotonic() + LONGEST_END
        for stream in wanted:
            self._seal_quietly(stream, hasty=time.monotonic() > end)
        if self._segments.are_new:
            try:
                self._backend.compact()
            except StoreError as error:
                logger.warning("The archive was not made smaller: %s", error)

    def break_off(self) -> None:
        """End, in a second or so: the next that stores something seals what is left."""
        with self._changed:
            self._is_over = True
            self._waiting.clear()
        self._wait_while(lambda: self._running is not None, 1.0)

    def wait(self) -> None:
        """Wait until nothing is being sealed."""
        self._wait_while(lambda: self._running is not None or bool(self._waiting))

    # -- the thread ---------------------------------------------------------------------------

    def _ask(self, stream: int) -> None:
        """Have a stream sealed, by a thread that ends when there is nothing left to do."""
        with self._changed:
            if self._has(stream):
                return
            self._waiting[stream] = None
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._work, name="archive-sealing", daemon=True
                )
                self._thread.start()

    def _has(self, stream: int) -> bool:
        return stream == self._running or stream in self._waiting

    def _work(self) -> None:
        while True:
            with self._changed:
                self._running = None
                self._changed.notify_all()
                if not self._waiting:
                    self._thread = None
                    return
                self._running, _ = self._waiting.popitem(last=False)
            if self._running == _ALL:
                self._seal_largest()
            else:
                self._seal_quietly(self._running, hasty=True)

    def _wait_while(self, is_so: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait until something is no longer so; return whether that came to be in time."""
        end = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            while is_so():
                if self._thread is None or not self._thread.is_alive():
                    self._waiting.clear()
                    self._running = None
                    return True
                if end is not None and time.monotonic() >= end:
                    return False
                self._changed.wait(_LOOK)
        return True

    def _seal_largest(self) -> None:
        """Seal tails, the largest first, until half is left; what is not worth it waits."""
        with self._changed:
            largest = sorted(self._tails, key=lambda stream: -self._tails[stream].raw)
        try:
            for stream in largest:
                if self._is_over or self._total <= TAILS // 2:
                    break
                if self._is_worth_it(stream):
                    self._seal_quietly(stream, hasty=True)
        except StoreError as error:
            if not self._is_over:  # else the archive was closed meanwhile
                logger.warning("Tails of the archive were not sealed: %s", error)
        self._most = max(TAILS, self._total + TAILS // 2)

    # -- sealing ------------------------------------------------------------------------------

    def seal_all(self) -> None:
        """Seal every tail.

        Raises:
            StoreError: some could not be sealed; the others are.
        """
        self.wait()
        failed = None
        for stream in self._backend.streams():
            try:
                self.seal(stream)
            except StoreError as error:
                failed = error
        if failed is not None:
            raise failed

    def seal(self, stream: int, *, hasty: bool = False) -> None:
        """Seal the tail of a stream, if it has one.

        Args:
            stream: Its number.
            hasty: Whether what is not full will be compressed again before long.

        Raises:
            StoreError: a pack is damaged, or the store fails; nothing is lost.
        """
        try:
            for packs in _portions(self._backend.tail(stream)):
                full = sum(pack.raw for pack in packs) >= SEGMENT
                level = HASTY_LEVEL if hasty and not full else SEALED_LEVEL
                if any(pack.level < level for pack in packs):
                    self._segments.put(packs, level, hasty=level == HASTY_LEVEL)
        except GoneError:
            return  # another process seals the same stream
        with self._changed:
            (self._hasty.add if hasty else self._hasty.discard)(stream)
            self._note(stream, None)

    def recompress(self, level: int) -> None:
        """Compress every segment anew."""
        for stream in self._backend.streams():
            for pack in self._backend.packs(stream):
                if pack.level != level:
                    self._segments.put([pack], level)

    def cut_all(self) -> None:
        """Keep the blocks of all versions whose pages were not cut yet."""
        for stream in self._backend.streams():
            for pack in self._backend.packs(stream):
                with suppress(GoneError):  # another process packs the same stream
                    entries = self._cut(self._backend, self._reader, pack)
                    if entries is not None:
                        self._segments.keep_entries(pack, entries)

    def _seal_quietly(self, stream: int, *, hasty: bool = False) -> None:
        """Seal; what cannot be sealed stays as it is, and is safe."""
        try:
            self.seal(stream, hasty=hasty)
        except StoreError as error:
            if not self._is_over:
                logger.warning("A tail of the archive was not sealed: %s", error)
        except Exception:
            if not self._is_over:
                logger.exception("A tail of the archive was not sealed")
        else:
            return
        with self._changed:
            self._note(stream, _Tail(0, True))  # tried again when as much has come

    def _is_worth_it(self, stream: int) -> bool:
        packs = self._backend.tail(stream)
        tail = sum(pack.raw for pack in packs if not pack.sealed)
        segment = sum(pack.raw for pack in packs if pack.sealed and not is_closed(pack))
        return tail * _WORTH_IT >= segment


def _portions(tail: Sequence[PackRow]) -> Iterator[list[PackRow]]:
    """Yield the packs to be joined: the open segment and what follows it without a gap.

    A number that was reserved by a process that died leaves a gap, which ends a segment.
    """
    portion: list[PackRow] = []
    for pack in tail:
        if is_closed(pack):
            continue
        before = portion[-1] if portion else None
        adjacent = before is not None and (
            before.entry + before.entries == pack.entry
            and before.chunk + before.chunks == pack.chunk
        )
        raw = sum(p.raw for p in portion)
        if portion and (not adjacent or raw + pack.raw > LARGEST_SEGMENT):
            yield portion
            portion = []
        portion.append(pack)
    yield portion
