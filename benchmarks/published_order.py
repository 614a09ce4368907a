"""When the order of the algorithms that Yang 2009 published appears, on simulated webs.

    python benchmarks/published_order.py [--pages 1200] [--seeds 10] [--jobs 2]

Table 5-6 has recall by URL rules > improved Shark-Search > Topic-PageRank, after 21, 29 and 36 % of
the breadth-first crawl's pages. Here each algorithm of `--preset yang2009` crawls simulated webs up
to these shares, `urlrule-2009` with several NUM(2). For each kind of web: the mean recall; on how
many webs a pattern was learnt and on how many URL rules are first; and on how many the published
order appears. Nothing is fitted: the kinds are a grid of sizes of sites and tunnels, and a few that
differ from one of them in one thing. About 5 CPU seconds a web.
"""

import argparse
import logging
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from unittest.mock import patch

from _lab_pages import Pages
from search_lab import Web, crawl

from mmcrawl.experiment.measures import pages_at_share
from mmcrawl.experiment.presets.yang2009 import FOCUSED, PUBLISHED
from mmcrawl.replay.simulated import SimulatedWeb, SimulationConfig

NUM2 = (5, 18, 60)
RULES = tuple(f"URL rules, NUM(2) {number}" for number in NUM2)
SHARES = {label: one.pages / PUBLISHED["breadth"].pages for label, one in PUBLISHED.items()}
BASE = {"sites": "5", "media": "0.041", "adjacency": "1", "tunnel": "0"}
KINDS = {
    "5 sites": "",
    "5 sites, a tunnel": "tunnel=1",
    "2 sites": "sites=2",
    "2 sites, a tunnel": "sites=2,tunnel=1",
    "media on 15 %": "media=0.15",
    "media on 15 %, a tunnel": "media=0.15,tunnel=1",
    "media on 2 %": "media=0.02",
    "media on 2 %, a tunnel": "media=0.02,tunnel=1",
    "half of the media anywhere, a tunnel": "adjacency=0.5,tunnel=1",
    "80 % of directories on topic": "topic=0.8",
    "80 % of directories on topic, a tunnel": "topic=0.8,tunnel=1",
}
"""Webs by name, as changes to `BASE`: those without more are 5 sites, media on 4.1 %, no tunnel."""


@dataclass(frozen=True)
class Found:
    """What a crawl came to: recall, and whether it learnt a pattern."""

    recall: float
    learnt: bool = False


def spec(changes: str, pages: int, seed: int) -> str:
    """Return the web of some changes to `BASE`."""
    given = {**BASE, **dict(pair.split("=") for pair in changes.split(",") if pair)}
    return f"pages={pages},seed={seed}," + ",".join(f"{k}={v}" for k, v in given.items())


def crawls_of(web: str) -> dict[str, Found]:
    """Return what each algorithm finds on a web, after its share of the pages."""
    logging.disable(logging.CRITICAL)  # sites without a pattern are told
    config = SimulationConfig.parse(web)
    wanted = SimulatedWeb(config).relevant_urls()
    crawls = {"breadth": ("breadth", SHARES["urlrule-2009"])}
    for one in FOCUSED:
        for number in NUM2 if one.name == "urlrule-2009" else (0,):
            given = dict(one.parameters) | ({"num2": f"{number}"} if number else {})
            named = f"{one.name}:{';'.join(f'{k}={v}' for k, v in given.items())}"
            label = f"URL rules, NUM(2) {number}" if number else one.label
            crawls[label] = named, SHARES[one.label]
    found = {}
    with tempfile.TemporaryDirectory() as folder, patch.object(Pages, "keep"):
        for label, (named, share) in crawls.items():
            most = pages_at_share(config.pages, share)
            run = crawl(Web("sim", f"sim:{web}", "", ""), named, "topic", Path(folder), most=most)
            relevant = wanted & {page.url for page in run.pages}
            found[label] = Found(len(relevant) / len(wanted), bool(run.patterns))
    return found


def row(name: str, webs: Sequence[dict[str, Found]]) -> str:
    """Return a row of the table."""
    cells = [name, *(f"{mean(web[label].recall for web in webs):.2f}" for label in webs[0])]
    counts = []
    for rules in RULES:
        others = [max(o.recall for k, o in web.items() if k not in RULES) for web in webs]
        first = [web[rules].recall > other for web, other in zip(webs, others, strict=True)]
        ordered = [
            web[rules].recall > web["shark-improved"].recall > web["topicrank"].recall
            for web in webs
        ]
        counts.append((sum(web[rules].learnt for web in webs), sum(first), sum(ordered)))
    cells += [" / ".join(map(str, column)) for column in zip(*counts, strict=True)]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1200, help="of a web")
    parser.add_argument("--seeds", type=int, default=10, help="webs of each kind")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    args = parser.parse_args()
    counted = "a pattern is learnt", "rules first", "the order"
    head = ["web", "breadth", *(one.label for one in FOCUSED[:-1]), *RULES, *counted]
    print(f"| {' | '.join(head)} |", "|---" * len(head) + "|", sep="\n", flush=True)
    with ProcessPoolExecutor(args.jobs) as pool:
        tasks = {
            name: [
                pool.submit(crawls_of, spec(changes, args.pages, seed))
                for seed in range(1, args.seeds + 1)
            ]
            for name, changes in KINDS.items()
        }
        for name, of_kind in tasks.items():
            print(row(name, [task.result() for task in of_kind]), flush=True)


if __name__ == "__main__":
    main()
