"""How focused a real crawl is, and how fast, at several latencies, beside the laboratory.

    python benchmarks/focus.py FOLDER --webs insertcredit,tztvu --latency 0,50,300,1000 \\
        --hosts 1,50 --modes off,on,pipeline --keep

A stored web is served on the loopback network by another process (`page_server.py`), with answers
that come so many milliseconds later; with `--hosts 50` its pages are divided among 50 addresses.
The web is crawled by `scrapy crawl focused` as it is, with AutoThrottle and all defaults but for
robots.txt and the display; `--set NAME=VALUE` changes a setting. `on` is with blocks and the
archive, `off` without, `pipeline` is `off` with a pipeline that waits half a second for each page.

What is relevant says a crawl of the whole by `breadth`. `laboratory` is a crawl with the settings
of experiments, one page at a time and without latency; its area is what the others are to reach.
The area under recall is a share of the oracle's. pages/s counts from spider_opened to
spider_closed. Crawls whose window does not bound what is under way take turns with those as users
make them, and the ratio of speeds is the median over the rounds. Where latency is no more than
50 ms, the CPU is the bound and other processes disturb: look at the ratios. `--keep` puts the rows
into `results/focus.md`, in the place of those measured before.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from gate import source
from page_server import Running, running

from mmcrawl.experiment.crawl import CrawlProcess, read_pages
from mmcrawl.experiment.measures import area_share, found_after
from mmcrawl.experiment.truth import Truth, truth_of

PROJECT = Path(__file__).resolve().parent.parent
_ELAPSED = re.compile(r"'elapsed_time_seconds': ([0-9.]+)")
_SHARE = 0.2
_LOOPBACK = {"ROBOTSTXT_OBEY": "0", "MMCRAWL_PRIVATE_NETWORKS": "1"}
_UNBOUNDED = {"MMCRAWL_PAGES_UNDER_WAY": "1000000"}
KEPT = PROJECT / "benchmarks" / "results" / "focus.md"
HEAD = """# How focused and how fast crawls are

`python benchmarks/focus.py --keep` writes these rows: area under recall · recall at 20 % of the
pages, and pages/s, of `urlrule` one page at a time (laboratory), without the window that bounds
pages under way, and as users crawl.

