"""What tests of a shared crawl with real processes are made of: a web, its server, workers."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mmcrawl.cluster import (
    CONTENTS,
    WORKER,
    Heartbeat,
    Lease,
    Rows,
    Rules,
    SharedStore,
    added,
    heartbeats_of,
    leases_of,
    open_shared_store,
)
from mmcrawl.cluster.views import observing
from mmcrawl.crawl import Totals
from mmcrawl.errors import StoreError
from mmcrawl.store import is_server, open_documents
from tests.waiting import HANG
from tests.warm import python

ROOT = Path(__file__).parents[2]
JOB = "together"
PATIENCE = HANG
LEASE = 4.0
RULES = Rules()
_WORKER = """
import os, sys
print(os.getpid(), flush=True)
from scrapy.cmdline import execute
execute(["scrapy", *sys.argv[1:]])
"""
_FAST, _SLOW = 0.005, 1.5  # seconds an answer takes, usually and while workers join


def wait_until(true: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait for something to be true; fail with what it was when that takes too long."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds:g} s in vain for {what}"
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


class Web:
    """Pages on several hosts of this machine, all to be reached from the first, and their server.

    The pages of a host form a tree. Links to pages of other hosts cross it, every third page has a
    film of its own, and half of these are about the topic. The last page has a host
    of its own and can be held back, so that a crawl goes on for as long as a test wants.

    Args:
        hosts: how many hosts there are.
        pages: how many pages each has.
        delay: seconds an answer takes.
    """

    def __init__(self, hosts: int, pages: int, *, delay: float = _FAST) -> None:
        self.names = [f"127.0.0.{number}" for number in range(2, 2 + hosts)]
        self.end = f"127.0.0.{2 + hosts}"
        self.pages = pages
        self.delay = self._usual_delay = delay
        self.visits: list[Visit] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._held = asyncio.Event()
        self._held.set()
        self._open = asyncio.Event()
        self._open.set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self._over = asyncio.Event()

    def __enter__(self) -> Web:
        self._thread.start()
        assert self._ready.wait(HANG), "the page server did not start"
        return self

    def __exit__(self, *error: object) -> None:
        self.release()
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(HANG)

    # -- what is there --------------------------------------------------------------------------

    @property
    def seeds(self) -> str:
        """The roots of all hosts: a crawl keeps to the hosts of its seeds."""
        roots = [f"http://{name}:{self.port}/p/0.htm" for name in self.names]
        return ",".join([*roots, self.last])

    @property
    def last(self) -> str:
        """The page that can be held back."""
        return f"http://{self.end}:{self.port}/last.htm"

    def urls(self) -> set[str]:
        """Return the addresses of all pages."""
        return {
            f"http://{name}:{self.port}/p/{number}.htm"
            for name in self.names
            for number in range(self.pages)
        } | {self.last}

    def fetched(self) -> Counter[str]:
        """Return how many times each page was answered."""
        return Counter(visit.url for visit in self.visits if visit.url.endswith(".htm"))

    def films_on_topic(self) -> set[str]:
        """Return the addresses of the pages that a crawl for optics must find."""
        wanted = range(3, self.pages, 6)
        return {f"http://{name}:{self.port}/p/{n}.htm" for name in self.names for n in wanted}

    def oddities(self) -> dict[str, int]:
        """Return the pages that were not fetched just once, and how many times they were."""
        fetched = self.fetched()
        return {url: fetched[url] for url in self.urls() | set(fetched) if fetched[url] != 1}

    def forget(self) -> None:
        """Forget who was there."""
        self.visits = []

    def slow_down(self, seconds: float = _SLOW) -> None:
        """Take a while for every answer, and do not answer requests for the last page."""
        self.delay = seconds
        self._loop.call_soon_threadsafe(self._held.clear)

    def shut(self) -> None:
        """Answer nobody until `open`."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def open(self) -> None:
        """Answer those that wait, and all others."""
        self._loop.call_soon_threadsafe(self._open.set)

    def release(self) -> None:
        """Answer fast again, also requests for the last page."""
        self.open()
        self.delay = self._usual_delay
        self._loop.call_soon_threadsafe(self._held.set)

    def body(self, host: str, path: str) -> bytes | None:
        """Return a page, None if there is none."""
        match = re.fullmatch(r"/p/(\d+)\.htm", path)
        if path == "/last.htm":
            return b"<title>The end of optics</title><p>A lens."
        if match is None or int(match[1]) >= self.pages:
            return None
        number, place = int(match[1]), self.names.index(host)
        rng = random.Random(f"{place} {number}")
        links = [(host, child) for child in (2 * number + 1, 2 * number + 2) if child < self.pages]
        links += [(rng.choice(self.names), rng.randrange(self.pages)) for _ in range(4)]
        if number == 0:
            links.append((self.names[(place + 1) % len(self.names)], 0))
        lines = [f'<p><a href="http://{h}:{self.port}/p/{n}.htm">optics {n}</a>' for h, n in links]
        topic = "optics: the lens" if number % 2 else "news"
        if number % 3 == 0:
            lines.append(f'<p><a href="/film/{place}-{number}.mp4">a film: {topic}</a>')
        return f"<title>{topic} {place} {number}</title><p>{topic}{''.join(lines)}".encode()

    # -- the server -----------------------------------------------------------------------------

    async def _run(self) -> None:
        servers = [await asyncio.start_server(self._talk, self.names[0], 0)]
        self.port = servers[0].sockets[0].getsockname()[1]
        servers += [
            await asyncio.start_server(self._talk, n, self.port)
            for n in (*self.names[1:], self.end)
        ]
        self._ready.set()
        await self._over.wait()
        for server in servers:
            server.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                began = time.monotonic()
                path = head.split(b" ", 2)[1].decode()
                answer = await self._answer(host, path)
                ended = time.monotonic()
                writer.write(answer)
                await writer.drain()
                url = f"http://{host}:{self.port}{path}"
                told = re.search(rb"(?i)\nallowed: ([\d.]+)", head)
                allowed = float(told[1]) if told else began
                self.visits.append(Visit(url, host, began, ended, allowed))
        writer.close()

    async def _answer(self, host: str, path: str) -> bytes:
        await self._open.wait()
        await asyncio.sleep(self.delay)
        body = self.body(host, path)
        if path == "/last.htm":
            await self._held.wait()
        status = b"404 Not Found" if body is None else b"200 OK"
        body = body or b""
        length = str(len(body)).encode()
        return (
            b"HTTP/1.1 " + status + b"\r\nContent-Type: text/html\r\nContent-Length: " + length
        ) + (b"\r\n\r\n" + body)


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

    @property
    def name(self) -> str:
        """What the names of its worker hold."""
        return f"-{self.pid}-"

    def share(self, of_all: Counter[str]) -> int:
        """Return its share of what was counted by worker."""
        return sum(count for name, count in of_all.items() if self.name in name)

    @property
    def said(self) -> str:
        """What a person saw of it."""
        return self.log.read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self.process.poll() is None:
            os.kill(self.pid, number)
        self.is_killed |= number == signal.SIGKILL

    def ends(self, seconds: float = PATIENCE) -> str:
        """Wait until it has ended of its own accord; return what it said."""
        wait_until(
            lambda: self.process.poll() is not None,
            f"a worker to end; it said\n{self.said}",
            seconds,
        )
        return self.said


