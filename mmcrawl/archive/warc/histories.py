"""The visits of a URL in an order in which storing them again gives the same versions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Version

__all__ = ["Event", "History", "history_of"]


@dataclass(frozen=True, slots=True)
class Event:
    """A visit, with the version that it found.

    Attributes:
        version: As stored, with the headers that it had then.
        time: Of the visit, in Unix seconds.
        status: Of the answer.
        is_new: Whether it found the version first.
    """

    version: Version
    time: float
    status: int
    is_new: bool

    @property
    def has_page(self) -> bool:
        """Whether it got the version, or was told that it holds on.

        Of others nothing is known but their status: failed ones, and those that found again that a
        page is gone, whose bodies are not kept. A visit before the capture had the body.
        """
        if self.is_new or self.status == 304:
            return True
        is_early = self.time < self.version.time
        return self.status == self.version.status and (200 <= self.status < 400 or is_early)


@dataclass(frozen=True, slots=True)
class History:
    """The visits of a URL.

    Attributes:
        events: In order.
        in_time: Whether that is the order of time.
        lost: Visits whose version is gone.
    """

    events: tuple[Event, ...]
    in_time: bool
    lost: int

    def turn(self, index: int) -> int | None:
        """Return what a record has to say of its place: nothing where times tell the order."""
        return None if self.in_time else index


def history_of(archive: Archive, url: str) -> History:
    """Return versions by number, each followed by the visits that found it again.

    A visit was compared with the version before it among those that were stored then. Whatever was
    stored later has a greater number, so this order finds the same version again, also where an
    older capture was stored after a newer one.
    """
    found = archive.found(url)
    lost = len(archive.visits(url)) - len(found)
    by_version = sorted(found, key=lambda pair: (pair[1].number, not pair[0].changed))
    events = [
        Event(version, visit.time, visit.status, is_new=visit.changed)
        for visit, version in by_version
    ]
    in_time = all(before.time <= after.time for before, after in pairwise(events))
    return History(tuple(events), in_time, lost)