| web | hosts | blocks, archive | ms | laboratory | no window | window | pages/s, ratio | measured |
|---|---|---|---|---|---|---|---|---|
"""


class WaitingPipeline:
    """A pipeline as users have them, that waits for something else for each page."""

    async def process_item(self, item: Any) -> Any:
        """Return the item after half a second."""
        await asyncio.sleep(0.5)
        return item


@dataclass(frozen=True)
class Result:
    """Area under recall, recall at 20 % of the pages, pages, and pages a second."""

    area: float
    recall: float
    pages: int
    speed: float = 0.0


@dataclass(frozen=True)
class Task:
    """A web under way on the loopback network, and what is looked for."""

    web: str
    server: Running
    truth: Truth
    arguments: dict[str, str]

    def judged(self, store: Path, seconds: float = 0.0) -> Result:
        """Return what a crawl came to."""
        pages, wanted, number = read_pages(store), len(self.truth.relevant), len(self.truth)
        series = self.truth.judge(map(self.truth.kind, pages))
        after = max(1, round(_SHARE * number))
        share = area_share(series, self.truth.best, wanted, number) or 0.0
        recall = found_after(series, after)[after] / wanted if wanted else 0.0
        return Result(share, recall, len(pages), len(pages) / seconds if seconds else 0.0)

    def crawl(self, folder: Path, settings: dict[str, str], mode: str) -> Result:
        """Crawl as a user does."""
        store = folder / "crawl.db"
        arguments = {**self.arguments, "store": f"sqlite:///{store}"}
        settings = _LOOPBACK | {"MMCRAWL_DISPLAY": "0", "STATS_DUMP": "1"} | settings
        if mode != "on":
            arguments["archive"], settings["MMCRAWL_BLOCKS"] = "none", "off"
        if mode == "pipeline":
            settings["ITEM_PIPELINES"] = json.dumps({"focus.WaitingPipeline": 500})
        command = [sys.executable, "-m", "scrapy", "crawl", "focused"]
        command += [word for n, v in arguments.items() for word in ("-a", f"{n}={v}")]
        command += [word for n, v in settings.items() for word in ("-s", f"{n}={v}")]
        done = subprocess.run(
            command,
            cwd=PROJECT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), sys.path[0]])},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        elapsed = _ELAPSED.search(done.stderr)
        if done.returncode or elapsed is None:
            raise SystemExit(f"a crawl failed:\n{done.stderr[-2000:]}")
        return self.judged(store, float(elapsed[1]))


def laboratory(arguments: dict[str, str], base: Path, *, on: bool = False) -> Path:
    """Crawl one page at a time; return the store."""
    blocks = {"MMCRAWL_BLOCKS": "bwap"} if on else {}
    slow = _LOOPBACK | {"AUTOTHROTTLE_ENABLED": "0", "DOWNLOAD_DELAY": "0"}
    run = CrawlProcess(base, arguments, slow | blocks)
    while not run.ended():
        time.sleep(0.1)
    return run.files.store


@contextmanager
def serving(folder: Path, host: str, hosts: int) -> Iterator[Task]:
    """Serve a web, and crawl all of it."""
    about = json.loads((folder / "manifest.json").read_text("utf-8"))[host]
    with running(folder, [host], spread=hosts) as server, tempfile.TemporaryDirectory() as scratch:
        given = {"seeds": server.starts[0]}
        words = about.get("topic", "")
        given |= {"keywords": words} if words else {"topic": "physics-senior"}
        if hosts > 1:
            given["sites"] = "anywhere"
        truth = truth_of(laboratory(given | {"algo": "breadth"}, Path(scratch) / "truth"))
        yield Task(host.removesuffix(".test"), server, truth, given)


def measure(task: Task, options: argparse.Namespace, hosts: int) -> Iterator[str]:
    """Yield the rows of a web."""
    settings = dict(pair.split("=", 1) for pair in options.set)
    for mode in options.modes.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            task.server.delay(0)
            lab = task.judged(laboratory(task.arguments, Path(scratch) / "lab", on=mode == "on"))
        for latency in map(float, options.latency.split(",")):
            task.server.delay(latency)
            runs: list[list[Result]] = [[], []]
            for number in range(options.rounds if latency <= options.quick else 1):
                for bounded in (True, False) if number % 2 else (False, True):
                    with tempfile.TemporaryDirectory() as scratch:
                        given = settings if bounded else settings | _UNBOUNDED
                        runs[bounded].append(task.crawl(Path(scratch), given, mode))
            cells = [task.web, f"{hosts}", mode, f"{latency:g}"]
            cells += [f"{lab.area:.2f} · {lab.recall:.0%}", *_compared(runs)]
            yield f"| {' | '.join(cells)} |"


def _compared(runs: list[list[Result]]) -> Iterator[str]:
    for rounds in runs:
        area, recall = mean(run.area for run in rounds), mean(run.recall for run in rounds)
        speed, pages = median(run.speed for run in rounds), rounds[-1].pages
        yield f"{area:.2f} · {recall:.0%} · {speed:.1f} ({pages})"
    ratios = [own.speed / other.speed for other, own in zip(*runs, strict=True)]
    yield f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def keep(row: str) -> None:
    """Put a row into the kept table, in the place of an earlier one of the same crawl."""
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # others measure other rows
        file.seek(0)
        body = file.read().partition("|---|\n")[2].splitlines()
        rows = {tuple(line.split(" | ")[:4]): line for line in [*body, f"{row} {source()} |"]}
        file.truncate(0)
        file.write(HEAD + "".join(f"{rows[key]}\n" for key in sorted(rows)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="+", help="folders of stored sites")
    parser.add_argument("--webs", help="names of webs, separated by commas (default: all)")
    parser.add_argument("--latency", default="0,50,300,1000", help="milliseconds")
    parser.add_argument("--hosts", default="1", help="how many addresses a web is divided among")
    parser.add_argument("--modes", default="off,on", help="of off, on, pipeline")
    parser.add_argument("--rounds", type=int, default=3, help="of the quick latencies (default 3)")
    parser.add_argument("--quick", type=float, default=50, help="latencies crawled several times")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--keep", action="store_true", help="put the rows into the kept table")
    options = parser.parse_args()
    found = {
        host.removesuffix(".test"): (folder, host)
        for folder in options.folder
        for host in json.loads((folder / "manifest.json").read_text("utf-8"))
    }
    webs = options.webs.split(",") if options.webs else [*found]
    if unknown := [web for web in webs if web not in found]:
        parser.error(f"there is no web {unknown[0]}; there are {', '.join(found)}")
    print(HEAD[HEAD.index("|") :], end="")
    for web in webs:
        for hosts in map(int, options.hosts.split(",")):
            with serving(*found[web], hosts) as task:
                for row in measure(task, options, hosts):
                    print(row, flush=True)
                    if options.keep:
                        keep(row)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
