"""What a crawl by several processes costs, beside the same crawl by one of them.

    python benchmarks/shared_crawl.py --workers 1,2 --rounds 3
    python benchmarks/shared_crawl.py --uri mongodb://HOST

A web of equal hosts (`made_web.py`) is served from RAM on the loopback network (`page_server.py`).
In turn, each with a new store: one process with its store in a file (`plain`), and `-a workers=N`
with a file, or a database of the server at --uri, for each N of --workers. All fetch every page,
without AutoThrottle, robots.txt and archive.

`pages/s` counts from the first spider_opened to the last spider_closed. CPU is in ms a page, of all
processes from their start to their end; round trips are those of the store a page, as the workers'
stats have them. `start` is the CPU in ms of a crawl before its first page: each is also made of a
quarter of the pages, and what both cost is taken for a straight line, of which `slope` is the CPU
in ms of one page more. All are medians of the rounds; ratios are medians of the rounds' ratios of
pages per CPU second to the plain crawl's.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from uuid import uuid4

from _crawls import PROJECT, cpu_seconds
from made_web import write_web
from page_server import Running, running
from pymongo import MongoClient

from mmcrawl.cluster.views.found import FoundMedia

_TIME = re.compile(r"'(start|finish)_time': datetime\.datetime\(([0-9, ]+)")
_ROUND_TRIPS = re.compile(r"'mmcrawl/store/round_trips': ([0-9]+)")
_PLAIN = "plain"
_COLUMNS = ("pages", "pages/s", "CPU", "round trips", "start", "slope")


@dataclass(frozen=True)
class Run:
    """One crawl: its pages, seconds, seconds of CPU, round trips, addresses of media pages."""

    pages: int
    seconds: float
    cpu: float
    round_trips: int
    media: frozenset[str]


def crawl(arguments: argparse.Namespace, server: Running, uri: str, workers: int) -> Run:
    """Crawl with a new store of a URI."""
    before = cpu_seconds()
    command = [sys.executable, "-m", "scrapy", *_words(arguments, server, uri, workers)]
    done = subprocess.run(
        command,
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    times = _TIME.findall(done.stderr)
    if done.returncode or not times:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    told = [datetime(*map(int, numbers.strip(" ,").split(","))) for _, numbers in times]
    cpu = cpu_seconds() - before
    media = frozenset(page.url for _, page in FoundMedia(uri).pages())
    trips = sum(map(int, _ROUND_TRIPS.findall(done.stderr)))
    seconds = (max(told) - min(told)).total_seconds()
    return Run(server.served().pages, seconds, cpu, trips, media)


def _words(arguments: argparse.Namespace, server: Running, uri: str, workers: int) -> Iterator[str]:
    yield from ("crawl", "focused")
    spider = {
        "algo": arguments.algo,
        "keywords": "optics,lens,refraction,prism",
        "seeds": ",".join(server.starts),
        "store": uri,
        "max_layer": 0,
        "archive": "none",
    } | ({"workers": workers} if workers else {})
    settings = {
        "CONCURRENT_REQUESTS": arguments.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": arguments.concurrency,
        "AUTOTHROTTLE_ENABLED": 0,
        "ROBOTSTXT_OBEY": 0,
        "MMCRAWL_BARREN_PAGES_PER_SHAPE": 0,
        "STATS_DUMP": 1,
    }
    yield from (word for name, value in spider.items() for word in ("-a", f"{name}={value}"))
    yield from (word for name, value in settings.items() for word in ("-s", f"{name}={value}"))
    yield from (word for setting in arguments.set for word in ("-s", setting))


def crawls(
    arguments: argparse.Namespace, pages: int, plan: dict[str, int]
) -> Iterator[tuple[str, Run]]:
    """Yield the crawls of all rounds of a web of some pages, with the names of the plan."""
    with tempfile.TemporaryDirectory() as place:
        hosts = write_web(Path(place, "web"), arguments.hosts, pages)
        with running(Path(place, "web"), hosts) as server:
            for number in range(arguments.rounds):
                for name in [*plan] if number % 2 == 0 else [*reversed(plan)]:
                    token = uuid4().hex[:8]
                    uri = f"sqlite:///{place}/{token}.db"
                    if arguments.uri and plan[name]:
                        uri = f"{arguments.uri.rstrip('/')}/shared_crawl_{token}"
                    run = crawl(arguments, server, uri, plan[name])
                    load = os.getloadavg()[0]
                    shown = f"{1000 * run.cpu / run.pages:.2f} ms of CPU a page, load {load:.1f}"
                    print(f"{name}, {run.pages} pages: {shown}", file=sys.stderr)
                    yield name, run
                    if arguments.uri and plan[name]:
                        with closing(MongoClient(arguments.uri)) as client:
                            client.drop_database(f"shared_crawl_{token}")


def report(large: dict[str, list[Run]], small: dict[str, list[Run]]) -> None:
    """Print the table."""
    print(f"{'':<12}" + "".join(f"{column:>13}" for column in _COLUMNS) + f"{'ratio':>13}")
    for name, runs in large.items():
        slopes = [
            1000 * (many.cpu - few.cpu) / (many.pages - few.pages)
            for many, few in zip(runs, small[name], strict=True)
        ]
        starts = [
            1000 * few.cpu - slope * few.pages
            for few, slope in zip(small[name], slopes, strict=True)
        ]
        values = (
            median(run.pages for run in runs),
            median(run.pages / run.seconds for run in runs),
            median(1000 * run.cpu / run.pages for run in runs),
            median(run.round_trips / run.pages for run in runs),
            median(starts),
            median(slopes),
        )
        ratios = [
            base.cpu / base.pages / (run.cpu / run.pages)
            for run, base in zip(runs, large[_PLAIN], strict=True)
        ]
        shown = "".join(f"{value:>13.2f}" for value in (*values, median(ratios)))
        print(f"{name:<12}{shown}   ({', '.join(f'{ratio:.2f}' for ratio in ratios)})")
    same = len({run.media for runs in large.values() for run in runs}) == 1
    print(f"the same media pages in all crawls: {'yes' if same else 'no'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--uri", default="", help="database server; a file if it is not named")
    parser.add_argument("--workers", default="1", help="numbers of workers (default 1)")
    parser.add_argument("--rounds", type=int, default=3, help="crawls of each (default 3)")
    parser.add_argument("--hosts", type=int, default=12)
    parser.add_argument("--pages", type=int, default=1600)
    parser.add_argument("--algo", default="urlrule")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    plan = {_PLAIN: 0} | {f"workers={n}": int(n) for n in arguments.workers.split(",")}
    large: dict[str, list[Run]] = {name: [] for name in plan}
    small: dict[str, list[Run]] = {name: [] for name in plan}
    for runs, pages in ((small, arguments.pages // 4), (large, arguments.pages)):
        for name, run in crawls(arguments, pages, plan):
            runs[name].append(run)
    report(large, small)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
