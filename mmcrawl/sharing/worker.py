"""A worker's side of a shared crawl: what Scrapy's scheduler asks and tells, as with `CrawlJob`."""

import os
import secrets
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from mmcrawl.crawling.reports import FetchedPage, Reporter, Totals
from mmcrawl.errors import StoreError
from mmcrawl.frontier.addresses import PrivateHosts
from mmcrawl.frontier.findings import MediaPageRecord, PatternRecord
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.frontier.store import Job
from mmcrawl.page.model import Page
from mmcrawl.scoring.relevance import Verdict
from mmcrawl.sharing.coordinator import Coordinator
from mmcrawl.sharing.leader import MakeJob
from mmcrawl.sharing.messages import Added, Event, Failed, Fetched, Lease, Redirected, Retried
from mmcrawl.sharing.outbox import Outbox
from mmcrawl.sharing.rules import Rules
from mmcrawl.sharing.store import SharedStore
from mmcrawl.topic.topic import Topic

_LAST_WAIT = 5.0  # seconds for a thread to end when its shared store is closed


def worker_name() -> str:
    """Return a name that no other worker has: its machine, its process, and some chance."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(6)}"


class SharedJob:
    """A crawl that several processes work on; this one hands out the links leased to it.

    Args:
        shared: where the crawl is shared.
        make_job: makes the crawl over a working copy, for the coordinator.
        reporter: makes the reports of pages.
        rules: how the crawl is shared.
        algorithm: name of the algorithm that orders the frontier.
        private_hosts: those in private networks that may be asked.
        name: of this worker.

    Attributes:
        shared: True.
        interrupted: always False: the coordinator passes over links that became pointless.
    """

    shared = True
    interrupted = False

    def __init__(
        self,
        shared: SharedStore,
        make_job: MakeJob,
        reporter: Reporter,
        rules: Rules,
        *,
        algorithm: str,
        private_hosts: PrivateHosts,
        name: str,
    ) -> None:
        self.name = name
        self.algorithm = algorithm
        self.private_hosts = private_hosts
        self._shared = shared
        self._reporter = reporter
        self._coordinator = Coordinator(shared, make_job, worker=name, rules=rules)
        self._rules = rules
        self._outbox: Outbox | None = None
        self._running: dict[int, Lease] = {}
        self._moved = 0
        self._over = False
        self._broken = False

    # -- what there is --------------------------------------------------------------------------

    @property
    def job(self) -> Job:
        """The job, as the shared store had it when it was read last."""
        return self._shared.job

    @property
    def topic(self) -> Topic:
        """What the crawl looks for."""
        return self._reporter.test.topic

    @property
    def kinds(self) -> frozenset[str]:
        """The media kinds it looks for."""
        return self._reporter.test.kinds

    @property
    def pages(self) -> int:
        """How many pages all workers have crawled, as of a few seconds ago."""
        return self.totals().pages

    @property
    def ready(self) -> int:
        """How many links lie ready here."""
        return 0 if self._outbox is None else self._outbox.ready

    @property
    def more_may_come(self) -> bool:
        """Whether links may be leased to this worker later: so it seems until it is stopped."""
        return True  # else Scrapy would stop by itself just before, and call that finished

    @property
    def kept(self) -> bool:
        """Whether the job can be taken up again by another process."""
        return True

    @property
    def round_trips(self) -> int:
        """How many commands this process has sent to the shared store so far."""
        return self._shared.round_trips

    def totals(self) -> Totals:
        """Return where the crawl stands, all workers together, as of a few seconds ago."""
        status = self._status()
        return Totals(**status["totals"]) if status else Totals()

    def best(self, most: int) -> list[MediaPageRecord]:
        """Return the media pages with the best topic scores."""
        return list(islice(self.media_pages(), most))

    def media_pages(self) -> Iterator[MediaPageRecord]:
        """Yield the media pages that all workers found, best topic score first.

        None when the shared store has failed.
        """
        return iter(()) if self._broken else self._shared.media_pages()

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns; none when the shared store has failed."""
        return [] if self._broken else self._shared.patterns()

    def error_reasons(self) -> Counter[str]:
        """Return how many links ended in error, by reason; of a crawl that goes on, none."""
        return Counter(self._status().get("errors", {}))

    # -- what a fetcher calls -------------------------------------------------------------------

    def watch(
        self,
        *,
        news: Callable[[], object],
        stopped: Callable[[str], object],
        failed: Callable[[StoreError], object],
    ) -> None:
        """Join the crawl. The callables are called from other threads."""

        def over(reason: str) -> None:
            self._over = True
            stopped(reason)

        def broken(error: StoreError) -> None:
            self._broken = True
            failed(error)

        self._outbox = Outbox(self._shared, self.name, self._rules, news=news, failed=broken)
        self._outbox.start()
        self._coordinator.stopped, self._coordinator.failed = over, broken
        self._coordinator.start()

    def next(self, ready: Callable[[str], bool] = lambda origin: True) -> WaitingLink | None:
        """Take the best of the links that lie ready here and whose host is `ready`."""
        while self._outbox is not None and (lease := self._outbox.next(ready)) is not None:
            again = lease.link.id in self._running  # given anew; it is told of under the new number
            self._running[lease.link.id] = lease
            if not again:
                return lease.link
            self._outbox.note_double()
        return None

    def judge(self, page: Page, digest: int = 0) -> Verdict:
        """Return whether a page seems relevant, and why.

        Media that stand on every page of a site, and pages found under two addresses, are known to
        the coordinator only: it may decide otherwise.
        """
        if self._outbox is not None:
            for host, target in self._outbox.moved[self._moved :]:
                self._reporter.test.moved(host, target)
            self._moved = len(self._outbox.moved)
        return self._reporter.test.judge(page, page.media)

    def crawled(self, link: int, fetched: FetchedPage, requests: Sequence[NewLink] = ()) -> bool:
        """Report a fetched page; for the arguments see `CrawlJob.crawled`."""
        if fetched.verdict is None:
            fetched.verdict = self.judge(fetched.page, fetched.digest)
        report = self._reporter.report(fetched, time.time())
        # Text and headings were read, and may be long.
        report = replace(report, page=replace(report.page, text="", headings=""))
        self._end(link, lambda lease: Fetched(link, lease, report, tuple(requests)))
        return fetched.verdict.relevant

    def redirected(self, link: int, target: NewLink) -> bool:
        """Report that a link only leads on."""
        target = replace(target, url=self._reporter.real(target.url))
        self._end(link, lambda lease: Redirected(link, lease, target))
        return True

    def retry(self, link: int, request: bytes | None, priority: int) -> None:
        """Let a link that is being fetched wait again."""
        self._end(link, lambda lease: Retried(link, lease, request, priority))

    def failed(self, link: int, reason: str, requests: Sequence[NewLink] = ()) -> None:
        """Report that a link cannot be had, and why."""
        self._end(link, lambda lease: Failed(link, lease, reason, tuple(requests)))

    def add(self, links: Sequence[NewLink]) -> bool:
        """Tell of links that come from no page."""
        self._tell(Added(tuple(links)))
        return True

    def is_running(self, link: int) -> bool:
        """Tell whether a link is being fetched here."""
        return link in self._running

    def referrer(self, link: WaitingLink) -> str | None:
        """Return the address of the page a link was found on, None for a seed."""
        return self._running[link.id].referrer

    def commit(self) -> None:
        """Do nothing: what was told is sent by itself, soon."""

    def stop(self, reason: str, *, finished: bool) -> None:
        """Take leave: what was not begun goes back, what was reported arrives first.

        `finished` is for the coordinator to say.

        Raises:
            StoreError: the shared store cannot be reached.
        """
        if self._outbox is not None:
            self._outbox.close(leave=not self._over)
        self._coordinator.close(reason)
        if self._outbox is not None and not self._broken:
            self._shared.forget(self.name)
            self._outbox.read_status()

    def roll_back(self) -> None:
        """Do nothing: what was told is told."""

    def close(self) -> None:
        """Let go of the shared store; what still waits for it ends."""
        self._shared.close()
        if self._outbox is not None:
            self._outbox.close(leave=False, timeout=_LAST_WAIT)
        self._coordinator.close("store_error", timeout=_LAST_WAIT)

    # -- inside ---------------------------------------------------------------------------------

    def _status(self) -> Mapping[str, Any]:
        if self._outbox is not None:
            return self._outbox.status
        return self._shared.status() or {}

    def _end(self, link: int, event: Callable[[int], Event]) -> None:
        lease = self._running.pop(link, None)
        if lease is not None:
            self._tell(event(lease.number))

    def _tell(self, event: Event) -> None:
        if self._outbox is not None:
            self._outbox.tell(event)
