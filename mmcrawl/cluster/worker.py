"""A worker of a shared crawl: what Scrapy's scheduler asks and tells, as with `CrawlJob`.

It crawls its own partitions of the web (:mod:`~mmcrawl.cluster.own_partitions`) and asks nobody.
What changes in them is reported to the shared store every second or two
(:mod:`~mmcrawl.cluster.exchange`), and counts from then on.
"""

import logging
import os
import secrets
import socket
import sqlite3
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence

from mmcrawl.cluster.exchange import IDLE_SECONDS, Exchange, News, Report, Sender
from mmcrawl.cluster.leases import Lease, Stored, totals_of
from mmcrawl.cluster.own_partitions import OwnPartitions
from mmcrawl.cluster.partition import own_number, partition_of
from mmcrawl.cluster.places import WORKER, Rules
from mmcrawl.cluster.store import SharedStore
from mmcrawl.crawl.history import name_silent
from mmcrawl.crawl.protocol import FetchedPage, Totals
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.errors import DamagedStoreError, StoreError, raise_if_fatal
from mmcrawl.frontier.findings import BarrenDirectory, MediaPageRecord, NearMiss, PatternRecord
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.frontier.store import Job
from mmcrawl.page.model import Linking, Page
from mmcrawl.scoring.relevance import Verdict

logger = logging.getLogger(__name__)

_LAST_WAIT = 5.0  # seconds for the thread to end when its shared store is closed
_MOST_UNWRITTEN = 30.0  # seconds that reports may wait before no more links are given out
_REPORT_SECONDS = 2.0  # between two reports, if nobody waits for one
_LONGEST_HEARING = 1.0  # seconds in which news are recorded before anything else is done
_STEPS_AT_ONCE = 50  # of taking a partition in, if there are pages to fetch


def worker_name() -> str:
    """Return a name that no other worker has: its machine, its process, and some chance."""
    token = os.environ.get(WORKER, "").partition("/")[2] or secrets.token_hex(6)
    return f"{socket.gethostname()}-{os.getpid()}-{token}"


