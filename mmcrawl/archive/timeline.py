"""What was seen of a URL at a time: its versions and the visits between are one line.

A version with an older time may be stored late, between a version and a later visit that found
that one unchanged. The visit names what it saw, so it is asked first. What is stored late and is
equal to what was seen next is a visit too, of a version that was captured after it.

Of several events at one time the one stored last counts. A visit comes before the versions of its
time: whatever was compared with one of those, and was equal, was not noted again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, nextafter

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.model import Visit
from mmcrawl.archive.revisits import is_answer
from mmcrawl.archive.rows import VersionRow, VisitRow


@dataclass(frozen=True, slots=True)
class Seen:
    """That a version was what a URL led to, when it was stored or at a later visit.

    Attributes:
        time: In Unix seconds.
        version: What was seen; its own time is a later one where an earlier visit was stored late.
    """

    time: float
    version: VersionRow


def last_seen(backend: Backend, url: int, time: float | None) -> Seen | None:
    """Return what was seen last up to a time, or at all; None if that was nothing."""
    version = backend.version_at(url, time)
    since = version.time if version is not None else -inf
    until = time
    while (visit := backend.visit_at(url, until)) is not None and visit.time > since:
        same = version is not None and visit.number == version.number
        found = version if same else backend.version(url, visit.number)
        if found is not None and _tells(visit, found):
            return Seen(visit.time, found)
        until = nextafter(visit.time, -inf)
    return Seen(version.time, version) if version is not None else None


def next_seen(backend: Backend, url: int, time: float) -> Seen | None:
    """Return what was seen first after a time; None if that was nothing."""
    version = backend.version_after(url, time)
    until = version.time if version is not None else inf
    while (visit := backend.visit_after(url, time)) is not None and visit.time <= until:
        found = backend.version(url, visit.number)
        if found is not None and _tells(visit, found):
            return Seen(visit.time, found)
        time = visit.time
    return Seen(version.time, version) if version is not None else None


def head_of(backend: Backend, seen: Seen) -> bytes | None:
    """Return the head of the last visit that found a version and came with one, up to a time.

    None if the version's own holds on.
    """
    captured = seen.version.time
    if captured == seen.time:
        return None  # no visit in between
    after = captured if captured <= seen.time else -inf
    visit = backend.visit_with_head(seen.version, after, seen.time)
    return visit.head if visit is not None else None


def line_of(versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> list[Seen]:
    """Return all that was seen of a URL, in order."""
    return sorted(_seen(versions, visits), key=lambda seen: (seen.time, seen.version.number))


Event = tuple[Visit, VersionRow | None, bytes | None]
"""A visit, what it found (None if that is gone), and its head then, as of :func:`head_of`."""


def events_of(backend: Backend, url: int) -> list[Event]:
    """Return all visits of a URL in order.

    Those that met a failure are among them, with what was seen last before.
    """
    by_number = {version.number: version for version in backend.versions(url)}
    rows: list[VersionRow | VisitRow] = [*by_number.values(), *backend.visits(url)]
    events: list[Event] = []
    heads: dict[int, bytes | None] = {}
    early: set[int] = set()  # found by a visit before they were captured
    seen: VersionRow | None = None
    for row in sorted(rows, key=_in_order):
        if isinstance(row, VersionRow):
            seen = row
            heads[row.number] = None
            known = row.number in early
            events.append((Visit(row.time, True, row.number, row.status, known), row, None))
            continue
        found = by_number.get(row.number)
        if found is not None and _tells(row, found):
            seen = found
            if row.time < found.time:
                early.add(found.number)
            if row.head is not None:
                heads[found.number] = row.head
        elif found is not None:
            found = seen or found
        number = found.number if found is not None else row.number
        events.append((Visit(row.time, False, number, row.status), found, heads.get(number)))
    return events


def _in_order(row: VersionRow | VisitRow) -> tuple[float, bool, int]:
    return row.time, isinstance(row, VersionRow), row.number


def _seen(versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> Iterator[Seen]:
    by_number = {version.number: version for version in versions}
    for visit in visits:
        found = by_number.get(visit.number)
        if found is not None and _tells(visit, found):
            yield Seen(visit.time, found)
    for version in versions:
        yield Seen(version.time, version)


def _tells(visit: VisitRow, version: VersionRow) -> bool:
    """Whether a visit saw its version: one that met a failure only names what was known."""
    return is_answer(visit.status) or visit.status == version.status
