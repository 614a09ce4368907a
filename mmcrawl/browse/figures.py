"""Figures as coordinates: the templates draw them as SVG."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mmcrawl.archive.model import Visit
from mmcrawl.browse.text import when

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
        lines: Of the grid.
        rows: The same in numbers.
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
    """Draw how an archive grew; None if it has nothing.

    Args:
        first_seen: When each page was stored first, Unix seconds, in order.
        versions: When each version was, in order.
    """
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
