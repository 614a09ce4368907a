"""How well `urlrule` searches in three real crawls: by Scrapy, of a server that answers at once.

Every page of a site is fetched in the end, so a crawl is judged by what it found itself: the area
under recall, as a share of the oracle's, and recall at 20 % of its pages. Which page comes first
depends on timing a little, hence the bounds; the mean of two crawls of each site counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from _crawls import focused

from gated.row import Row
from gated.served import site
from mmcrawl.experiment.crawl import read_pages
from mmcrawl.experiment.measures import area_share, found_after
from mmcrawl.experiment.truth import truth_of

SITES = ("insertcredit.test", "geekwhisperers.test", "leeao.test")
TIMES = 2
BOUND = 0.05  # see the README


def rows(corpora: Path | None) -> Iterator[Row]:
    """Crawl each of the sites."""
    for host in SITES:
        name = host.removesuffix(".test")
        with site(corpora, host) as served:
            found = []
            for _ in range(TIMES if served else 0):
                assert served is not None
                with tempfile.TemporaryDirectory() as folder:
                    focused(served[1], served[0], Path(folder))
                    found.append(judged(Path(folder) / "crawl.db"))
        area, recall = map(fmean, zip(*found, strict=True)) if found else (None, None)
        yield Row(f"area, urlrule, {name}", area, bound=BOUND)
        yield Row(f"recall at 20 %, urlrule, {name}", recall, bound=BOUND)


def judged(store: Path) -> tuple[float, float]:
    """Return area and recall at 20 % of a crawl that fetched all there is."""
    truth, pages = truth_of(store), read_pages(store)
    wanted, number = len(truth.relevant), len(truth)
    series = truth.judge(map(truth.kind, pages))
    after = max(1, round(0.2 * number))
    area = area_share(series, truth.best, wanted, number)
    if area is None:
        raise SystemExit(f"{store}: a crawl found no page on its topic, so it cannot be judged")
    return area, float(found_after(series, after)[after] / wanted)
