"""Packs that were met, so that the server is not asked again for each chunk of a page.

What is known of a pack may be out of date: another process has put a segment in its place. That is
found out when its bytes are asked for; what is known of its stream is forgotten then, and after
:data:`KEPT` seconds in any case.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right, insort
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

from mmcrawl.archive.rows import PackRow

KEPT = 60.0
_STREAMS = 200
_PACKS = 2_000  # of a stream


class Parts(NamedTuple):
    """Where the bytes of a pack are, and in how many pieces its manifest and data."""

    name: str
    m: int
    d: int

    def of_manifest(self) -> list[str]:
        """Return the keys of the manifest's pieces."""
        return [f"{self.name}/m{n}" for n in range(self.m)]

    def of_data(self) -> list[str]:
        """Return the keys of the data's pieces."""
        return [f"{self.name}/d{n}" for n in range(self.d)]


@dataclass(slots=True)
class _Stream:
    """Packs of a stream by entry, which is the order of their chunks as well."""

    since: float
    packs: list[PackRow] = field(default_factory=list)
    parts: dict[PackRow, Parts] = field(default_factory=dict)


class KnownPacks:
    """What is known; any thread may ask and tell."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: OrderedDict[int, _Stream] = OrderedDict()

    def note(self, pack: PackRow, parts: Parts) -> None:
        """Take note of a pack that stands."""
        with self._lock:
            stream = self._stream(pack.stream)
            if stream is None or len(stream.packs) >= _PACKS:
                stream = self._streams[pack.stream] = _Stream(time.monotonic())
                if len(self._streams) > _STREAMS:
                    self._streams.popitem(last=False)
            if pack not in stream.parts:
                insort(stream.packs, pack, key=lambda known: known.entry)
            stream.parts[pack] = parts

    def parts(self, pack: PackRow) -> Parts | None:
        """Return where the bytes of a pack are."""
        with self._lock:
            stream = self._stream(pack.stream)
            return stream.parts.get(pack) if stream is not None else None

    def with_entry(self, stream: int, entry: int) -> PackRow | None:
        """Return a known pack that holds an entry."""
        with self._lock:
            packs = self._packs(stream)
            index = bisect_right(packs, entry, key=lambda pack: pack.entry) - 1
            pack = packs[index] if index >= 0 else None
            return pack if pack is not None and entry < pack.entry + pack.entries else None

    def with_chunk(self, stream: int, chunk: int) -> PackRow | None:
        """Return a known pack that holds a chunk."""
        with self._lock:
            packs = self._packs(stream)
            index = bisect_right(packs, chunk, key=lambda pack: pack.chunk) - 1
            pack = packs[index] if index >= 0 else None
            return pack if pack is not None and chunk < pack.chunk + pack.chunks else None

    def forget(self, stream: int | None = None) -> None:
        """Forget what is known of a stream, or all."""
        with self._lock:
            if stream is None:
                self._streams.clear()
            else:
                self._streams.pop(stream, None)

    def _packs(self, stream: int) -> list[PackRow]:
        known = self._stream(stream)
        return known.packs if known is not None else []

    def _stream(self, number: int) -> _Stream | None:
        known = self._streams.get(number)
        if known is None or time.monotonic() - known.since > KEPT:
            self._streams.pop(number, None)
            return None
        self._streams.move_to_end(number)
        return known
