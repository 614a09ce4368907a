"""Figures as coordinates: the templates draw them as SVG."""

import logging
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import HostStats, Visit
from mmcrawl.archive.search.searching import Search
from mmcrawl.browse.text import when
from mmcrawl.errors import MmcrawlError, SearchError
from mmcrawl.text.media_kinds import DEFAULT_KINDS

_WIDTH, _HEIGHT, _TOP = 1056, 190, 18
_ROWS = 24
_MOST_MARKS = 400  # of a timeline; more cannot be told apart


@dataclass(frozen=True, slots=True)
class GridLine:
    """A line of the grid and what it stands for."""

    y: float
    value: int


@dataclass(frozen=True, slots=True)
class GrowthRow:
    """How much there was at the end of a stretch of time."""

    label: str
    pages: int
    versions: int


@dataclass(frozen=True, slots=True)
class Growth:
    """How an archive grew.

    Attributes:
        first, last: Unix seconds at either end.
        pages, versions, versions_area: Paths.
    """

    first: float
    last: float
    pages: str
    versions: str
    versions_area: str
    lines: tuple[GridLine, ...]
    rows: tuple[GrowthRow, ...]
    width: int = _WIDTH
    height: int = _HEIGHT


def growth_of(first_seen: Sequence[float], versions: Sequence[float]) -> Growth | None:
    """Draw how an archive grew; None if it has nothing."""
    if not versions:
        return None
    first, last = versions[0], versions[-1]
    span = max(last - first, 1.0)
    top = _round_up(len(versions))
    height = _HEIGHT - _TOP

    def path(times: Sequence[float]) -> str:
        points = []
        for x in range(0, _WIDTH + 1, 4):
            until = first + span * x / _WIDTH if x < _WIDTH else last
            count = bisect_right(times, until)
            points.append(f"{x} {_HEIGHT - height * count / top:.1f}")
        return "M" + "L".join(points)

    drawn = path(versions)
    return Growth(
        first,
        last,
        path(first_seen),
        drawn,
        f"{drawn}V{_HEIGHT}H0Z",
        tuple(GridLine(_HEIGHT - height * share, round(top * share)) for share in (0.5, 1.0)),
        tuple(_rows(first_seen, versions, first, span)),
    )


def _rows(
    first_seen: Sequence[float], versions: Sequence[float], first: float, span: float
) -> list[GrowthRow]:
    found: dict[str, GrowthRow] = {}
    form = "%Y-%m" if span > 62 * 86_400 else "%Y-%m-%d"
    for step in range(1, _ROWS + 1):
        end = first + span * step / _ROWS if step < _ROWS else versions[-1]
        label = when(end, form)
        found[label] = GrowthRow(label, bisect_right(first_seen, end), bisect_right(versions, end))
    return list(found.values())


def _round_up(count: int) -> int:
    """Return the next number of one digit and noughts, or an even one up to 10."""
    unit = int("1".ljust(len(str(count)), "0"))
    top = -(-count // unit) * unit
    return max(top + top % 2, 2)


@dataclass(frozen=True, slots=True)
class Mark:
    """A visit on a timeline; `kind` is ``version``, ``same`` or ``failed``."""

    x: float
    kind: str
    visit: Visit


@dataclass(frozen=True, slots=True)
class Timeline:
    """The visits of a page on a line from the first to the last."""

    marks: tuple[Mark, ...]
    left_out: int
    first: float
    last: float
    width: int = 1000


def timeline_of(visits: Sequence[Visit]) -> Timeline | None:
    """Draw visits, which are in order; None if there are none.

    Of very many, those that found nothing new are left out first.
    """
    if not visits:
        return None
    first, last = visits[0].time, visits[-1].time
    span = max(last - first, 1.0)
    changed = [visit for visit in visits if visit.changed]
    shown = list(visits) if len(visits) <= _MOST_MARKS else changed
    step = -(-len(shown) // _MOST_MARKS)
    shown = shown[::step] if step > 1 else shown
    width = 1000
    marks = tuple(
        Mark(10 + (width - 20) * (visit.time - first) / span, _kind(visit), visit)
        for visit in sorted(shown, key=lambda visit: (visit.changed, visit.time))
    )
    return Timeline(marks, len(visits) - len(shown), first, last)


def _kind(visit: Visit) -> str:
    if visit.changed:
        return "version"
    return "same" if visit.status in (0, 304) or 200 <= visit.status < 300 else "failed"


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
        """Interrupt long work on shutdown: the index stays correct and is continued later."""
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
