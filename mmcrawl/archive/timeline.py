"""What was seen of a URL over time: one line of its versions and the visits in between.

A version may be stored out of order: between an older version and a later visit that found that
version unchanged. Such a visit names the version it saw, so it has precedence. A capture stored out
of order that equals what was seen next is also a visit, of a version captured after it.

If several events have the same time, the one stored last counts. A visit precedes the versions of
its time: if it had been compared with one of them and been equal, it would not have been recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, nextafter
from typing import NamedTuple

from mmcrawl.archive.index import Index, UrlRow, VersionRow, VisitRow
from mmcrawl.archive.model import Visit
from mmcrawl.archive.revisits import is_answer


class Seen(NamedTuple):
    """That a version was what a URL led to, when it was stored or at a later visit."""

    time: float
    version: VersionRow  # its own time is a later one where an earlier visit was stored late


def last_seen(index: Index, url: int, time: float | None) -> Seen | None:
    """Return what was seen last up to a time, or at all; None if that was nothing."""
    version = index.version_at(url, time)
    since = version.time if version is not None else -inf
    until = time
    while (visit := index.visit_at(url, until)) is not None and visit.time > since:
        same = version is not None and visit.version == version.number
        found = version if same else index.version(url, visit.version)
        if found is not None and _tells(visit, found):
            return Seen(visit.time, found)
        until = nextafter(visit.time, -inf)
    return Seen(version.time, version) if version is not None else None


def next_seen(index: Index, url: int, time: float) -> Seen | None:
    """Return what was seen first after a time; None if that was nothing."""
    version = index.version_after(url, time)
    until = version.time if version is not None else inf
    while (visit := index.visit_after(url, time)) is not None and visit.time <= until:
        found = index.version(url, visit.version)
        if found is not None and _tells(visit, found):
            return Seen(visit.time, found)
        time = visit.time
    return Seen(version.time, version) if version is not None else None


def headed(index: Index, seen: Seen) -> VisitRow | None:
    """Return the last visit with headers of its own that found a version; None if none had."""
    captured = seen.version.time
    if captured == seen.time:
        return None  # no visit in between
    after = captured if captured <= seen.time else -inf
    return index.visit_with_head(seen.version, after, seen.time)


def standing_of(row: UrlRow, versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> UrlRow:
    """Return how a URL stands, given all its versions and visits; no number is given again."""
    times = [version.time for version in versions] + [visit.time for visit in visits]
    last = max((row.last, *(version.number for version in versions)))
    new, seen = UrlRow.new(row.url, row.id), max(times, default=-inf)
    fresh = replace(new, own=row.own, last=last, seen=seen)
    line = line_of(versions, visits)
    found = line[-1].version if line else None
    return replace(fresh, version=found.number, at=found.at) if found is not None else fresh


def as_they_stand(index: Index, row: UrlRow) -> UrlRow:
    """Return the row of a URL as its versions and visits have it."""
    return standing_of(row, index.versions(row.id), index.visits(row.id))


class Event(NamedTuple):
    """A visit, and what it found."""

    visit: Visit
    found: VersionRow | None  # None if it is gone; of one that failed, what was seen last before
    head: VisitRow | None  # the visit whose headers hold, see `headed`
    tells: bool  # whether it saw what it found


def line_of(versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> list[Seen]:
    """Return all that was seen of a URL, in order."""
    events = events_of(versions, visits)
    return [Seen(one.visit.time, one.found) for one in events if one.found and one.tells]


def events_of(versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> list[Event]:
    """Return all visits of a URL in order, given its versions and its other visits."""
    by_number = {version.number: version for version in versions}
    rows: list[VersionRow | VisitRow] = [*versions, *visits]
    events: list[Event] = []
    heads: dict[int, VisitRow | None] = {}
    early: set[int] = set()  # found by a visit before they were captured
    seen: VersionRow | None = None
    for row in sorted(rows, key=_in_order):
        if isinstance(row, VersionRow):
            seen = row
            heads[row.number] = None
            known = row.number in early
            visit = Visit(row.time, True, row.number, row.status, known)
            events.append(Event(visit, row, None, tells=True))
            continue
        found = by_number.get(row.version)
        tells = found is not None and _tells(row, found)
        if found is not None and tells:
            seen = found
            if row.time < found.time:
                early.add(found.number)
            if row.headed:
                heads[found.number] = row
        elif found is not None:
            found = seen or found
        number = found.number if found is not None else row.version
        visit = Visit(row.time, False, number, row.status)
        events.append(Event(visit, found, heads.get(number), tells))
    return events


def _in_order(row: VersionRow | VisitRow) -> tuple[float, bool, int]:
    is_version = isinstance(row, VersionRow)
    return row.time, is_version, row.number if isinstance(row, VersionRow) else row.version


def _tells(visit: VisitRow, version: VersionRow) -> bool:
    """Whether a visit saw its version: one that met a failure only names what was known."""
    return is_answer(visit.status) or visit.status == version.status
