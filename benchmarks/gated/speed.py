"""How fast a crawl is with neither archive nor blocks, with each, and with both.

Ratios are to a plain Scrapy spider that crawls the same site in turn; of each the fastest round
counts, as what else a machine does only slows. By the clock from spider_opened to spider_closed; of
CPU for the whole process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from _crawls import Run

from gated.row import Row
from gated.served import KINDS, runs

CLOCK_BOUND, CPU_BOUND = 0.15, 0.10  # see the README
_MEASURES: dict[str, tuple[Callable[[Run], float], float]] = {
    "by the clock": (lambda run: run.speed, CLOCK_BOUND),
    "of CPU": (lambda run: run.speed_of_cpu, CPU_BOUND),
}


def rows(corpora: Path | None) -> Iterator[Row]:
    """Crawl a site some times each way."""
    rounds = runs(corpora)

    def best(kind: str, speed: Callable[[Run], float]) -> float:
        return max(speed(one[kind]) for one in rounds)

    for title, (speed, bound) in _MEASURES.items():
        for kind in KINDS:
            value = best(kind, speed) / best("plain", speed) if rounds else None
            yield Row(f"pages/s / plain spider's, {title}, {kind}", value, bound=bound)
    for title, (speed, _) in _MEASURES.items():
        for kind in ("plain", *KINDS):
            value = best(kind, speed) if rounds else None
            yield Row(f"pages/s, {title}, {kind}", value, bound=None)
