"""How fast one crawl by several processes is, beside the same crawl by one of them.

    python benchmarks/shared_crawl.py --workers 4 --rounds 3
    python benchmarks/shared_crawl.py --uri mongodb://HOST --archive --delay 5

A web of equal hosts (`made_web.py`) is served from RAM on the loopback network (`page_server.py`),
and the database runs on the same machine: the server of the tests, started for it, or --uri.
In turn, each with a new database: one worker, and as many as --workers says (as many as there are
cores if it does not); a worker is `scrapy crawl focused -a store=mongodb://... -a job=...` without
AutoThrottle and robots.txt. With --archive the pages are archived in the same database. With
--delay the rounds also have the workers reach the database through `delaying_proxy.py`, and its
count of messages is the number of round trips, the archive's and the drivers' own included.

`pages/s` counts from the first spider_opened to the last spider_closed; CPU is in ms a page, that
of the workers with all they start, and that of the database if it was started here; round trips are
those of the store a page, as the workers' stats have them. All are medians of the rounds, ratios
medians of the rounds' ratios. At the end single processes crawl the same with their stores in
files, with as many requests at once as the workers have together: are the media pages the same, and
what share of them do the shared crawls and these have when 10, 20, ... 100 % of all pages were
fetched?
"""

from __future__ import annotations

import argparse
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import mean, median
from urllib.parse import urlsplit
from uuid import uuid4

from crawl_speed import cpu_seconds
from delaying_proxy import delaying
from made_web import write_web
from page_server import Running, Served, running
from pymongo import MongoClient

from mmcrawl.cluster.store import open_shared_store

PROJECT = Path(__file__).resolve().parent.parent
_STARTER = PROJECT / "tools" / "start_mongodb_server"
_TIME = re.compile(r"'(start|finish)_time': datetime\.datetime\(([0-9, ]+)")
_ROUND_TRIPS = re.compile(r"'mmcrawl/store/round_trips': ([0-9]+)")
_JOB = "bench"
_SHARES = range(10, 101, 10)


