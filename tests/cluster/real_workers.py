"""What tests of a shared crawl with real processes are made of: a web, its server, workers."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Event, Lock
from typing import Any

from mmcrawl.cluster import (
    CONTENTS,
    WORKER,
    Rows,
    Rules,
    SharedStore,
    open_shared_store,
    views,
)
from mmcrawl.cluster.views import CrawlView
from mmcrawl.errors import StoreError
from mmcrawl.store import is_server, open_documents
from tests.serving import Answer, Request, Server
from tests.waiting import HANG
from tests.warm import python

from .memory import MadeWeb

ROOT = Path(__file__).parents[2]
JOB = "together"
LEASE = 4.0
RULES = Rules()
_WORKER = """
import os, sys
print(os.getpid(), flush=True)
from scrapy.cmdline import execute
execute(["scrapy", *sys.argv[1:]])
"""
_FAST, _SLOW = 0.005, 1.5  # seconds an answer takes, usually and while workers join


def wait_until(true: Callable[[], object], what: str) -> None:
    """Wait for something to be true; fail with what it was when that takes too long."""
    end = time.monotonic() + HANG
    while not true():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)


TELLING = 'DOWNLOAD_HANDLERS={"http": "tests.telling.TellingHandler"}'


@dataclass(frozen=True)
class Visit:
    """A request for a page, by the monotonic clock, which all processes share.

    Attributes:
        allowed: When the worker let it go, if it has `TELLING`: the server may read it much later.
    """

    url: str
    host: str
    began: float
    ended: float
    allowed: float


class Web(MadeWeb):
    """Pages on several hosts of this machine, and their servers.

    The last page has a host of its own and can be held back, so that a crawl goes on for as long as
    a test wants.

    Args:
        hosts: how many hosts there are.
        pages: how many pages each has.
    """

    def __init__(self, hosts: int, pages: int) -> None:
        super().__init__(hosts, pages)
        names = [f"127.0.0.{number}" for number in range(2, 3 + hosts)]
        self.delay = _FAST  # seconds an answer takes
        self.visits: list[Visit] = []
        self._counting, self._is_open, self._may_end = Lock(), Event(), Event()
        self._servers = [Server(self._answer, name) for name in names]
        *self.hosts, end = (server.origin.removeprefix("http://") for server in self._servers)
        self.last = f"http://{end}/last.htm"
        self.release()

    def close(self) -> None:
        self.release()
        for server in self._servers:
            server.close()

    @property
    def seeds(self) -> list[str]:
        return [*super().seeds, self.last]

    @property
    def urls(self) -> set[str]:
        return super().urls | {self.last}

    def body(self, url: str) -> bytes:
        is_last = url == self.last
        return b"<title>The end of optics</title><p>A lens." if is_last else super().body(url)

    def again(self) -> dict[str, int]:
        """Return the pages that were not fetched just once, and how many times they were."""
        return {url: self.fetched[url] for url in self.urls if self.fetched[url] != 1}

    def forget(self) -> None:
        """Forget who was there."""
        self.visits.clear()
        self.fetched.clear()

    def slow_down(self, seconds: float = _SLOW) -> None:
        """Take a while for every answer, and do not answer requests for the last page."""
        self.delay = seconds
        self._may_end.clear()

    def shut(self) -> None:
        """Answer nobody until `open`."""
        self._is_open.clear()

    def open(self) -> None:
        """Answer those that wait, and all others."""
        self._is_open.set()

    def release(self) -> None:
        """Answer fast again, also requests for the last page."""
        self.delay = _FAST
        self._may_end.set()
        self._is_open.set()

    def _answer(self, request: Request) -> None:
        began, url = time.monotonic(), f"http://{request.headers['Host']}{request.path}"
        self._is_open.wait()
        time.sleep(self.delay)
        if url == self.last:
            self._may_end.wait()
        ended, is_page = time.monotonic(), url in self.urls
        request.send(Answer(self.body(url)) if is_page else Answer(status=404))
        allowed = float(request.headers.get("Allowed", began))
        self.visits.append(Visit(url, url.split("/")[2], began, ended, allowed))
        if url.endswith(".htm"):  # also one that is not there
            with self._counting:
                self.fetched[url] += 1


@dataclass
class Worker:
    """A process that crawls, and the one that stands for it (see `tests.warm`)."""

    process: subprocess.Popen[bytes]
    log: Path
    is_killed: bool = False

    @cached_property
    def pid(self) -> int:
        """Id of the process that crawls."""
        wait_until(lambda: self.process.poll() is not None or self.said, "a worker to begin")
        return int(self.said.partition("\n")[0])

    def seen(self, view: CrawlView) -> tuple[int, int]:
        """Return how many pages it has crawled, and how many partitions it owns."""
        found = [one for one in view.workers if f"-{self.pid}-" in one.name]
        return (found[0].heartbeat.crawled, len(found[0].partitions)) if found else (0, 0)

    @property
    def said(self) -> str:
        """What a person saw of it."""
        return self.log.read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self.process.poll() is None:
            os.kill(self.pid, number)
        self.is_killed |= number == signal.SIGKILL

    def ends(self) -> str:
        """Wait until it has ended of its own accord; return what it said."""
        is_over = self.process.poll
        wait_until(lambda: is_over() is not None, f"a worker to end; it said\n{self.said}")
        return self.said


class Gang:
    """Workers of one crawl, in a folder of their own."""

    def __init__(self, web: Web, uri: str, folder: Path) -> None:
        self.web, self.uri, self.folder = web, uri, folder
        self.workers: list[Worker] = []
        self._open: list[Callable[[], object]] = []
        if is_server(uri):  # mongo-java-server may lose a collection that several make at once
            open_documents(CONTENTS, uri, None).close()

    def start(self, *settings: str, uri: str | None = None, **arguments: Any) -> Worker:
        """Start a worker, with more settings (`NAME=VALUE`) and spider arguments."""
        common = {
            "algo": "urlrule",
            "keywords": "optics, lens",
            "seeds": ",".join(self.web.seeds),
            "store": uri or self.uri,
            "job": JOB,
            "archive": "none",
            "workers": 1,
        }
        fixed = (
            "AUTOTHROTTLE_ENABLED=0",
            "DOWNLOAD_DELAY=0",
            f"DOWNLOAD_TIMEOUT={2 * HANG:g}",  # the last page is held back for as long as it takes
            f"MMCRAWL_LEASE_SECONDS={LEASE:g}",
            "CONCURRENT_REQUESTS_PER_DOMAIN=2",
            "MMCRAWL_BARREN_PAGES_PER_SHAPE=0",
        )
        command = [python(), "-c", _WORKER, "crawl", "focused"]
        for name, value in (common | arguments).items():
            command += ["-a", f"{name}={value}"]
        for setting in (*fixed, *settings):
            command += ["-s", setting]
        log = self.folder / f"worker-{len(self.workers)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT), "no_proxy": "*", WORKER: "0/"},
                stdout=file,
                stderr=file,
            )
        self.workers.append(Worker(process, log))
        return self.workers[-1]

    def observer(self) -> Observer:
        """Return one that looks at the crawl, once that has begun."""
        wait_until(self._has_begun, "the crawl to begin")
        shared = open_shared_store(self.uri, job=JOB, arguments=None)
        looking = views.Observer(self.uri)
        self._open += [looking.__exit__, shared.close]
        return Observer(shared, looking)

    def _has_begun(self) -> bool:
        with suppress(StoreError), views.Observer(self.uri) as observer:
            return bool(observer.jobs())
        return False

    def finish(self, observer: Observer) -> list[str]:
        """Let a crawl come to its end once all but the last page is in its log; return what its
        workers said."""
        self.web.delay = min(self.web.delay, _FAST)
        all_but_last = len(self.web.urls) - 1
        wait_until(lambda: len(observer.known()) >= all_but_last, "the last page but one")
        self.web.release()
        return [worker.ends() for worker in self.workers if not worker.is_killed]

    def end(self) -> None:
        """End whoever is still there, for good."""
        for close in self._open:
            close()
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.signal(signal.SIGKILL)
                worker.process.wait(HANG)


@dataclass
class Observer:
    """Reads the shared store of a crawl while it goes on.

    Attributes:
        upsets: when workers were killed or held up, and which pages the logs had then.
    """

    shared: SharedStore
    looking: views.Observer
    upsets: list[tuple[float, set[str]]] = field(default_factory=list)

    @property
    def view(self) -> CrawlView:
        """The crawl as it stands now."""
        return self.looking.look(JOB, time.monotonic())

    def known(self) -> set[str]:
        """Return the addresses of the pages that count: each in the log of its own partition.

        Others have it as the source of a link, and may have been told of it before that.
        """
        known = set[str]()
        records, leases = self.shared.all("log"), self.view.partitions
        for name, record in records.items():  # of one number the last epoch counts
            partition, number = map(int, name.split("/")[:2])
            if number < leases[partition].next:
                pages = Rows.decode(record["bytes"]).put.get("page", ())
                known |= {row[1] for row in pages if RULES.partition_of(row[1]) == partition}
        return known

    def upset(self) -> None:
        """Note that a worker has been killed or held up: what it had not told is fetched again.

        Its last requests may have been read by the server meanwhile.
        """
        known = self.known()
        self.upsets.append((time.monotonic(), known))

    def too_often(self, web: Web) -> dict[str, int]:
        """Return the pages that were fetched more often than workers were killed meanwhile."""
        more = {}
        for url, count in web.fetched.items():
            first = min(visit.began for visit in web.visits if visit.url == url)
            lost = sum(first < at and url not in known for at, known in self.upsets)
            if count > 1 + lost:
                more[url] = count
        return more

    def media(self) -> list[str]:
        """Return the addresses of the published media pages."""
        return [page.url for page in self.shared.media_pages()]
