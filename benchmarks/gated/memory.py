"""The most memory that crawls take, with the processes they start, beside a plain Scrapy spider.

The crawls are those of the group `speed`. Memory that processes share counts once (PSS).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from gated.row import Row
from gated.served import KINDS, runs

BOUND = 0.05  # see the README


def rows(corpora: Path | None) -> Iterator[Row]:
    """Take what the crawls came to, and make them if they were not yet."""
    rounds = runs(corpora)
    for kind in KINDS:
        ratios = [one[kind].memory / one["plain"].memory for one in rounds]
        yield Row(
            f"memory / plain spider's, {kind}", median(ratios) if ratios else None, "less", BOUND
        )
    for kind in ("plain", *KINDS):
        most = median(one[kind].memory for one in rounds) if rounds else None
        yield Row(f"memory in MB, {kind}", most, "less", bound=None)
