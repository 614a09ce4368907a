"""What it would take and gain to seal an archive, or to compress it anew at another level."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from mmcrawl.archive.format.frames import compressed
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.index import Segment

_SAMPLE = 12  # segments
_LARGEST = 4 << 20  # bytes of each that are compressed


@dataclass(frozen=True, slots=True)
class RepackEstimate:
    """What compressing would take and gain."""

    before: int  # bytes of the segments that would be compressed
    after: int  # of what is made of them
    seconds: float  # of one core


def estimate(reader: Reader, segments: Sequence[Segment], level: int) -> RepackEstimate:
    """Return what it would take and gain to compress segments, by the begin of some of them."""
    some = sorted(segments, key=lambda segment: segment.raw)[
        -1 :: -max(1, len(segments) // _SAMPLE)
    ]
    raw, old, new, seconds = 0, 0, 0, 0.0
    for segment in some:
        content = reader.content(segment, min(segment.raw, _LARGEST))[:_LARGEST]
        began = time.process_time()
        raw += len(content)
        new += len(compressed(content, level))
        seconds += time.process_time() - began
        old += len(compressed(content, max(1, segment.level)))
    before = sum(segment.size for segment in segments)
    share = sum(segment.raw for segment in segments) / raw if raw else 0.0
    return RepackEstimate(before, round(before * new / old) if old else before, seconds * share)
