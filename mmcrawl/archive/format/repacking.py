"""What it would take and gain to compress an archive anew at another level."""

from __future__ import annotations

import time
from dataclasses import dataclass

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.frames import compressed
from mmcrawl.archive.format.reading import Reader

_SAMPLE = 12  # packs
_LARGEST = 4 << 20  # bytes of each that are compressed


@dataclass(frozen=True, slots=True)
class RepackEstimate:
    """What compressing all anew would take and gain.

    Attributes:
        before, after: Bytes of the packs that would be compressed anew, now and then.
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
    before = sum(pack.size for pack in packs)
    share = sum(pack.raw for pack in packs) / raw if raw else 0.0
    return RepackEstimate(before, round(before * new / old) if old else before, seconds * share)
