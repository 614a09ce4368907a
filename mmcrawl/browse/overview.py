"""Numbers of the whole archive, counted beside the requests: they take longer than a page may.

The search index is brought up to date on the way, so that what was stored since is found.
"""

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import HostStats
from mmcrawl.archive.search.searching import Search
from mmcrawl.browse.figures import Growth, growth_of
from mmcrawl.errors import MmcrawlError, SearchError
from mmcrawl.text.media_kinds import DEFAULT_KINDS

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 15.0  # between two looks whether anything was stored
_REST = 10.0  # times as long as counting took, nothing is counted


class _StoppedError(Exception):
    """Counting was stopped."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What is in the archive.

    Attributes:
        time: When it was counted, Unix seconds.
        counts: URLs and versions then, as :meth:`mmcrawl.archive.Archive.counts`.
        raw_bytes, stored_bytes: Of all bodies as received, and what they take.
        hosts: By name.
        media: How many pages have blocks with a kind of media.
        growth: The figure; None for an empty archive.
    """

    time: float
    counts: Mapping[str, int]
    raw_bytes: int
    stored_bytes: int
    hosts: Mapping[str, HostStats]
    media: Mapping[str, int]
    growth: Growth | None

    @property
    def saved(self) -> float:
        """The share of bytes that need not be stored."""
        return max(0.0, 1 - self.stored_bytes / self.raw_bytes) if self.raw_bytes else 0.0


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
        """Begin."""
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
                    began = time.monotonic()
                    self.survey(counts)
                    rest = max(_LOOK_SECONDS, _REST * (time.monotonic() - began))
            except _StoppedError:
                return
            except MmcrawlError as error:
                logger.warning("the archive cannot be counted now: %s", error)

    def survey(self, counts: Mapping[str, int]) -> None:
        """Count, and bring the index up to date."""
        versions = counts["versions"]

        def progress(done: int, new: int) -> None:
            self._go_on()
            self.indexing = (max(0, versions - new) + done, max(versions, new))

        try:
            with suppress(MmcrawlError):  # an index that cannot be written is searched as it is
                if (known := self._search.stats().versions) < versions:
                    self.indexing = (known, versions)
            self.latest = self._counted(counts, self.latest.media if self.latest else {})
            with suppress(MmcrawlError):
                self._search.update(progress=progress)
        finally:
            self.indexing = None
        self.latest = replace(self.latest, media=self._media())

    def _go_on(self) -> None:
        """Interrupt what takes long when all is to end: the index is right, and goes on later."""
        if self._stopped.is_set():
            raise _StoppedError

    def _counted(self, counts: Mapping[str, int], media: Mapping[str, int]) -> Overview:
        stats = self._archive.stats()
        first_seen, versions = [], []
        for url in self._archive.urls():
            self._go_on()
            times = [visit.time for visit in self._archive.visits(url) if visit.changed]
            first_seen += times[:1]
            versions += times
        return Overview(
            time.time(),
            counts,
            stats.raw_bytes,
            stats.stored_bytes,
            stats.hosts,
            media,
            growth_of(sorted(first_seen), sorted(versions)),
        )

    def _media(self) -> Mapping[str, int]:
        """Return how many pages have each kind of media; afterwards the first search is fast."""
        found = {}
        self._search.search("网页 archive", limit=0)  # reads the dictionary that parts words
        for kind in DEFAULT_KINDS:
            with suppress(SearchError):
                found[kind] = self._search.search(f"media:{kind}", limit=0).total
        return found
