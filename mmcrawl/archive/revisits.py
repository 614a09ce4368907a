"""When to visit a page again, from how often it was found changed.

Cho and Garcia-Molina (*Estimating frequency of change*, 2003) take changes for a Poisson process.
Of n visits at equal intervals, X found a change; the rate for an interval is then, nearly without
bias,

    r = -ln((n - X + 0.5) / (n + 0.5)).

That is the maximum likelihood estimate if half a visit is added that found nothing. Visits are
seldom at equal intervals, so here it is done with the intervals as they were: with half an
interval of the mean length added to those without a change, the rate is the root of

    sum over intervals t with a change of t / (e^(rate t) - 1)
        = total of the intervals without one + half of the mean interval.

At equal intervals the root is the formula above. The first visit counts for nothing, since there is
nothing to compare it with; answers that are no page (server errors, none at all) neither.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise, takewhile
from math import exp, expm1
from time import time
from typing import TYPE_CHECKING

from mmcrawl.archive.model import Visit, as_unix_time

if TYPE_CHECKING:
    from mmcrawl.archive.archive import Archive

DAY = 86_400.0
NO_ANSWER = 0
"""Status of a visit that nobody answered."""

MAIN_TEXT = "main-text"
"""Stands among kinds for the main text, :attr:`mmcrawl.blocks.PageContent.paragraphs`."""

COUNTED = frozenset({MAIN_TEXT, "title", "image"})
"""What changes of a page count: what it is there for."""

WHOLE = "body"
"""Stands among kinds for what is no page, and for status and target of an answer; counts always."""

Pair = tuple[int, int]
"""Numbers of two versions, the older one first."""

_GONE = (404, 410)
_VISITS = 200  # the last ones, from which a rate is estimated
_STEPS = 100
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, slots=True)
class RevisitRules:
    """Bounds of the time between two visits, in seconds.

    Attributes:
        shortest, longest: Never sooner or later than this.
        kinds: Of the blocks whose changes count, and `MAIN_TEXT`; None if any other byte does. See
            :mod:`mmcrawl.archive.comparing.change_kinds`.
    """

    default: float = DAY  # after a first visit
    shortest: float = 3_600.0
    longest: float = 30 * DAY
    growth: float = 2.0  # how many times the longest interval so far the next may be
    kinds: frozenset[str] | None = COUNTED


@dataclass(frozen=True, slots=True)
class Due:
    """When a URL is to be visited again."""

    url: str  # as stored
    last_visit: float  # unix seconds
    rate: float | None  # changes a day; None if it was visited once
    next_visit: float  # unix seconds
    why: str  # a sentence


def due(
    archive: Archive,
    at: datetime | float | None = None,
    rules: RevisitRules | None = None,
) -> list[Due]:
    """Return the URLs whose next visit has come, the most overdue first.

    Args:
        archive: Reads every URL's visits, so it takes as long as there are URLs.
        at: Unix seconds or a datetime, now by default. Later visits are left out of account.
    """
    now = time() if at is None else as_unix_time(at)
    found = [answer for answer in schedule(archive, now, rules) if answer.next_visit <= now]
    return in_order(found)


def in_order(found: Iterable[Due]) -> list[Due]:
    """Return visits in the order in which they come, the most overdue first."""
    return sorted(found, key=lambda answer: (answer.next_visit, answer.url))


def schedule(archive: Archive, now: float, rules: RevisitRules | None = None) -> Iterator[Due]:
    """Yield when each URL is to be visited again; for the arguments see `due`."""
    rules = rules or RevisitRules()
    for url in archive.urls():
        visits = [visit for visit in archive.visits(url) if visit.time <= now]
        if visits and url.lower().startswith(("http://", "https://")):
            answer = next_visit(url, visits, rules)
            # By fewer changes it is due no sooner: only what is due is compared block by block.
            if answer.next_visit <= now and (
                slight := _slight_changes(archive, url, visits, rules)
            ):
                answer = next_visit(url, visits, rules, slight)
            yield answer


def next_visit(
    url: str,
    visits: Sequence[Visit],
    rules: RevisitRules | None = None,
    slight: Collection[Pair] = (),
) -> Due:
    """Return when a URL is to be visited next, from all its visits by time, at least one.

    Between `slight` pairs of versions nothing changed that counts.
    """
    rules = rules or RevisitRules()
    answered = [visit for visit in visits if is_answer(visit.status)]
    intervals = [
        (after.time - before.time, pair is not None and pair not in slight)
        for before, after, pair in _steps(answered)
    ]
    rate = change_rate(intervals) if intervals else None
    failures = _trailing(visits, lambda visit: not is_answer(visit.status))
    gone = _trailing(answered, lambda visit: visit.status in _GONE)
    if failures:
        seconds = _doubled(rules.shortest, failures - 1, rules)
        why = f"No good answer {_times(failures)}"
    elif gone:
        seconds = _doubled(rules.default, gone, rules)
        why = f"Gone, as found {_times(gone)}"
    elif rate is None:
        seconds = min(rules.longest, max(rules.shortest, rules.default))
        why = "Visited once"
    else:
        others = sum(pair in slight for _, _, pair in _steps(answered))
        seconds, why = _by_rate(intervals, rate, rules, others)
    last = visits[-1].time
    per_day = rate * DAY if rate is not None else None
    return Due(url, last, per_day, last + seconds, f"{why}: again after {_span(seconds)}.")


def change_rate(intervals: Sequence[tuple[float, bool]]) -> float:
    """Return the changes for each unit of time.

    Args:
        intervals: Between visits, one at least: length, more than 0, and whether its end found a
            change.

    >>> round(change_rate([(1, True), (1, False), (1, False), (1, True)]), 6)  # -ln(2.5 / 4.5)
    0.587787
    """
    changed = [length for length, change in intervals if change]
    total = sum(length for length, _ in intervals)
    target = total - sum(changed) + total / len(intervals) / 2
    if not changed:
        return 0.0
    low, high = 0.0, len(changed) / target  # t / (e^(rt) - 1) < 1 / r
    for _ in range(_STEPS):
        rate = (low + high) / 2
        if sum(_term(length, rate) for length in changed) > target:
            low = rate
        else:
            high = rate
    return high


def is_answer(status: int) -> bool:
    """Return whether a status tells how a page is: it is there, moved, or gone."""
    return 200 <= status < 400 or status in _GONE


def _term(length: float, rate: float) -> float:
    exponent = rate * length
    if exponent > _LARGEST_EXPONENT:
        return 0.0
    return length / expm1(exponent) if exponent else float("inf")


_Pair = tuple[int | None, int | None]


def _steps(visits: Sequence[Visit]) -> Iterator[tuple[Visit, Visit, _Pair | None]]:
    """Yield each visit with the one before, and the versions that they found; None if one did."""
    for before, after in pairwise(visits[-_VISITS - 1 :]):
        if after.time > before.time:
            # A visit may find an older version again, beside one that was stored late.
            changed = (after.changed and not after.known) or after.version != before.version
            yield before, after, (before.version, after.version) if changed else None


def _slight_changes(
    archive: Archive, url: str, visits: Sequence[Visit], rules: RevisitRules
) -> set[Pair]:
    """Return the versions that followed each other with no change that counts between them."""
    if rules.kinds is None:
        return set()
    steps = _steps([visit for visit in visits if is_answer(visit.status)])
    pairs = {(old, new) for _, _, pair in steps if pair for old, new in [pair] if old and new}
    changed = archive.changed_kinds(url, pairs) if pairs else {}
    return {pair for pair, kinds in changed.items() if not kinds & {*rules.kinds, WHOLE}}


def _by_rate(
    intervals: Sequence[tuple[float, bool]], rate: float, rules: RevisitRules, others: int
) -> tuple[float, str]:
    """Return the seconds in which one change is expected, within bounds."""
    changes = sum(change for _, change in intervals)
    before = max(rules.shortest, *(length for length, _ in intervals))
    most = min(rules.longest, rules.growth * before)
    seconds = max(rules.shortest, min(most, 1 / rate if rate > 0 else most))
    chance = 1 - exp(-rate * seconds)
    more = f", at {others} more in nothing that counts" if others else ""
    found = f"Changed at {changes} of {len(intervals)} visits{more}"
    return seconds, f"{found}, {chance:.0%} likely to have changed by then"


def _doubled(seconds: float, times: int, rules: RevisitRules) -> float:
    return max(rules.shortest, min(rules.longest, seconds * 2.0 ** min(times, 60)))


def _trailing(visits: Sequence[Visit], test: Callable[[Visit], bool]) -> int:
    return sum(1 for _ in takewhile(test, reversed(visits)))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times in a row"


def _span(seconds: float) -> str:
    for size, unit in ((DAY, "day"), (3_600.0, "hour"), (60.0, "minute")):
        if seconds >= size:
            number = f"{seconds / size:.1f}".removesuffix(".0")
            return f"{number} {unit}" + ("" if number == "1" else "s")
    return f"{seconds:.0f} seconds"
