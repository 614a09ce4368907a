"""A shared store in RAM, workers that take their steps one after another, and a web for them.

Time is simulated: it stands still while anything is done, and passes between the steps.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import TypeVar

from mmcrawl.crawling import CrawlParts, FetchedPage
from mmcrawl.frontier import Job, Limits, MediaPageRecord, WaitingLink
from mmcrawl.page import parse_page
from mmcrawl.scoring import PinnedRules, default_parameters
from mmcrawl.cluster import Rules, SharedJob, SharedStore, name_of
from mmcrawl.stores import Row
from mmcrawl.topic import topic_from_keywords

JOB = "job"

_R = TypeVar("_R")


class Crash(BaseException):
    """A worker's process ends here."""


class MemoryStore(SharedStore):
    """The shared store of a job in RAM: its documents, and nothing of a connection.

    Attributes:
        tables: documents by their keys, by table.
        before: called before each operation with its name and that of the table; may raise.
        again: asked after each single write, likewise, whether its answer was lost.
        operations: how many there were, by name.
    """

    def __init__(self, tables: dict[str, dict[str, Row]] | None = None) -> None:
        self._prefix = JOB
        self._job = Job(0, JOB, {}, None, "")
        self.tables = defaultdict(dict) if tables is None else tables
        self.before: Callable[[str, str], object] = lambda operation, table: None
        self.again: Callable[[str, str], bool] = lambda operation, table: False
        self.operations: Counter[str] = Counter()
        self.aside: list[tuple[str, str, str]] = []
        self.reason = ""

    @property
    def uri_shown(self) -> str:
        return "memory"

    def _begin(self, operation: str, table: str) -> dict[str, Row]:
        self.before(operation, table)
        self.operations[operation] += 1
        return self.tables[table]

    def _write(self, operation: str, table: str, act: Callable[[dict[str, Row]], _R]) -> _R:
        """Do a single write, once more each time that its answer is lost; return the last one."""
        result = act(self._begin(operation, table))
        while self.again(operation, table):
            result = act(self.tables[table])
        return result

    def one(self, table: str, name: str) -> Row | None:
        return copy.deepcopy(self._begin("one", table).get(self.key(name)))

    def some(self, table: str, names: Collection[str]) -> dict[str, Row]:
        documents = self._begin("some", table)
        return {key: documents[key] for key in map(self.key, names) if key in documents}

    def all(self, table: str) -> list[Row]:
        return [dict(row) for _, row in sorted(self._begin("all", table).items())]

    def at(self, table: str, parts: Collection[int]) -> list[Row]:
        places = {f"{JOB}/{name_of(part)}" for part in parts}
        rows = sorted(self._begin("at", table).items())
        return [dict(row) for _, row in rows if row["at"] in places]

    def insert(self, table: str, rows: Sequence[Row]) -> set[str]:
        def act(documents: dict[str, Row], row: Row) -> bool:
            if row["_id"] in documents:
                return False
            self.inserted(table, row)
            documents[row["_id"]] = dict(row)
            return True

        return {
            row["_id"] for row in rows if not self._write("insert", table, partial(act, row=row))
        }

    def inserted(self, table: str, row: Row) -> None:
        """Do something about a document that is about to be inserted; here, nothing."""

    def put(self, table: str, name: str, fields: Row) -> None:
        row = {"_id": self.key(name), **fields}
        self._write("put", table, lambda documents: documents.__setitem__(row["_id"], row))

    def delete(self, table: str, names: Collection[str]) -> None:
        for key in map(self.key, names):
            self._write("delete", table, lambda documents, key=key: documents.pop(key, 0))

    def delete_between(self, table: str, first: str, end: str, *, but: Row | None = None) -> None:
        def act(documents: dict[str, Row]) -> None:
            for key in [k for k in documents if self.key(first) <= k < self.key(end)]:
                if but is None or not but.items() <= documents[key].items():
                    del documents[key]

        self._write("delete", table, act)

    def publish(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._write("publish", "media", lambda d, row=row: d.__setitem__(row["_id"], dict(row)))

    def set_aside(self, table: str, name: str, why: str) -> None:
        self.aside.append((table, name, why))
        self.tables[table].pop(self.key(name), None)

    def stop_job(self, reason: str, *, finished: bool) -> None:
        self.reason = reason

    def media_pages(self) -> Iterator[MediaPageRecord]:
        raise NotImplementedError

    def close(self) -> None:
        pass

    @property
    def media(self) -> set[str]:
        """The addresses of the media pages."""
        return {row["url"] for row in self.tables["media"].values() if "url" in row}


class MadeWeb:
    """Hosts whose pages link to each other, across hosts as well; every third has a film.

    Args:
        hosts, pages: how many, and how many of each.
        seed: of what chance decides.
    """

    def __init__(self, hosts: int, pages: int, seed: int = 0) -> None:
        self.hosts = [f"h{number}.test" for number in range(hosts)]
        self.pages = pages
        self._seed = seed
        self.fetched: Counter[str] = Counter()

    @property
    def seeds(self) -> list[str]:
        return [f"http://{host}/p/0.htm" for host in self.hosts]

    @property
    def urls(self) -> set[str]:
        return {f"http://{host}/p/{n}.htm" for host in self.hosts for n in range(self.pages)}

    @property
    def media(self) -> set[str]:
        return {url for url in self.urls if b"lens.mp4" in self.body(url)}

    def links(self, url: str) -> list[str]:
        """Return the addresses that a page leads to: two of its host, one of any."""
        host, number = url.split("/")[2], _number(url)
        rng = random.Random(f"{self._seed} {url}")
        own = [n for n in (2 * number + 1, 2 * number + 2) if n < self.pages]
        there = rng.choice(self.hosts), rng.randrange(self.pages)
        return [f"http://{h}/p/{n}.htm" for h, n in [*((host, n) for n in own), there]]

    def body(self, url: str) -> bytes:
        host, number = url.split("/")[2], _number(url)
        rng = random.Random(f"{self._seed} words {url}")
        words = "optics lens" if rng.random() < 0.6 else "news"
        film = f'<a href="/{number}/lens.mp4">film of a lens</a>' if number % 3 == 0 else ""
        if words == "news":
            film = ""
        listed = "".join(f'<p><a href="{link}">{words}</a></p>' for link in self.links(url))
        return f"<title>{words} {host} {number}</title><p>{words}</p>{film}{listed}".encode()

    def crawl(self, algo: str) -> CrawlParts:
        """Return what a crawl for films about optics is made of."""
        return CrawlParts(
            algo=algo,
            parameters=default_parameters(algo),
            topic=topic_from_keywords("optics, lens"),
            topics_by_host={},
            kinds=frozenset({"video"}),
            threshold=0.5,
            limits=Limits(per_shape=0),
            seeds=self.seeds,
            rules=PinnedRules(),
        )

    def page(self, url: str) -> FetchedPage:
        self.fetched[url] += 1
        return FetchedPage(parse_page(self.body(url), url, "text/html"))


def _number(url: str) -> int:
    return int(url.split("/")[4].partition(".")[0])


class Gang:
    """Workers of one crawl, in this process."""

    def __init__(self, web: MadeWeb, rules: Rules, *, algo: str = "shark", seed: int = 0) -> None:
        self.web, self.rules = web, rules
        self.crawl = web.crawl(algo)
        self.tables: dict[str, dict[str, Row]] = defaultdict(dict)
        self.workers: dict[str, Worker] = {}
        self.now = 0.0
        self.reason = ""
        self.pages_a_step = 5
        self.rng = random.Random(seed)
        self._names = itertools.count()

    def join(self) -> Worker:
        worker = self._made(f"w{next(self._names)}")
        self.workers[worker.name] = worker
        return worker

    def _made(self, name: str) -> Worker:
        return Worker(self, name, MemoryStore(self.tables))

    def pass_time(self, seconds: float = 0.25) -> None:
        """Let time pass, and every worker take its steps in some order."""
        self.now += seconds
        for name in self.rng.sample(sorted(self.workers), len(self.workers)):
            if name in self.workers:
                self.workers[name].act("live")

    def run(self, seconds: float = 600.0) -> str:
        """Let time pass until the crawl is over; return why."""
        end = self.now + seconds
        while self.now < end:
            self.pass_time()
            self.see_off()
            if not self.workers:
                return self.reason
        raise AssertionError(f"not over after {seconds:g} s: {self.tables['worker']}")

    def see_off(self) -> None:
        """Let those leave whose crawl is over."""
        for worker in [*self.workers.values()]:
            if worker.over and not worker.asleep:
                worker.act("leave")

    @property
    def media(self) -> set[str]:
        return {row["url"] for row in self.tables["media"].values() if "url" in row}


class Worker:
    """A worker whose process this is not.

    Attributes:
        fetched: the pages it has fetched.
    """

    def __init__(self, gang: Gang, name: str, store: MemoryStore) -> None:
        self.gang, self.name, self.store = gang, name, store
        self.job = SharedJob(self.store, gang.crawl, gang.rules, name=name, clock=lambda: gang.now)
        self.job._hearing.stopped = self._stop
        self.over = ""
        self.under_way: list[WaitingLink] = []
        self.fetched: set[str] = set()
        self.asleep = False

    def _stop(self, reason: str) -> None:
        self.over = self.gang.reason = reason

    def act(self, action: str) -> None:
        """Take some steps: "crawl", "correspond", "live" or "leave"."""
        if self.asleep:
            return
        try:
            getattr(self, action)()
        except Crash:
            self.die()

    def live(self) -> None:
        """Fetch some pages, report, and correspond."""
        self.crawl()
        self.correspond()

    def crawl(self) -> None:
        """Take the steps of the crawl."""
        self.fetch()
        self.job.commit()

    def correspond(self) -> None:
        """Take a step of the exchange if one is due."""
        if self.job.exchange.due(self.gang.now) <= 0:
            self.job.exchange.step(self.gang.now)

    def fetch(self) -> None:
        for link in self.under_way:
            if self.job.is_running(link.id):
                self.fetched.add(link.url)
                self.job.crawled(link.id, self.gang.web.page(link.url))
        self.under_way = []
        while (
            len(self.under_way) < self.gang.pages_a_step and (link := self.job.next()) is not None
        ):
            self.under_way.append(link)

    def leave(self) -> None:
        self.job.commit()
        self.job.tell_learnt()
        self.job.exchange.leaving = True
        self.job.exchange.step(self.gang.now)
        self.job.close()
        self.gang.workers.pop(self.name, None)

    def die(self) -> None:
        """End without a word."""
        self.gang.workers.pop(self.name, None)
        self.job.close()
