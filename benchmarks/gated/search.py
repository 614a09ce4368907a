"""How well each algorithm searches on six stored webs, in the laboratory (search_lab.py).

What is wanted is the topic of each web, or any media where next to no pages are on topic. The area
under recall is a share of the oracle's. The evidence that `learned` and `urlrule` start with was
learnt on these webs among others, so this says whether something changed, and not how they do on
new ones.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean

from _needle_web import NAME, SEEDS, write_needle_webs
from search_lab import measure, webs_of

from gated.row import Row
from mmcrawl.scoring import algorithm_names

WEBS = {
    "insertcredit": "topic",
    "leeao": "topic",
    "geekwhisperers": "topic",
    "ocwexample": "topic",
    "tztvu": "any",
    "strobofm": "any",
}
MEASURES = {"area": "area", "recall": "recall at 20 %"}
NEEDLES = tuple(NAME.format(seed).removesuffix(".test") for seed in SEEDS)
NEEDLE_POSTS = 240
FOCUSED = ("urlrule", "learned")
WEB_BOUND = 0.1  # the mean of the webs is held by 2 %; one page more or less is much of one web


def rows(corpora: Path | None) -> Iterator[Row]:
    """Crawl the webs, those with most pages first, so that all cores end together."""
    algorithms = algorithm_names()
    figures = _measured(corpora, algorithms)
    for key, title in MEASURES.items():
        for algorithm in algorithms:
            values = [figures[web][algorithm][key] for web in WEBS if web in figures]
            whole = len(values) == len(WEBS)
            yield Row(f"{title}, {algorithm}", fmean(values) if whole else None)
    for key, title in MEASURES.items():
        for web in WEBS:
            for algorithm in FOCUSED:
                value = figures[web][algorithm][key] if web in figures else None
                yield Row(f"{title}, {algorithm}, {web}", value, bound=WEB_BOUND)
    for algorithm in FOCUSED:
        found = fmean(figures[web][algorithm]["area"] for web in NEEDLES)
        more = found / fmean(figures[web]["breadth"]["area"] for web in NEEDLES)
        yield Row(f"area / breadth's, {algorithm}, rare media", more, bound=WEB_BOUND)


def _measured(
    corpora: Path | None, algorithms: list[str]
) -> dict[str, dict[str, dict[str, float]]]:
    folders = [corpora / name for name in ("web", "web2")] if corpora else []
    options = {"share": 0.2, "priors": None, "blocks": False}
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(os.cpu_count()) as pool:
        cache, made = Path(scratch, "cache"), Path(scratch, "made")
        cache.mkdir()
        write_needle_webs(made, NEEDLE_POSTS)
        have = [one for one in (*folders, made) if (one / "manifest.json").is_file()]
        webs = {web.name: web for web in webs_of(have, sims=False)}
        wanted = {
            **dict.fromkeys(WEBS, algorithms),
            **{web: ["breadth", *FOCUSED] for web in NEEDLES},
        }
        tasks = [
            pool.submit(measure, webs[name], algos, WEBS.get(name, "any"), cache, **options)
            for name, algos in wanted.items()
            if name in webs
        ]
        done = [task.result() for task in tasks]
    return {row["web"]: row["algorithms"] for row in done}
