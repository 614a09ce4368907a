"""A shared store in RAM, workers that take their steps one after another, and a web for them.

Time is simulated: it stands still while anything is done, and passes between the steps.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeVar

from mmcrawl.cluster import Leases, Row, Rules, SharedJob, SharedStore, name_of
from mmcrawl.crawl import CrawlSetup, FetchedPage
from mmcrawl.frontier import Limits, WaitingLink
from mmcrawl.page import parse_page
from mmcrawl.scoring import PinnedRules, default_parameters
from mmcrawl.store import Document
from mmcrawl.topic import topic_from_keywords
from tests.store.memory import MemoryStore as DocumentsInMemory

JOB = "job"

Tables = dict[str, dict[str, dict[str, Any]]]
"""Documents by their keys, by table."""

_R = TypeVar("_R")


class Crash(BaseException):
    """A worker's process ends here."""


class MemoryDocuments(DocumentsInMemory):
    """Documents in RAM that the stores of several workers have in common.

    Attributes:
        before: called before each operation with its name and that of the table; may raise.
        again: asked after each write of a document, likewise, whether its answer was lost.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self._tables = tables
        self.before: Callable[[str, str], object] = lambda operation, table: None
        self.again: Callable[[str, str], bool] = lambda operation, table: False

    def get(self, table: str, keys: Collection[str]) -> dict[str, Document]:
        self.before("get", table)
        return super().get(table, keys)

    def range(self, table: str, *conditions: Any, **more: Any) -> Iterator[tuple[str, Document]]:
        self.before("range", table)
        return super().range(table, *conditions, **more)

    def insert_new(self, table: str, documents: Mapping[str, Document]) -> set[str]:
        self.before("insert", table)
        insert, taken = super().insert_new, set[str]()
        for key, document in documents.items():
            taken |= self._repeated("insert", table, partial(insert, table, {key: document}))
        return taken

    def put(self, table: str, documents: Mapping[str, Document]) -> None:
        self.before("put", table)
        for key, document in documents.items():
            self._repeated("put", table, partial(super().put, table, {key: document}))

    def change(self, table: str, changes: Iterable[Any]) -> int:
        self.before("change", table)
        some = [*changes]
        return self._repeated("change", table, partial(super().change, table, some))

    def delete(self, table: str, *conditions: Any) -> int:
        self.before("delete", table)
        return self._repeated("delete", table, partial(super().delete, table, *conditions))

    def _repeated(self, operation: str, table: str, write: Callable[[], _R]) -> _R:
        """Write, once more each time that the answer is lost; return the last one."""
        result = write()
        while self.again(operation, table):
            result = write()
        return result


def made_lease(
    shared: SharedStore, partition: int, *, facts: Mapping[str, Any] | None = None, **more: Any
) -> None:
    """Write the lease of a partition as an owner would have."""
    Leases(shared, "").make([partition])
    told = more if facts is None else {"facts": json.dumps(facts), **more}
    shared.change_one("lease", name_of(partition), lambda row: told)


def memory_store(tables: Tables | None = None) -> SharedStore:
    """Return the shared store of a job in RAM."""
    return SharedStore(MemoryDocuments({} if tables is None else tables), JOB)


def rows(tables: Tables, name: str) -> list[Row]:
    """Return the documents of a table, in the order of their keys."""
    return [row for _, row in sorted(tables.get(name, {}).items())]


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

    def crawl(self, algo: str) -> CrawlSetup:
        """Return what a crawl for films about optics is made of."""
        return CrawlSetup(
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
    """Workers of one crawl, in this process.

    Args:
        kind: of the workers.
    """

    def __init__(
        self,
        web: MadeWeb,
        rules: Rules,
        *,
        algo: str = "shark",
        seed: int = 0,
        kind: Callable[[Any, str, SharedStore], Any] | None = None,
    ) -> None:
        self.web, self.rules, self._kind = web, rules, kind or Worker
        self.crawl = web.crawl(algo)
        self.tables: Tables = {}
        self.workers: dict[str, Worker] = {}
        self.now = 0.0
        self.reason = ""
        self.pages_a_step = 5
        self.rng = random.Random(seed)
        memory_store(self.tables).begin({})
        self._names = itertools.count()

    def join(self, store: SharedStore | None = None) -> Any:
        """Return another worker, of this store or of the one in RAM."""
        name = f"w{next(self._names)}"
        self.workers[name] = self._kind(self, name, store or memory_store(self.tables))
        return self.workers[name]

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
        raise AssertionError(f"not over after {seconds:g} s: {self.tables['lease']}")

    def see_off(self) -> None:
        """Let those leave whose crawl is over."""
        for worker in [*self.workers.values()]:
            if worker.over and not worker.asleep and worker.name in self.workers:
                worker.act("leave")

    @property
    def media(self) -> set[str]:
        return {row["url"] for row in rows(self.tables, "media")}


class Worker:
    """A worker whose process this is not.

    Attributes:
        fetched: the pages it has fetched.
    """

    def __init__(self, gang: Gang, name: str, store: SharedStore) -> None:
        self.gang, self.name, self.store = gang, name, store
        self.documents: Any = store._documents
        self.job = SharedJob(self.store, gang.crawl, gang.rules, name=name, clock=self.clock)
        self.job._stopped = self._stop
        self.job._sender = SimpleNamespace(end=lambda *_: None)  # `correspond` is in its place
        self.over = ""
        self.under_way: list[WaitingLink] = []
        self.fetched: set[str] = set()
        self.asleep = False

    def clock(self) -> float:
        """Return the time by the clock of its machine, minutes from those of the others."""
        return self.gang.now + 300 * int(self.name[1:])

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
        """Tell that it is alive, and take the turn of the exchange if a report is there."""
        self.job.exchange.beat(self.clock())
        self.job.exchange.turn()

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
        self.job.stop("shutdown", finished=False)
        self.job.close()
        self.gang.workers.pop(self.name, None)

    def die(self) -> None:
        """End without a word."""
        self.gang.workers.pop(self.name, None)
        self.job.close()
