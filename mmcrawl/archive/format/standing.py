"""How a URL stands: what is kept in its row, made of its versions and visits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

from mmcrawl.archive.format.facts import cut_by, target_of
from mmcrawl.archive.format.head import Entry
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.index import Index, UrlRow, VersionRow, VisitRow
from mmcrawl.archive.timeline import current
from mmcrawl.errors import StoreError


def as_they_stand(index: Index, reader: Reader, row: UrlRow) -> UrlRow:
    """Return the row of a URL as its versions and visits have it."""
    return standing_of(row, index.versions(row.id), index.visits(row.id), reader.entry)


def standing_of(
    row: UrlRow,
    versions: Sequence[VersionRow],
    visits: Sequence[VisitRow],
    entry_of: Callable[[VersionRow], Entry],
) -> UrlRow:
    """Return how a URL stands.

    Args:
        row: Of the URL; no number of it that was given once is given again.
        versions, visits: All of them.
        entry_of: Returns the record of a version.
    """
    times = [version.time for version in versions] + [visit.time for visit in visits]
    last = max((version.number for version in versions), default=0)
    fresh = replace(
        UrlRow.new(row.url, row.id),
        own=row.own,
        last=max(row.last, last),
        seen=max(times, default=-inf),
    )
    found = current(versions, visits)
    if found is None:
        return fresh
    fresh = replace(fresh, version=found.number, at=found.at, status=found.status)
    try:
        entry = entry_of(found)
        method, level = cut_by(entry)
        location = target_of(entry)
    except StoreError:
        return fresh  # so that what comes next is another version
    return replace(fresh, digest=entry.digest, location=location, method=method, level=level)
