"""What the archive has in numbers, and figures as coordinates: the templates draw them as SVG."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import ArchiveStats, Visit
from mmcrawl.archive.search.searching import Search
from mmcrawl.browse.text import when
from mmcrawl.errors import MmcrawlError, SearchError
from mmcrawl.text.media_kinds import DEFAULT_KINDS


@dataclass(frozen=True, slots=True)
class Month:
    """A month of a calendar: ``2024-05``, how many versions and visits, and how dark (0 to 4)."""

    name: str
    versions: int
    visits: int
    shade: int


def months_of(visits: Sequence[Visit]) -> dict[str, list[Month]]:
    """Return the years in which a page was visited, each with its twelve months."""
    found = Counter(when(visit.time, "%Y-%m") for visit in visits)
    versions = Counter(when(visit.time, "%Y-%m") for visit in visits if visit.changed)
    most = max(versions.values(), default=1)
    return {
        year: [
            Month(name, versions[name], found[name], -(-4 * versions[name] // most))
            for name in (f"{year}-{month:02}" for month in range(1, 13))
        ]
        for year in sorted({name[:4] for name in found if name[4:5] == "-"})
    }


logger = logging.getLogger(__name__)

_LOOK_SECONDS = 15.0  # between two looks whether anything was stored
_REST = 10.0  # times as long as counting took, nothing is counted or indexed


class _StoppedError(Exception):
    """Counting was stopped."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What is in the archive.

    Attributes:
        time: When it was counted, Unix seconds.
        counts: URLs and versions then, as :meth:`mmcrawl.archive.Archive.counts`.
        stats: Of the archive, as :meth:`mmcrawl.archive.Archive.stats`.
        media: How many pages have blocks with a kind of media.
    """

    time: float
    counts: Mapping[str, int]
    stats: ArchiveStats
    media: Mapping[str, int]


class Surveyor:
    """Counts in a thread of its own, again whenever something was stored.

    Attributes:
        latest: What was counted last; None before.
        indexing: Versions that the search index has, and how many there are, while it is brought
            up to date; else None.
    """

    def __init__(self, archive: Archive, search: Search) -> None:
        self.latest: Overview | None = None
        self.indexing: tuple[int, int] | None = None
        self._archive = archive
        self._search = search
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="browse-survey", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End; what the index has taken in so far is kept."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        rest = 0.0
        while not self._stopped.wait(rest):
            rest = _LOOK_SECONDS
            try:
                counts = self._archive.counts()
                if self.latest is None or self.latest.counts != counts:
                    rest = max(_LOOK_SECONDS, _REST * self.survey(counts))
            except _StoppedError:
                return
            except MmcrawlError as error:
                logger.warning("the archive cannot be counted now: %s", error)

    def survey(self, counts: Mapping[str, int]) -> float:
        """Count, and update the index; return the seconds that counting took.

        Counting takes as long each time, an update of the index only as long as what is new.
        """
        versions = counts["versions"]

        def progress(done: int, new: int) -> None:
            if self._stopped.is_set():  # the index stays correct and is continued later
                raise _StoppedError
            self.indexing = (max(0, versions - new) + done, max(versions, new))

        try:
            with suppress(MmcrawlError):  # an index that cannot be written is searched as it is
                if (known := self._search.stats().versions) < versions:
                    self.indexing = (known, versions)
            began = time.monotonic()
            stats, media = self._archive.stats(), self.latest.media if self.latest else {}
            seconds = time.monotonic() - began
            self.latest = Overview(time.time(), counts, stats, media)
            with suppress(MmcrawlError):
                self._search.update(progress=progress)
        finally:
            self.indexing = None
        self.latest = replace(self.latest, media=self._media())
        return seconds

    def _media(self) -> Mapping[str, int]:
        """Return how many pages have each kind of media; afterwards the first search is fast."""
        found = {}
        self._search.search("网页 archive", limit=0)  # reads the dictionary that parts words
        for kind in DEFAULT_KINDS:
            with suppress(SearchError):
                found[kind] = self._search.search(f"media:{kind}", limit=0).total
        return found
