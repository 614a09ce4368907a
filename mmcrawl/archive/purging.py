"""Removes versions for good.

Records keep their places for ever: a purged record becomes a blank in its segment and its bytes go,
so nothing that stays has to be renumbered. Segments are written before rows are removed: if the
process dies in between, a check finds rows whose records are blank and removes them. Segments that
are blank as a whole are removed last.
"""

from __future__ import annotations

import time as clock
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from mmcrawl.archive.format.head import GONE, Entry, Head, read_head
from mmcrawl.archive.format.reading import GoneError, Reader
from mmcrawl.archive.format.sealing import rewritten
from mmcrawl.archive.index import Index, Packed, Segment, UrlRow, VersionRow
from mmcrawl.archive.lookup import Seen, as_they_stand, line_of
from mmcrawl.archive.model import Purged
from mmcrawl.errors import StoreError

_PATIENCE = 90.0  # seconds for another process to replace segments, or to be taken for dead
_LOOK = 0.2  # seconds between two attempts


class _Leaving(NamedTuple):
    """What a purge takes from a URL."""

    url: UrlRow
    versions: list[VersionRow]
    visits: list[int]  # places of the visits that found one of these
    all: bool  # whether nothing is left


def purge(index: Index, reader: Reader, urls: Iterable[UrlRow], before: float | None) -> Purged:
    """Remove all versions of some URLs, or those replaced before a time; nothing if it fails."""
    size = index.store.size()
    with index.writing():
        leaving = [each for url in urls if (each := _leaving(index, url, before)).versions]
        gone = {row.at for each in leaving for row in each.versions}
        gone |= {at for each in leaving for at in each.visits}
        blank = forget_records(index, reader, gone, {each.url.id for each in leaving if each.all})
        for each in leaving:
            index.remove(each.url, each.versions, each.visits)
            if each.all:
                index.remove_url(each.url)
            else:
                index.put_url(as_they_stand(index, each.url))
        index.remove_segments(blank)
    index.store.compact()
    versions = sum(len(each.versions) for each in leaving)
    visits = sum(len(each.visits) for each in leaving) + versions
    return Purged(versions, visits, max(0, size - index.store.size()))


def _leaving(index: Index, url: UrlRow, before: float | None) -> _Leaving:
    versions, visits = index.versions(url.id), index.visits(url.id)
    kept = _still_seen(line_of(versions, visits), before) if before is not None else set()
    return _Leaving(
        url,
        [version for version in versions if version.number not in kept],
        [visit.at for visit in index.all_visits(url.id) if visit.version not in kept],
        not kept,
    )


def _still_seen(line: Sequence[Seen], before: float) -> set[int]:
    """Return the numbers of the versions that were seen last at a time, and of those seen later."""
    first = bisect_right(line, before, key=lambda seen: seen.time)
    return {seen.version.number for seen in line[max(0, first - 1) :]}


def forget_records(
    index: Index, reader: Reader, gone: Iterable[int], urls: Iterable[int] = ()
) -> list[Segment]:
    """Write the segments again that hold some places, without these; return those left blank.

    All are read first, and nothing is written if one is damaged: a store without transactions
    could not take back what was written before that is met. Those whose dictionary goes are written
    before it, without one. Of `urls`, by number, nothing is left: their names go too.
    """
    end = clock.monotonic() + _PATIENCE
    left, whole = set(gone), frozenset(urls)
    blank = []
    while by_segment := reader.held(left):
        bases: dict[Segment, Segment | None] = {}
        try:
            leaning = [one for held in by_segment for one in _leaning(index, reader, held)]
            by_segment = dict.fromkeys(leaning, frozenset[int]()) | by_segment
            bases = {one: reader.base_of(one) for one in by_segment}
            bases = {one: None if base in by_segment else base for one, base in bases.items()}
            made = [_without(reader, one, at, whole, bases[one]) for one, at in by_segment.items()]
        except GoneError:  # another process has put others in their places
            made = []
        for segment, at, written in sorted(
            zip(by_segment, by_segment.values(), made, strict=False),
            key=lambda turn: -turn[0].first,
        ):
            older = index.replaced_by(segment)
            leaning_now = partial(_leaning, index, reader, segment)
            if index.replace([segment], written, base=bases[segment], unless=leaning_now):
                left -= at
                for one in older:
                    with suppress(StoreError):  # its row is wrong: a check tells of it
                        reader.head(one)
                        index.remove_segments([one])
                blank += [written[0]] if is_blank(read_head(written[1])) else []
            reader.forget(segment.stream)
        if left:
            clock.sleep(_LOOK)
        if left and clock.monotonic() > end:
            raise StoreError(
                f"archive {index.name} is written by another process all the time; try again"
            )
    return blank


def is_blank(head: Head) -> bool:
    """Return whether nothing is left in a segment, not even a number of a version."""
    return all(entry.kind == GONE and not entry.url for entry in head.entries())


def _leaning(index: Index, reader: Reader, base: Segment) -> list[Segment]:
    """Return the segments that one is the dictionary of."""
    others = index.segments([base.stream]).get(base.stream, [])
    behind = (one for one in others if one.first > base.first and one.level)
    return [one for one in behind if reader.head(one).about.base == base.first]


def _without(
    reader: Reader,
    segment: Segment,
    places: frozenset[int],
    urls: frozenset[int],
    base: Segment | None,
) -> Packed:
    """Return a segment without some records; its dictionary may be another then."""
    head = reader.head(segment)
    entries: list[Entry] = []
    for at, entry in enumerate(head.entries(), segment.at):
        if at in places or entry.url in urls:
            is_named = entry.url not in urls and (entry.is_version or entry.kind == GONE)
            name = (entry.url, entry.number) if is_named else (0, 0)
            entries.append(Entry(GONE, *name, 0.0, 0))
        else:
            entries.append(entry)
    return rewritten(reader, [segment], entries, segment.level, base=base)
