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

from mmcrawl.archive.backend import Backend, VersionRow, VisitRow
from mmcrawl.archive.model import Visit
from mmcrawl.archive.revisits import is_answer

__all__ = ["Seen", "events_of", "head_of", "last_seen", "line_of", "next_seen"]


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
    """Return what was seen first after a time; None if that was nothing.

    A visit that met a failure counts here: it names what was known, which is to stay so.
    """
    version = backend.version_after(url, time)
    until = version.time if version is not None else inf
    while (visit := backend.visit_after(url, time)) is not None and visit.time <= until:
        found = backend.version(url, visit.number)
        if found is not None:
            return Seen(visit.time, found)
        time = visit.time
    return Seen(version.time, version) if version is not None else None


def head_of(backend: Backend, seen: Seen) -> bytes | None:
    """Return the head of the last visit that found a version and came with one, up to a time.

    None if the version's own holds on.
    """
    captured = seen.version.time
    after = captured if captured <= seen.time else -inf
    visit = backend.visit_with_head(seen.version, after, seen.time)
    return visit.head if visit is not None else None


def line_of(versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> list[Seen]:
    """Return all that was seen of a URL, in order."""
    return sorted(_seen(versions, visits), key=lambda seen: (seen.time, seen.version.number))


def events_of(backend: Backend, url: int) -> list[tuple[Visit, VersionRow | None, bytes | None]]:
    """Return all visits of a URL in order, those that met a failure too.

    Each with what it found, None if that is gone, and its head then, as :func:`head_of` gives it.
    """
    by_number = {version.number: version for version in backend.versions(url)}
    events: list[tuple[Visit, VersionRow | None, bytes | None]] = []
    heads: dict[int, VisitRow] = {}
    early: set[int] = set()
    for visit in backend.visits(url):
        version = by_number.get(visit.number)
        if visit.head is not None:
            heads[visit.number] = visit
        last = heads.get(visit.number)
        head = last.head if last is not None else None
        if version is not None and visit.time < version.time:
            early.add(visit.number)
        elif version is not None and last is not None and last.time <= version.time:
            head = None  # its own
        events.append((Visit(visit.time, False, visit.number, visit.status), version, head))
    events += [
        (Visit(row.time, True, row.number, row.status, row.number in early), row, None)
        for row in by_number.values()
    ]
    return sorted(events, key=lambda event: _in_order(event[0]))


def _in_order(visit: Visit) -> tuple[float, bool, int | None]:
    return visit.time, visit.changed, visit.version


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