class Gang:
    """Workers of one crawl, in a folder of their own."""

    def __init__(self, web: Web, uri: str, folder: Path) -> None:
        self.web = web
        self.uri = uri
        self.folder = folder
        self.workers: list[Worker] = []
        if is_server(uri):  # mongo-java-server may lose a collection that several make at once
            open_documents(CONTENTS, uri, None).close()

    def start(
        self,
        *settings: str,
        uri: str | None = None,
        **arguments: Any,
    ) -> Worker:
        """Start a worker, with more settings (`NAME=VALUE`) and spider arguments."""
        common = {
            "algo": "urlrule",
            "keywords": "optics, lens",
            "seeds": self.web.seeds,
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
        return Observer(open_shared_store(self.uri, job=JOB, arguments=None))

    def _has_begun(self) -> bool:
        with suppress(StoreError), observing.Observer(self.uri) as observer:
            return bool(observer.jobs())
        return False

    def all_but_last(self) -> bool:
        """Tell whether every page of the web but the last was fetched."""
        return set(self.web.fetched()) >= self.web.urls() - {self.web.last}

    def finish(self, observer: Observer) -> list[str]:
        """Let a crawl come to its end once all but the last page is in its log; return what its
        workers said."""
        self.web.delay = min(self.web.delay, _FAST)
        wait_until(self.all_but_last, "all pages but the last to be fetched")
        wait_until(
            lambda: len(observer.known()) >= len(self.web.urls()) - 1,
            "all pages but the last to be in the log",
        )
        self.web.release()
        return [worker.ends() for worker in self.workers if not worker.is_killed]

    def end(self) -> None:
        """End whoever is still there, for good."""
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
    upsets: list[tuple[float, set[str]]] = field(default_factory=list)

    def heartbeats(self) -> dict[str, Heartbeat]:
        """Return the last heartbeats of the workers that have not left, by name."""
        return heartbeats_of(self.shared.all("worker"))

    def leases(self) -> dict[int, Lease]:
        """Return the leases of the partitions."""
        return leases_of(self.shared.all("lease"))

    def owned(self) -> Counter[str]:
        """Return how many partitions each worker owns."""
        return Counter(lease.owner for lease in self.leases().values())

    def records(self) -> Iterator[tuple[str, int, Rows]]:
        """Yield who wrote each record of the logs that counts, its partition and what it holds."""
        found = {}
        rows, leases = self.shared.all("log"), self.leases()
        for name, row in rows.items():
            partition, number = map(int, name.split("/")[:2])
            if number < leases[partition].next:
                found[partition, number] = row
        for (partition, _), row in found.items():
            yield row["owner"], partition, Rows.decode(row["bytes"])

    def pages(self) -> Counter[str]:
        """Return how many pages each worker told of."""
        told: Counter[str] = Counter()
        for owner, _, rows in self.records():
            told[owner] += len(rows.put.get("page", ()))
        return told

    def known(self) -> set[str]:
        """Return the addresses of the pages that count: each in the log of its own partition.

        Others have it as the source of a link, and may have been told of it before that.
        """
        return {
            row[1]
            for _, partition, rows in self.records()
            for row in rows.put.get("page", ())
            if RULES.partition_of(row[1]) == partition
        }

    def upset(self) -> None:
        """Note that a worker has been killed or held up: what it had not told is fetched again.

        Its last requests may have been read by the server meanwhile.
        """
        known = self.known()
        self.upsets.append((time.monotonic(), known))

    def too_often(self, web: Web) -> dict[str, int]:
        """Return the pages that were fetched more often than workers were killed meanwhile."""
        more = {}
        for url, count in web.fetched().items():
            first = min(visit.began for visit in web.visits if visit.url == url)
            lost = sum(first < at and url not in known for at, known in self.upsets)
            if count > 1 + lost:
                more[url] = count
        return more

    @property
    def totals(self) -> Totals:
        """The totals of all partitions."""
        facts = [lease.plain_facts for lease in self.leases().values()]
        return added([Totals(**one["totals"]) for one in facts if "totals" in one])

    def media(self) -> list[str]:
        """Return the addresses of the published media pages."""
        return [page.url for page in self.shared.media_pages()]
