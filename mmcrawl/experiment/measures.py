"""The measures of an experiment: plain functions of what was fetched in which order.

A *series* has a value for each fetched page, in order: whether it is relevant, or how many new
media it has: shape (fetched,), bool or int. Recall is relative to `wanted`, the number of relevant
pages, or of media, in the web; if that is 0, recall is undefined, None.
"""

from collections.abc import Iterable, Sequence
from math import floor
from statistics import fmean
from typing import Any

import numpy as np

from mmcrawl.scoring.patterns import ANY, Pattern, url_parts

PUBLISHED_SHARE = 0.21
"""Share of the web that the paper's own algorithm fetched for 67 % of the relevant pages."""

_Series = Sequence[bool] | Sequence[int] | np.ndarray[Any, np.dtype[Any]]
_Numbers = np.ndarray[Any, np.dtype[np.float64]]
Spread = dict[str, float | None]


def precision(relevant: int, fetched: int) -> float | None:
    """Return the share of relevant pages among those fetched, None if none were fetched.

    >>> precision(3, 12)
    0.25
    """
    return relevant / fetched if fetched else None


def recall(relevant: int, wanted: int) -> float | None:
    """Return the share of the web's relevant pages that were fetched, None if it has none.

    >>> recall(3, 4)
    0.75
    """
    return relevant / wanted if wanted else None


def recall_interval(
    found: Sequence[int], wanted: Sequence[int], *, draws: int = 2_000
) -> tuple[float, float] | None:
    """Return the 95 % interval of recall over sites, by the bootstrap; None for fewer than three.

    Sites are drawn with replacement (Efron 1979), always the same draws; recall is that of all the
    pages of the sites drawn, which hold some relevant page.

    Args:
        wanted: all of them, by site.

    >>> recall_interval([1, 1, 1], [2, 2, 2])
    (0.5, 0.5)
    """
    pairs = np.array([(f, w) for f, w in zip(found, wanted, strict=True) if w], np.int64)
    if len(pairs) < 3:
        return None
    drawn = np.random.default_rng(0).integers(len(pairs), size=(draws, len(pairs)))
    sums = pairs[drawn].sum(axis=1)
    least, most = np.percentile(sums[:, 0] / sums[:, 1], (2.5, 97.5))
    return float(least), float(most)


def found_after(series: _Series, pages: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return how many relevant pages were had after 0, 1 … `pages` fetches, shape (pages + 1,).

    A series that stopped before stays where it was; what it fetched beyond is left out.

    >>> found_after([True, False, True], 4).tolist()
    [0, 1, 1, 2, 2]
    """
    found = np.zeros(pages + 1, np.int64)
    steps = np.cumsum(np.asarray(series, dtype=np.int64)[:pages])
    found[1 : len(steps) + 1] = steps
    found[len(steps) + 1 :] = steps[-1] if len(steps) else 0
    return found


def area(series: _Series, wanted: int, pages: int) -> float | None:
    """Return the area under recall against pages fetched, from 0 to `pages`, in [0, 1].

    It is the mean of the recall after 1, 2 … `pages` fetches; None if nothing is wanted.

    >>> area([True, False, True], 2, 4)
    0.75
    """
    if not wanted or not pages:
        return None
    return float(found_after(series, pages)[1:].mean() / wanted)


def area_share(series: _Series, best: _Series, wanted: int, pages: int) -> float | None:
    """Return the area of a series as a share of that of `best` (the oracle's)."""
    own, most = area(series, wanted, pages), area(best, wanted, pages)
    return own / most if own is not None and most else None


def pages_at_share(pages: int, share: float = PUBLISHED_SHARE) -> int:
    """Return how many pages are a share of the web, rounded to the nearest, at least 1.

    >>> pages_at_share(458)
    96
    """
    return max(1, floor(share * pages + 0.5))


def per_layer(layers: Sequence[int], series: _Series) -> dict[int, tuple[int, int]]:
    """Return for every physical layer the pages and the relevant pages fetched from it.

    >>> per_layer([1, 2, 2], [False, True, False])
    {1: (1, 0), 2: (2, 1)}
    """
    counts: dict[int, tuple[int, int]] = {}
    for layer, relevant in sorted(zip(layers, map(bool, series), strict=True)):
        pages, found = counts.get(layer, (0, 0))
        counts[layer] = pages + 1, found + relevant
    return counts


def best_pattern(url: str, patterns: Sequence[Pattern]) -> Pattern | None:
    """Return the first of some patterns, the most general first, that matches a URL."""
    parts = url_parts(url)
    return next((pattern for pattern in patterns if pattern.matches(parts)), None)


def per_pattern(patterns: Iterable[str], series: _Series) -> dict[str, tuple[int, int]]:
    """Return for every pattern the pages and the relevant pages that match it."""
    counts: dict[str, tuple[int, int]] = {}
    for pattern, relevant in zip(patterns, map(bool, series), strict=True):
        pages, found = counts.get(pattern, (0, 0))
        counts[pattern] = pages + 1, found + relevant
    ordered = sorted(counts.items(), key=lambda item: (not item[0], -item[1][1], item[0]))
    return dict(ordered)


def on_grid(seconds: Sequence[float], values: Sequence[float], grid: _Numbers) -> _Numbers:
    """Return the values a run stood at, at each time of a grid; 0 before the first page."""
    steps = np.concatenate(([0.0], np.asarray(values, np.float64)))
    position: _Numbers = steps[np.searchsorted(np.asarray(seconds), grid, side="right")]
    return position


def spread(values: Iterable[float | None]) -> Spread:
    """Return mean, least and largest of the repeats of a measure; None where it is undefined.

    >>> spread([1.0, 2.0])
    {'mean': 1.5, 'min': 1.0, 'max': 2.0}
    """
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "min": None, "max": None}
    return {"mean": fmean(known), "min": min(known), "max": max(known)}


def pattern_of(text: str) -> Pattern:
    """Return the pattern that `str(pattern)` wrote.

    >>> pattern_of("http://h/a/*").directories
    ('a', '*')
    """
    host, _, rest = text.removeprefix("http://").partition("/")
    path, _, query = rest.partition("?")
    directories = path.split("/")
    longer = directories[-1] == ANY * 2
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    return Pattern(
        host,
        tuple(directories[:-1] if longer else directories),
        tuple((key, value) for key, _, value in pairs),
        longer,
    )
