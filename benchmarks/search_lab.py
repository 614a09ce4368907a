"""How well each algorithm searches, on all stored webs at once, without Scrapy.

The real job, scorers, topic test and oracle; only the fetching is short: a page of a web is parsed
once and kept in a cache. One process a web and algorithm, side by side on the cores.

    python benchmarks/search_lab.py /tmp/lab FOLDER… --algos breadth,urlrule,learned --task any

A FOLDER holds a folder for each site and the `manifest.json` that says where it starts and what it
is about. `--sims` adds a grid of simulated webs (`GRID`).

Tasks: `topic`, the words that the manifest gives; `any`, any media of the web's own (a page counts
whatever it is about). What is printed for each web: pages, relevant pages, the area under recall as
a share of the oracle's, recall after 20 % of the pages (`--share`), the area under the recall of
distinct media instead of pages, and CPU time a page. Algorithms are given with parameters as to
`scrapy experiment`: `urlrule:lift=0;s=0`. `--priors FOLDER` takes the weights of the evidence for
each web from FOLDER/WEB.json: those that the other webs give (tools/train_search_prior.py).
`--blocks` cuts the pages into blocks, so that links know in what kind of block they stand; a page
is cut once and that is kept as well. `breadth:links=related` follows no links off topic then.

`--together` adds one crawl of all the sites at once, which begins at the start pages of all, for
the task `any`: with `--share 0.1` its recall beside that of each site alone says what it costs, or
brings, to divide a budget among sites by what is learnt.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import mean
from unittest.mock import patch

from _lab_pages import Pages
from scrapy.settings import Settings

from mmcrawl.crawl.params import FocusedParams
from mmcrawl.crawl.protocol import FetchedPage
from mmcrawl.engine.crawls import make_job
from mmcrawl.experiment.crawl import StoredPage
from mmcrawl.experiment.measures import area_share, found_after
from mmcrawl.experiment.plan import ExperimentError, algorithms_of
from mmcrawl.experiment.truth import truth_of
from mmcrawl.frontier.records import NewLink
from mmcrawl.page.urls import physical_layer, resource_key
from mmcrawl.replay.handler import replay_settings
from mmcrawl.scoring.base import Scorer
from mmcrawl.scoring.evidence import prior_of
from mmcrawl.scoring.prospects import Prospects
from mmcrawl.scoring.registry import algorithm_names, make_scorer

ScorerMaker = Callable[..., Scorer]
GRID = (
    "",
    "adjacency=0",
    "adjacency=0.5",
    "adjacency=1",
    "tunnel=0",
    "tunnel=6",
    "media=0.03",
    "noise=0.8",
    "dynamic=1,banner=1",
    "sites=12",
    "media=0.01",
    "flat=1,media=0.01",
    "flat=1,media=0.03,menu=300",
)


@dataclass(frozen=True)
class Web:
    """A stored web: where it is, and what is looked for there by the task `topic`."""

    name: str
    spec: str
    start: str
    words: str
    parts: tuple["Web", ...] = ()

    def arguments(self, algo: str, task: str, store: str) -> dict[str, str]:
        """Return the spider arguments of a crawl."""
        [named] = algorithms_of(algo, algorithm_names())
        given = {"algo": named.name, **named.parameters}
        given |= {"web": self.spec, "store": store, "archive": "none"}
        if self.start:
            given["seeds"] = self.start
        if task == "any":
            return given | {"keywords": "*"}
        return given | ({"keywords": self.words} if self.words else {"topic": "physics-senior"})


@dataclass
class Run:
    """A crawl: its pages in order, and for each the keys of its own media if it counted."""

    pages: list[StoredPage]
    media: list[frozenset[str]]
    seconds: float


@lru_cache(maxsize=1)
def _pages(web: Web, cache: Path) -> Pages:
    """Return the pages of a web; they are read once for all algorithms."""
    pages = Pages(web.spec, web.name, cache)
    for part in web.parts:
        pages.add(Pages(part.spec, part.name, cache))
    return pages


def crawl(
    web: Web,
    algo: str,
    task: str,
    cache: Path,
    *,
    store: str = "memory:",
    scorer: ScorerMaker = make_scorer,
    blocks: bool = False,
    most: int | None = None,
) -> Run:
    """Crawl all of a web, or some pages."""
    pages = _pages(web, cache)
    settings = Settings()
    settings.setmodule("mmcrawl.settings")
    settings.setdict(replay_settings(web.spec), priority="spider")
    args = FocusedParams.model_validate(web.arguments(algo, task, store))
    with patch("mmcrawl.crawl.setup.make_scorer", scorer):
        job = make_job(args, settings, pages.web)
    done: list[StoredPage] = []
    media: list[frozenset[str]] = []
    begun = time.process_time()
    while most is None or len(done) < most:
        link = job.next()
        if link is None:
            if job.interrupted:
                continue
            break
        kind, *answer = pages.get(link.url)
        if kind == "redirect":
            job.redirected(link.id, _link_to(answer[0], link.logical_layer))
        elif kind == "error":
            job.failed(link.id, answer[0])
        else:
            page, digest = answer
            verdict = job.judge(page, digest)
            page = pages.in_blocks(page) if blocks else page
            relevant = job.crawled(link.id, FetchedPage(page, 200, digest, verdict))
            done.append(StoredPage(link.id, page.url, relevant, digest, physical_layer(page.url)))
            found = {resource_key(resource.url) for resource in verdict.media if relevant}
            media.append(frozenset(found))
    seconds = time.process_time() - begun
    job.stop("finished", finished=True)
    job.close()
    pages.keep()
    return Run(done, media, seconds)


def _link_to(url: str, layer: int) -> NewLink:
    # Scrapy asks for the targets of redirects first (REDIRECT_PRIORITY_ADJUST).
    return NewLink(url=url, logical_layer=layer, physical_layer=physical_layer(url), priority=2)


def measure(
    web: Web,
    algos: list[str],
    task: str,
    cache: Path,
    *,
    share: float,
    priors: Path | None,
    blocks: bool,
) -> dict:
    """Return what each algorithm did on a web."""
    if priors is not None:
        weights = json.loads((priors / f"{web.name}.json").read_text(encoding="utf-8"))
        Prospects.prior = prior_of(weights)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "truth.db"
        whole = crawl(web, "breadth", task, cache, store=f"sqlite:///{store}")
        truth = truth_of(store)
    wanted, number = len(truth.relevant), len(truth)
    all_media = frozenset().union(*whole.media)
    best, after = truth.best, max(1, round(share * number))
    within_reach = found_after(best, after)[after]
    row = {"web": web.name, "pages": number, "relevant": wanted, "media": len(all_media)}
    row["algorithms"] = {}
    for algo in algos:
        run = (
            whole
            if algo == "breadth" and not blocks
            else crawl(web, algo, task, cache, blocks=blocks)
        )
        series = truth.judge(map(truth.kind, run.pages))
        found = found_after(series, after)[after]
        row["algorithms"][algo] = {
            "area": area_share(series, best, wanted, number),
            "recall": found / wanted if wanted else None,
            "of_oracle": found / within_reach if within_reach else None,
            "media": _media_area(run.media, all_media, number),
            "found": found_after(series, number)[number] / wanted if wanted else None,
            "fetched": len(run.pages) / number,
            "ms_a_page": 1000 * run.seconds / max(len(run.pages), 1),
        }
    return row


def _media_area(media: list[frozenset[str]], wanted: frozenset[str], pages: int) -> float | None:
    """Return the area under the recall of distinct media, in [0, 1]."""
    if not wanted:
        return None
    seen: set[str] = set()
    found = [len(seen) for keys in media if not seen.update(keys & wanted)][:pages]
    found += [found[-1] if found else 0] * (pages - len(found))
    return mean(found) / len(wanted)


def webs_of(folders: list[Path], *, sims: bool) -> list[Web]:
    """Return the sites of some folders, each as a web of its own, and the simulated ones."""
    webs = []
    for folder in folders:
        try:
            manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            sys.exit(f"{folder} is no folder of stored sites: it has no manifest.json")
        webs += [
            Web(host.removesuffix(".test"), str(folder), about["start"], about.get("topic", ""))
            for host, about in manifest.items()
        ]
    for change in GRID if sims else ():
        spec = ",".join(filter(None, ("sim:pages=3000,seed=2026", change)))
        webs.append(Web(f"sim {change}".strip(), spec, "", ""))
    return webs


def together(webs: list[Web]) -> Web:
    """Return one web of all the stored ones."""
    parts = tuple(web for web in webs if web.start)
    spec = "portal:" + ";".join(dict.fromkeys(part.spec for part in parts))
    return Web("together", spec, ",".join(part.start for part in parts), "", parts)


def table(rows: list[dict], algos: list[str], measure_name: str) -> None:
    """Print one measure of all webs as Markdown, with the mean over those that have any."""
    print("| web | pages | relevant | media |", " | ".join(algos), "|")
    print("|---" * (4 + len(algos)) + "|")
    columns: dict[str, list[float]] = {algo: [] for algo in algos}
    for row in rows:
        cells = []
        for algo in algos:
            value = row["algorithms"][algo][measure_name]
            cells.append("" if value is None else f"{value:.2f}")
            columns[algo] += [] if value is None else [value]
        about = f"| {row['web']} | {row['pages']} | {row['relevant']} | {row['media']} |"
        print(about, " | ".join(cells), "|")
    print("| mean | | | |", " | ".join(f"{mean(columns[algo] or [0]):.3f}" for algo in algos), "|")


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=Path, help="folder for parsed pages")
    parser.add_argument("folders", nargs="*", type=Path, help="folders of stored sites")
    parser.add_argument("--sims", action="store_true", help="simulated webs too")
    parser.add_argument("--together", action="store_true", help="all sites in one crawl too")
    parser.add_argument("--algos", default="breadth,urlrule,learned", help="or all")
    parser.add_argument("--task", choices=("topic", "any"), default="topic")
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--only", default="", help="names of webs, parted by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--priors", type=Path, help="folder of weights, a file a web")
    parser.add_argument("--blocks", action="store_true", help="links know their blocks")
    parser.add_argument("--json", type=Path, help="write all that was measured here")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    webs = webs_of(args.folders, sims=args.sims)
    if args.only:
        webs = [web for web in webs if web.name in args.only.split(",")]
    if not webs:
        parser.error("there is no web of that name in these folders; give others, or --sims")
    if args.together and args.task != "any":
        parser.error("sites with topics of their own cannot be crawled together; give --task any")
    webs += [together(webs)] if args.together else []
    algos = [*algorithm_names()] if args.algos == "all" else args.algos.split(",")
    try:
        algorithms_of(",".join(algos), algorithm_names())
    except ExperimentError as error:
        parser.error(str(error))
    if args.priors and (
        left := [w.name for w in webs if not (args.priors / f"{w.name}.json").is_file()]
    ):
        parser.error(f"{args.priors} has no weights for {', '.join(left)}")
    options = {"share": args.share, "priors": args.priors, "blocks": args.blocks}
    begun = time.monotonic()
    with ProcessPoolExecutor(max(1, args.jobs)) as pool:
        tasks = [pool.submit(measure, web, algos, args.task, args.cache, **options) for web in webs]
        rows = [task.result() for task in tasks]
    titles = {
        "media": "Area under the recall of distinct media",
        "area": "Area under recall of pages, as a share of the oracle's",
        "recall": f"Recall after {args.share:.0%} of the pages",
        "of_oracle": "The same as a share of the oracle's",
        "ms_a_page": "CPU, ms a page",
    }
    if any("links=" in algo for algo in algos):
        titles |= {"found": "Recall at the end", "fetched": "Share of the pages fetched"}
    for name, title in titles.items():
        print(f"\n{title}, task {args.task}\n")
        table(rows, algos, name)
    print(f"\n{time.monotonic() - begun:.0f} s", file=sys.stderr)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