@dataclass(frozen=True)
class Database:
    """The server of the shared crawls.

    Attributes:
        uri: without the name of a database.
        process: its number, None if it was not started here.
    """

    uri: str
    process: int | None = None

    def cpu_seconds(self) -> float:
        """Return the CPU time it has used."""
        if self.process is None:
            return float("nan")
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Run:
    """One crawl.

    Attributes:
        seconds: from the first worker's beginning to the last one's end.
        cpu: seconds of the workers.
        database_cpu: seconds of the database.
        round_trips: of the store, as the workers counted them.
        messages: that the proxy counted.
        served: what the crawl was served.
        media: addresses of the media pages.
    """

    seconds: float
    cpu: float
    database_cpu: float
    round_trips: int
    messages: int
    served: Served
    media: frozenset[str]

    @property
    def speed(self) -> float:
        """Pages a second."""
        return self.served.pages / self.seconds

    def each(self, amount: float) -> float:
        """Return an amount for each page."""
        return amount / self.served.pages

    def recall(self) -> list[float]:
        """Return the share of media pages among the first 10, 20, ... 100 % of the pages."""
        order = self.served.order
        media = {url.partition("//")[2] for url in self.media}
        media = {re.sub(r":[0-9]+", "", url) for url in media}
        return [
            len(media.intersection(order[: len(order) * share // 100])) / len(media)
            for share in _SHARES
        ]


# -- crawls -------------------------------------------------------------------------------------


class Laboratory:
    """Where crawls are run."""

    def __init__(
        self, arguments: argparse.Namespace, server: Running, database: Database, folder: Path
    ) -> None:
        self._arguments = arguments
        self._server = server
        self._database = database
        self._folder = folder

    def shared(self, workers: int, delay: float = 0.0) -> Run:
        """Crawl with a number of workers, through a proxy if answers are to be delayed."""
        name = f"shared_crawl_{uuid4().hex[:8]}"
        address = urlsplit(self._database.uri)
        try:
            if not delay:
                return self._measured(f"{self._database.uri}/{name}", workers, lambda: 0)
            with delaying(address.hostname or "", address.port or 27017, delay) as proxy:
                uri = address._replace(netloc=f"127.0.0.1:{proxy.port}").geturl()
                return self._measured(f"{uri}/{name}", workers, proxy.messages)
        finally:
            with MongoClient(self._database.uri) as client:
                client.drop_database(name)

    def single(self, share: int) -> Run:
        """Crawl with one process, a store in a file, and the requests of so many workers."""
        path = self._folder / f"single-{share}.db"
        seconds, cpu, _ = self._run(f"sqlite:///{path}", 1, share)
        with closing(sqlite3.connect(path)) as store:
            media = frozenset(url for (url,) in store.execute("SELECT url FROM media_page"))
        return Run(seconds, cpu, 0.0, 0, 0, self._server.served(), media)

    def _measured(self, store: str, workers: int, messages: Callable[[], int]) -> Run:
        before = self._database.cpu_seconds()
        seconds, cpu, round_trips = self._run(store, workers)
        used = self._database.cpu_seconds() - before
        passed = messages()
        shared = open_shared_store(store, job=_JOB, arguments=None)
        with closing(shared):
            media = frozenset(page.url for page in shared.media_pages())
        return Run(seconds, cpu, used, round_trips, passed, self._server.served(), media)

    def _run(self, store: str, workers: int, share: int = 1) -> tuple[float, float, int]:
        """Run workers to their end; return seconds, CPU seconds and round trips.

        Each has the requests at once of `share` workers.
        """
        before = cpu_seconds()
        command = [sys.executable, "-m", "scrapy", *self._command(store, share)]
        logs = [self._folder / f"worker-{number}.log" for number in range(workers)]
        started = [_start(command, log) for log in logs]
        failed = [log for log, process in zip(logs, started, strict=True) if process.wait()]
        texts = [log.read_text("utf-8") for log in logs]
        times = [_times(text) for text in texts]
        if failed or not all(times):
            raise SystemExit(f"a worker failed:\n{(failed or logs)[0].read_text()[-3000:]}")
        seconds = (max(t["finish"] for t in times) - min(t["start"] for t in times)).total_seconds()
        trips = sum(int(found[1]) for text in texts if (found := _ROUND_TRIPS.search(text)))
        return seconds, cpu_seconds() - before, trips

    def _command(self, store: str, share: int) -> Iterator[str]:
        arguments = self._arguments
        yield from ("crawl", "focused")
        archive = "" if arguments.archive and store.startswith("mongodb") else "none"
        spider = {
            "algo": arguments.algo,
            "keywords": arguments.keywords,
            "seeds": ",".join(self._server.starts),
            "store": store,
            "job": _JOB,
            "max_layer": 0,
            "archive": archive,
        }
        settings = {
            "CONCURRENT_REQUESTS": arguments.concurrency * share,
            "CONCURRENT_REQUESTS_PER_DOMAIN": arguments.concurrency,
            "AUTOTHROTTLE_ENABLED": 0,
            "ROBOTSTXT_OBEY": 0,
            "MMCRAWL_BARREN_PAGES_PER_SHAPE": 0,
            "STATS_DUMP": 1,
        }
        yield from (part for name, value in spider.items() for part in ("-a", f"{name}={value}"))
        yield from (part for name, value in settings.items() for part in ("-s", f"{name}={value}"))
        yield from (part for setting in arguments.set for part in ("-s", setting))


def _start(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        return subprocess.Popen(
            command,
            cwd=PROJECT,
            env={**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )


def _times(log: str) -> dict[str, datetime]:
    found = _TIME.findall(log)
    return {name: datetime(*map(int, numbers.strip(" ,").split(","))) for name, numbers in found}


@contextmanager
def database(uri: str) -> Iterator[Database]:
    """Name the database server, or start one."""
    if uri:
        yield Database(uri.rstrip("/"))
        return
    with tempfile.TemporaryDirectory() as folder:
        start = [sys.executable, str(_STARTER), "start", folder]
        done = subprocess.run(start, stdout=subprocess.PIPE, text=True, check=True)
        try:
            process = int(Path(folder, "pid").read_text().partition("\n")[0])
            yield Database(done.stdout.strip(), process)
        finally:
            subprocess.run([sys.executable, str(_STARTER), "stop", folder], check=True)


# -- report -------------------------------------------------------------------------------------

_COLUMNS: dict[str, Callable[[Run], float]] = {
    "pages": lambda run: run.served.pages,
    "requests": lambda run: run.served.requests,
    "pages/s": lambda run: run.speed,
    "workers' CPU": lambda run: 1000 * run.each(run.cpu),
    "database's": lambda run: 1000 * run.each(run.database_cpu),
    "round trips": lambda run: run.each(run.round_trips),
    "messages": lambda run: run.each(run.messages),
}


def report(runs: dict[str, list[Run]], singles: dict[str, Run], many: str) -> None:
    """Print the tables; `singles` are by the name of the runs they are the peers of."""
    print(f"{'':<22}" + "".join(f"{column:>14}" for column in _COLUMNS))
    files = {f"a file, as {name}": [run] for name, run in singles.items()}
    for name, rounds in (runs | files).items():
        values = [median(map(column, rounds)) for column in _COLUMNS.values()]
        print(f"{name:<22}" + "".join(f"{value:>14.2f}" for value in values))
    for name, rounds in runs.items():
        if name == many or name.endswith("late"):
            base = "1 worker" if name == many else name.removesuffix(", late")
            pairs = zip(rounds, runs[base], strict=True)
            ratios = [ours.speed / theirs.speed for ours, theirs in pairs]
            shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"{name}, against {base}: {median(ratios):.2f} of its pages/s ({shown})")
    _report_finds(runs, singles)


def _report_finds(runs: dict[str, list[Run]], singles: dict[str, Run]) -> None:
    everything = [run for rounds in runs.values() for run in rounds]
    media = singles["1 worker"].media
    same = sum(run.media == media for run in everything)
    print(f"\n{len(media)} media pages; the same ones in {same} of {len(everything)} crawls")
    print("\nmedia pages found, in % of all, when so many % of the pages were fetched")
    _row("", _SHARES, "mean")
    for name, rounds in runs.items():
        alone = singles[name.removesuffix(", late")].recall()
        _row(f"a file, as {name}", _percent(alone), f"{100 * mean(alone):.1f}")
        recall = [median(values) for values in zip(*(run.recall() for run in rounds), strict=True)]
        against = mean(recall) / mean(alone) - 1
        _row(name, _percent(recall), f"{100 * mean(recall):.1f} ({100 * against:+.1f} %)")


def _percent(shares: Sequence[float]) -> list[int]:
    return [round(100 * share) for share in shares]


def _row(name: str, values: Sequence[int], end: str) -> None:
    print(f"{name:<22}" + "".join(f"{value:>6}" for value in values) + f"  {end}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--uri", default="", help="database server; started if it is not named")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=3, help="crawls of each (default 3)")
    parser.add_argument("--archive", action="store_true", help="archive the pages as well")
    parser.add_argument("--delay", type=float, default=0.0, help="ms that answers come later")
    parser.add_argument("--hosts", type=int, default=12)
    parser.add_argument("--pages", type=int, default=3600)
    parser.add_argument("--algo", default="urlrule")
    parser.add_argument("--keywords", default="optics,lens,refraction,prism")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    many = f"{arguments.workers} workers"
    plan = {"1 worker": (1, 0.0), many: (arguments.workers, 0.0)}
    if arguments.delay:
        plan |= {f"{name}, late": (workers, arguments.delay) for name, (workers, _) in plan.items()}
    runs: dict[str, list[Run]] = {name: [] for name in plan}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        hosts = write_web(folder / "web", arguments.hosts, arguments.pages)
        with running(folder / "web", hosts) as server, database(arguments.uri) as there:
            laboratory = Laboratory(arguments, server, there, folder)
            for number in range(arguments.rounds):
                for name in plan if number % 2 == 0 else reversed(plan):
                    runs[name].append(laboratory.shared(*plan[name]))
                    load = " ".join(f"{load:.1f}" for load in os.getloadavg())
                    speed = runs[name][-1].speed
                    print(f"{name}: {speed:.1f} pages/s (load {load})", file=sys.stderr)
            singles = {"1 worker": laboratory.single(1), many: laboratory.single(arguments.workers)}
            report(runs, singles, many)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