class SharedJob:
    """A crawl that several processes work on; this one has the partitions that are its own.

    What it tells of all workers is as of a second or two ago; of the found, nothing when the shared
    store has failed. Reasons of errors and patterns are of partitions that rest, and of those of
    workers that have left. A report about a partition that is another worker's by now is dropped.

    Args:
        shared: where the crawl is shared.
        crawl: what it is made of.
        rules: how it is shared.
        name: of this worker.
        clock: seconds, monotonic.

    Attributes:
        exchange: its side of the shared store.
        partitions: those that are its own.
    """

    def __init__(
        self,
        shared: SharedStore,
        crawl: CrawlSetup,
        rules: Rules,
        *,
        name: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.algorithm = crawl.algo
        self.interrupted = False  # whether the last `next` gave up early, see `CrawlJob`
        self.more_may_come = True  # else Scrapy would stop just before the end, as if finished
        self.kept = True
        self._shared, self._rules, self._clock = shared, rules, clock
        self._reporter = crawl.reporter()
        self.topic, self.kinds = self._reporter.test.topic, self._reporter.test.kinds
        self.partitions = OwnPartitions(shared.job.name, crawl, self._reporter, rules, clock)
        self.sites = self.partitions.sites
        self.exchange = Exchange(shared, name, rules, self.partitions.seeds.keys(), clock)
        self._crawled = 0
        self._taking: deque[tuple[int, Generator[None]]] = deque()
        self._faults: dict[int, str] = {}
        self._unread: dict[str, str] = {}
        self._is_idle = False
        self._reported_at = clock() - _REPORT_SECONDS
        self._sender: Sender | None = None
        self._is_over = self._broken = False
        self._stopped: Callable[[str], object] = lambda reason: None
        self._is_left_alone: Callable[[], bool] = lambda: False

    # -- what there is --------------------------------------------------------------------------

    @property
    def job(self) -> Job:
        return self._shared.job

    @property
    def pages(self) -> int:
        return self.totals().pages

    @property
    def ready(self) -> int:
        return self.partitions.ready

    @property
    def round_trips(self) -> int:
        return self._shared.round_trips

    def totals(self) -> Totals:
        return totals_of(self._leases())

    def _leases(self) -> Collection[Lease]:
        """Return the leases of all partitions, as of the last look."""
        leases = self.exchange.leases
        if self._sender is None and not leases.seen:  # the crawl was not joined
            leases.read()
        return leases.seen.values()

    def best(self, most: int) -> list[MediaPageRecord]:
        return [] if self._broken else [*self._shared.media_pages(most=most)]

    def media_pages(self) -> Iterator[MediaPageRecord]:
        """Yield the media pages that all workers found, best topic score first.

        None when the shared store has failed.
        """
        return iter(()) if self._broken else self._shared.media_pages()

    def patterns(self) -> list[PatternRecord]:
        facts = (lease.plain_facts for lease in self._leases())
        found = [PatternRecord(*one) for some in facts for one in some.get("patterns", ())]
        return sorted(found, key=lambda one: (-one.urls, one.pattern))

    def error_reasons(self) -> Counter[str]:
        reasons = Counter[str]()
        for lease in self._leases():
            reasons.update(lease.plain_facts.get("errors", {}))
        return reasons

    # -- what a fetcher calls -------------------------------------------------------------------

    def watch(
        self,
        *,
        updated: Callable[[], object],
        stopped: Callable[[str], object],
        failed: Callable[[StoreError], object],
        left_alone: Callable[[], bool] = lambda: False,
        contents: Mapping[int, str],
    ) -> None:
        self._is_left_alone, self.partitions.contents = left_alone, contents
        self._stopped = stopped

        def broken(error: StoreError) -> None:
            self._broken = True
            failed(error)

        self._sender = Sender(self.exchange, updated=updated, failed=broken)

    def is_full(self, most: int, under_way: int) -> bool:
        return False  # its workers keep the bound together

    def silent(self) -> list[str] | None:
        return None  # its workers together say so

    def barren_directories(self) -> list[BarrenDirectory]:
        return []  # each worker knows its own only

    def near_misses(self) -> list[NearMiss]:
        return [] if self._broken else self._shared.near_misses(self._reporter.test.threshold)

    def next(self, ready: Callable[[str], bool] = lambda origin: True) -> WaitingLink | None:
        # In this order: after a silence, news tell first which partitions others have taken.
        may_fetch = self._may_fetch()
        self._hear()
        link, self.interrupted = None, False
        if may_fetch and not self._is_over:
            link, self.interrupted = self.partitions.next(ready)
        # With nothing to fetch, what was received is recorded without a pause.
        self.interrupted |= link is None and bool(self._taking)
        if self._is_waited_for(link):
            self._hand_over()
        return link

    def judge(self, page: Page, digest: int = 0) -> Verdict:
        job = self.partitions.jobs.get(self._rules.partition_of(page.url))
        if job is None:
            return self._reporter.test.judge(page, page.media)
        return job.judge(page, digest)

    def with_listed_media(self, page: Page, urls: Sequence[str]) -> Page:
        job = self.partitions.jobs.get(self._rules.partition_of(page.url))
        return page if job is None else job.with_listed_media(page, urls)

    def linking(self, link: int) -> Linking:
        job = self.partitions.jobs.get(partition_of(link))
        return Linking() if job is None else job.linking(own_number(link))

    def crawled(self, link: int, fetched: FetchedPage, requests: Sequence[NewLink] = ()) -> bool:
        if (job := self.partitions.running(link)) is None:
            return False  # its partition is another worker's by now, which fetches it again
        report = self._reporter.report(fetched, time.time())
        relevant = job.take_in(own_number(link), report, requests, fetched.verdict)
        self.partitions.end(link)  # now: until it is recorded, it can still be said to have failed
        self._crawled += 1
        return relevant

    def redirected(self, link: int, target: NewLink) -> bool:
        if (job := self.partitions.running(link)) is None:
            return False
        added_here = job.redirected(own_number(link), target)
        self.partitions.end(link)
        return added_here

    def retry(self, link: int, request: bytes | None, priority: int) -> None:
        if (job := self.partitions.running(link)) is not None:
            self.partitions.end(link)
            job.retry(own_number(link), request, priority)

    def failed(self, link: int, reason: str, requests: Sequence[NewLink] = ()) -> None:
        if (job := self.partitions.running(link)) is not None:
            self.partitions.end(link)
            job.failed(own_number(link), reason, requests)

    def add(self, links: Sequence[NewLink]) -> bool:
        new = False
        for link in links:
            partition = self._rules.partition_of(link.url)
            if (job := self.partitions.jobs.get(partition)) is not None:
                new |= job.add([link])
                self.partitions.note(partition)
            else:
                self.partitions.send(link)
                new = True
        return new

    def request_before(self, link: NewLink) -> bytes | None:
        job = self.partitions.jobs.get(self._rules.partition_of(link.url))
        return None if job is None else job.request_before(link)

    def is_running(self, link: int) -> bool:
        return self.partitions.running(link) is not None

    def referrer(self, link: WaitingLink) -> str | None:
        return self.partitions.jobs[partition_of(link.id)].referrer(link)

    def commit(self) -> None:
        self._hear()
        if self._clock() - self._reported_at >= _REPORT_SECONDS or self._is_idle:
            self._hand_over()

    def _hand_over(self) -> None:
        if self.exchange.is_free:
            self.exchange.hand(self._report())

    def _report(self, *, is_last: bool = False) -> Report:
        left_alone = not self.partitions.under_way and self._is_left_alone()
        report = self.partitions.report(
            self.exchange.long_logs, left_alone=left_alone, is_last=is_last
        )
        report.faults, report.unread, report.crawled = self._faults, self._unread, self._crawled
        waits = left_alone or not self.partitions.ready
        self._is_idle = report.idle = waits and self.partitions.is_reported
        self._faults, self._unread = {}, {}
        self._reported_at = self._clock()
        return report

    def stop(self, reason: str, *, finished: bool) -> None:
        """Leave the crawl: write what happened, and release the partitions.

        Whether the crawl is over is not this worker's to say.

        Raises:
            StoreError: the shared store cannot be reached.
        """
        if self._sender is None or self._broken:
            return
        self._sender.end()
        if self._broken:
            return
        self.exchange.turn()  # what was handed over when the threads were told to end
        self._hear()
        alone = not self.exchange.has_company
        remarks = [one for job in self.partitions.jobs.values() for one in job.scorer.remarks()]
        self.exchange.leave(self._report(is_last=True))
        for remark in dict.fromkeys(remarks):
            logger.warning("%s: %s", self.algorithm, remark)
        if alone and not self._is_over:
            self._shared.stop_job(reason, finished=False)

    def roll_back(self) -> None:
        """Do nothing: what was handed over is handed over."""

    def close(self) -> None:
        self.exchange.ended = True
        self._shared.close()
        if self._sender is not None:
            self._sender.end(_LAST_WAIT)
        self.partitions.close()

    # -- news -----------------------------------------------------------------------------------

    def _hear(self) -> None:
        """Process the news of the last turn; one partition if pages can be fetched meanwhile.

        A partition that is taken over takes many steps; from those that are lost no page is
        fetched any more.
        """
        if (news := self.exchange.take_news()) is not None:
            self._take_in(news)
        end, steps = self._clock() + _LONGEST_HEARING, 0
        while self._taking and (steps < _STEPS_AT_ONCE or not self.partitions.ready):
            steps += 1
            try:
                next(self._taking[0][1])
            except StopIteration:
                self._taking.popleft()
            if self._clock() > end:
                break

    def _take_in(self, news: News) -> None:
        for partition in news.lost:
            self._taking = deque(one for one in self._taking if one[0] != partition)
            self._faults.pop(partition, None)
            self.partitions.forget(partition)
        for stored in news.taken:
            self._taking.append((stored.lease.partition, self._take(stored)))
        for name, message in news.messages.items():
            self._receive(name, message)
        for partition, granted in news.granted.items():
            if partition in self.partitions.jobs:
                self.partitions.jobs[partition].granted = granted
        if news.give:
            self.partitions.choose(news.give)
        for host, target in news.moved:
            self.partitions.sites.admit(target)
            self._reporter.test.moved(host, target)
        if news.over is not None:
            self._is_over = True
            name_silent(news.over.silent)
            self._stopped(news.over.reason)

    def _take(self, stored: Stored) -> Generator[None]:
        """Take a partition over, step by step; one that cannot be read is left alone."""
        partition = stored.lease.partition
        try:
            yield from self.partitions.take(stored)
        except (ValueError, LookupError, OverflowError, sqlite3.Error, StoreError) as error:
            if not isinstance(error, DamagedStoreError):
                raise_if_fatal(error)
            self.partitions.forget(partition)
            self._faults[partition] = f"{type(error).__name__}: {error}"

    def _receive(self, name: str, message: bytes) -> None:
        """Process a message; a fault in it is reported once."""
        try:
            self.partitions.receive(name, message)
        except Exception as error:
            raise_if_fatal(error)
            logger.debug("Message %s cannot be read", name, exc_info=True)
            self._unread[name] = f"{type(error).__name__}: {error}"

    # -- links ----------------------------------------------------------------------------------

    def _is_waited_for(self, link: WaitingLink | None) -> bool:
        """Return whether somebody waits for what the next report tells.

        For partitions, or to hear that there is nothing to do here; or this worker for a budget.
        """
        partitions = self.partitions
        if partitions.giving and partitions.can_give:
            return True
        if link is not None or self.interrupted or partitions.under_way:
            return False
        now = self._clock()
        since = now - self._reported_at
        if self._rules.max_pages and partitions.ready and since >= IDLE_SECONDS:
            return True
        return not partitions.ready and (not self._is_idle or since >= self.exchange.pause)

    def _may_fetch(self) -> bool:
        now = self._clock()
        if self._is_over or self._broken or self.exchange.is_cut_off(now):
            return False
        return self.exchange.unwritten(now) <= _MOST_UNWRITTEN
