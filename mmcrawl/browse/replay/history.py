"""When a URL was seen, and which of its versions that was: the line that replaying chooses from."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Visit
from mmcrawl.archive.revisits import is_answer
from mmcrawl.browse.replay.addresses import seconds


@dataclass(frozen=True, slots=True)
class Memento:
    """A version, as it can be asked for by time.

    Attributes:
        time: Whole Unix seconds: when it was captured.
        number: Of the version.
        status: HTTP status.
    """

    time: int
    number: int
    status: int


class History:
    """What was seen of a URL.

    Args:
        visits: All of it, in order of time.

    Attributes:
        mementos: The versions in order of time, of several within a second the last one stored.
            Empty for a URL that is not stored.
    """

    def __init__(self, visits: Sequence[Visit]) -> None:
        by_time: dict[int, Memento] = {}
        statuses = {}
        for visit in visits:
            if visit.changed and visit.version is not None:
                at, statuses[visit.version] = seconds(visit.time), visit.status
                if at not in by_time or by_time[at].number < visit.version:
                    by_time[at] = Memento(at, visit.version, visit.status)
        self._by_time = by_time
        self.mementos = list(by_time.values())
        self._seen = [
            (seconds(visit.time), visit.version)
            for visit in visits
            if visit.version in statuses
            and (
                visit.changed or is_answer(visit.status) or visit.status == statuses[visit.version]
            )
        ]
        self._by_number = {memento.number: memento for memento in self.mementos}

    def nearest(self, time: float) -> Memento:
        """Return what was seen nearest to a time, by a visit that found nothing new too.

        A version captured at the very second comes first; of two equally near, the earlier.

        Raises:
            IndexError: there is nothing at all.
        """
        at = seconds(time)
        if at in self._by_time:
            return self._by_time[at]
        behind = bisect_right(self._seen, at, key=lambda seen: seen[0])
        near = self._seen[max(behind - 1, 0) : behind + 1]
        number = min(near, key=lambda seen: (abs(seen[0] - at), seen[0]), default=(0, 0))[1]
        return self._by_number.get(number) or self._nearest_captured(at)

    def _nearest_captured(self, at: int) -> Memento:
        """Return the nearest by capture: another of its second hides what was seen."""
        if not self.mementos:
            raise IndexError("nothing was seen")
        return min(self.mementos, key=lambda memento: (abs(memento.time - at), memento.time))

    def around(self, memento: Memento) -> tuple[Memento | None, Memento | None]:
        """Return the mementos before and behind one."""
        place = bisect_right(self.mementos, memento.time, key=lambda other: other.time)
        before = self.mementos[place - 2] if place > 1 else None
        behind = self.mementos[place] if place < len(self.mementos) else None
        return before, behind


def history_of(archive: Archive, url: str) -> tuple[str, History]:
    """Return a URL as it is found in an archive, and what was seen of it.

    One that was stored with characters that no address can be written with is found by its escapes.
    """
    history = History(archive.visits(url))
    if not history.mementos and (unescaped := unquote(url)) != url:
        other = History(archive.visits(unescaped))
        if other.mementos:
            return unescaped, other
    return url, history
