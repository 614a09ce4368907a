"""What it would take and gain to seal an archive, or to compress it anew at another level."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.frames import compressed
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.format.sealing import SEALED_LEVEL
from mmcrawl.archive.rows import PackRow, is_closed

_SAMPLE = 12  # packs
_LARGEST = 4 << 20  # bytes of each that are compressed


@dataclass(frozen=True, slots=True)
class RepackEstimate:
    """What compressing would take and gain.

    Attributes:
        before, after: Bytes of the packs that would be compressed, now and then.
        seconds: Of one core.
    """

    before: int
    after: int
    seconds: float


def estimate(backend: Backend, level: int) -> RepackEstimate:
    """Return what it would take and gain, by the begin of some packs from all over.

    Args:
        backend: Of the archive.
        level: Of zstd.
    """
    packs = [
        pack
        for stream in backend.streams()
        for pack in backend.packs(stream)
        if pack.level != level and pack.raw
    ]
    reader = Reader(backend)
    raw, old, new, seconds = 0, 0, 0, 0.0
    packs.sort(key=lambda pack: pack.raw)
    for pack in packs[-1 :: -max(1, len(packs) // _SAMPLE)]:
        content = reader.content(pack, min(pack.raw, _LARGEST))[:_LARGEST]
        began = time.process_time()
        raw += len(content)
        new += len(compressed(content, level))
        seconds += time.process_time() - began
        old += len(compressed(content, max(1, pack.level)))
    return _of_all(packs, raw, old, new, seconds)


def sealing_estimate(backend: Backend) -> RepackEstimate:
    """Return what it would take and gain to seal all tails, by some of them.

    What a dictionary gains, and the cutting of pages, is not told.
    """
    tails = [_tail(backend, stream) for stream in backend.streams()]
    tails = sorted(filter(None, tails), key=lambda tail: sum(pack.raw for pack in tail))
    reader = Reader(backend)
    raw, old, new, seconds = 0, 0, 0, 0.0
    for tail in tails[-1 :: -max(1, len(tails) // _SAMPLE)]:
        content = bytearray()
        for pack in tail:
            if len(content) < _LARGEST:
                content += reader.content(pack)
                old += pack.size
        began = time.process_time()
        raw += len(content)
        new += len(compressed(content, SEALED_LEVEL))
        seconds += time.process_time() - began
    packs = [pack for tail in tails for pack in tail]
    return _of_all(packs, raw, old, new, seconds)


def _of_all(
    packs: Sequence[PackRow], raw: int, old: int, new: int, seconds: float
) -> RepackEstimate:
    """Return the estimate for packs by bytes of some of them: raw, compressed now, and then."""
    before = sum(pack.size for pack in packs)
    share = sum(pack.raw for pack in packs) / raw if raw else 0.0
    return RepackEstimate(before, round(before * new / old) if old else before, seconds * share)


def _tail(backend: Backend, stream: int) -> list[PackRow]:
    """Return the packs of a stream that sealing would compress; none if it would not."""
    packs = [pack for pack in backend.tail(stream) if not is_closed(pack) and pack.raw]
    return packs if any(pack.level < SEALED_LEVEL for pack in packs) else []
