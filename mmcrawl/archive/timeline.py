"""What was seen of a URL at a time: its versions and the visits between are one line.

A version with an older time may be stored late, between a version and a later visit that found
that one unchanged. The visit names what it saw, so it is asked first.

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

__all__ = ["Seen", "last_seen", "line_of", "visits_of"]


@dataclass(frozen=True, slots=True)
class Seen:
    """That a version was what a URL led to, when it was stored or at a later visit.

    Attributes:
        time: In Unix seconds.
        version: What was seen; its own time is that or an earlier one.
    """

    time: float
    version: VersionRow


def last_seen(backend: Backend, url: int, time: float | None) -> Seen | None:
    """Return what was seen last up to a time, or at all; None if that was nothing."""
    version = backend.version_at(url, time)
    if version is None:
        return None
    until = time
    while (visit := backend.visit_at(url, until)) is not None and visit.time > version.time:
        same = visit.number == version.number
        found = version if same else backend.version(url, visit.number)
        if found is not None and _tells(visit, found):
            return Seen(visit.time, found)
        until = nextafter(visit.time, -inf)
    return Seen(version.time, version)


def line_of(versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> list[Seen]:
    """Return all that was seen of a URL, in order."""
    return sorted(_seen(versions, visits), key=lambda seen: (seen.time, seen.version.number))


def visits_of(versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> list[Visit]:
    """Return all visits of a URL in order, those that met a failure too."""
    found = [Visit(version.time, True, version.number, version.status) for version in versions]
    found += [Visit(visit.time, False, visit.number, visit.status) for visit in visits]
    return sorted(found, key=lambda visit: (visit.time, visit.changed, visit.version))


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
