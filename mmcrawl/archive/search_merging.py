"""Keeping segments few, and what is in them alive.

Segments of about one size are put together eight at a time, so that each occurrence of a word is
written again no more than log₈ n times (the logarithmic method: Bentley & Saxe 1980, "Decomposable
searching problems I", section 3). Large ones stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress

import numpy as np

from mmcrawl.archive.search_codec import Ints, as_ints
from mmcrawl.archive.search_index import (
    Content,
    Documents,
    IndexStore,
    Segment,
    joined_documents,
    objects_of,
    read_documents,
)
from mmcrawl.archive.search_joining import joined, resolved
from mmcrawl.archive.search_postings import Inverted, merged
from mmcrawl.archive.search_sightings import read_sightings
from mmcrawl.archive.search_view import all_of, read_all_texts, read_inverted

__all__ = ["cleaned", "next_merge", "written_together"]

_TOGETHER = 8
_WORTH_IT = 4  # of larger ones, so many together
_POSITIONS = 3_000_000  # a segment is not made larger than this
_SIGHTINGS = 8 << 20  # bytes, neither
_SMALLEST = 4_096  # bytes: all below are of one size

_EMPTY = Inverted([], *(as_ints([]),) * 4)


def next_merge(segments: Sequence[Segment]) -> list[Segment]:
    """Return neighbours that should be put together now, an empty list if none should be."""
    tiers = [_tier(segment) for segment in segments]
    for start, tier in enumerate(tiers):
        end = start + 1
        while end < len(segments) and tiers[end] <= tier:
            end += 1
        if tiers[start:end].count(tier) < _TOGETHER:
            continue
        group = list(segments[start:end])
        while not _fits(group):
            group.pop()
        if len(group) >= _WORTH_IT:
            return group
    return []


def _tier(segment: Segment) -> int:
    size, tier = max(segment.bytes, _SMALLEST), 0
    while size >= _SMALLEST * _TOGETHER:
        size //= _TOGETHER
        tier += 1
    return tier


def _fits(segments: Sequence[Segment]) -> bool:
    return (
        sum(segment.positions for segment in segments) <= _POSITIONS
        and sum(segment.sightings for segment in segments) <= _SIGHTINGS
    )


def written_together(
    store: IndexStore, segments: Sequence[Segment], *, from_the_first: bool
) -> tuple[Segment, dict[str, bytes]]:
    """Return one segment in place of several neighbours.

    Args:
        store: Where they are.
        segments: In their order.
        from_the_first: Whether no segment is before them.
    """
    inverted = [found for part in segments if (found := read_inverted(store, part)) is not None]
    keys = [f"{segment.name}/sightings" for segment in segments]
    objects = all_of(store, keys)
    return objects_of(
        Content(
            merged(inverted, as_ints([])) if inverted else _EMPTY,
            joined_documents([_documents(store, segment) for segment in segments]),
            [text for segment in segments for text in read_all_texts(store, segment)],
            joined([read_sightings(objects[key]) for key in keys], from_the_first=from_the_first),
        )
    )


def cleaned(
    store: IndexStore, segments: Sequence[Segment], dead: Ints
) -> Iterator[tuple[Segment, Segment, dict[str, bytes]]]:
    """Yield the segments that hold what is void, each with one in its place and its objects.

    Args:
        store: Where they are.
        segments: All of them.
        dead: Ids of documents that are on no page, ascending.
    """
    keys = [f"{segment.name}/sightings" for segment in segments]
    objects = all_of(store, keys)
    parts = [read_sightings(objects.pop(key)) for key in keys]
    for segment, before, after in zip(segments, parts, resolved(parts), strict=True):
        documents = _documents(store, segment)
        alive = ~np.isin(documents.id, dead)
        if after is before and alive.all():
            continue
        inverted = read_inverted(store, segment) or _EMPTY
        new = merged([inverted], dead) if len(inverted.terms) else _EMPTY
        texts = list(compress(read_all_texts(store, segment), alive.tolist()))
        yield segment, *objects_of(Content(new, documents.only(alive), texts, after))


def _documents(store: IndexStore, segment: Segment) -> Documents:
    key = f"{segment.name}/documents"
    return read_documents(all_of(store, [key])[key])
