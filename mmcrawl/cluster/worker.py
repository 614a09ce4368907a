"""A worker of a shared crawl: what Scrapy's scheduler asks and tells, as with `CrawlJob`.

It crawls its own parts of the web (:mod:`~mmcrawl.cluster.own_parts`) and asks nobody. What changes
in them is reported to the shared store about once a second (:mod:`~mmcrawl.cluster.exchange`), and
counts from then on.
"""

import logging
import os
import secrets
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from mmcrawl.cluster.exchange import Exchange
from mmcrawl.cluster.hearing import Hearing
from mmcrawl.cluster.learnt import learnt_patterns
from mmcrawl.cluster.members import Sign, signs_of
from mmcrawl.cluster.mixing import Mixture
from mmcrawl.cluster.own_parts import SIBLINGS, OwnParts, added, own_number, part_of
from mmcrawl.cluster.places import WORKER, Rules
from mmcrawl.cluster.sender import Sender
from mmcrawl.cluster.store import SharedStore
from mmcrawl.crawl.parts import CrawlParts
from mmcrawl.crawl.reports import FetchedPage, RecentHarvest, Totals
from mmcrawl.crawl.silent import why_silent
from mmcrawl.errors import StoreError
from mmcrawl.frontier.admission import Sites
from mmcrawl.frontier.findings import MediaPageRecord, PatternRecord
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.frontier.store import Job
from mmcrawl.page.model import Linking, Page
from mmcrawl.scoring.relevance import Verdict
from mmcrawl.topic.topic import Topic

logger = logging.getLogger(__name__)

_LAST_WAIT = 5.0  # seconds for the thread to end when its shared store is closed
_MOST_UNWRITTEN = 30.0  # seconds that reports may wait before no more links are given out
_FEW_PAGES = 16  # of the budget, at which the next slice is asked for


def worker_name() -> str:
    """Return a name that no other worker has: its machine, its process, and some chance."""
    token = os.environ.get(WORKER, "").partition("/")[2] or secrets.token_hex(6)
    return f"{socket.gethostname()}-{os.getpid()}-{token}"


class SharedJob:
    """A crawl that several processes work on; this one has the parts that are its own.

    Args:
        shared: where the crawl is shared.
        crawl: what it is made of.
        rules: how it is shared.
        name: of this worker.
        clock: seconds, monotonic.

    Attributes:
        shared: True.
        interrupted: whether the last `next` gave up early, see `CrawlJob`.
        exchange: its side of the shared store.
        parts: those that are its own.
    """

    shared = True

    def __init__(
        self,
        shared: SharedStore,
        crawl: CrawlParts,
        rules: Rules,
        *,
        name: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.algorithm = crawl.algo
        self.interrupted = False
        self._shared, self._rules, self._clock = shared, rules, clock
        self.exchange = Exchange(shared, name, rules, clock)
        self._reporter = crawl.reporter()
        self._mixture = Mixture(crawl, self._reporter.similarity, SIBLINGS)
        self.parts = OwnParts(
            shared, crawl, self._reporter, self._mixture.knowledge, rules=rules, clock=clock
        )
        self._hearing = Hearing(self.exchange, self.parts, self._mixture, self._reporter.test)
        self._recent = RecentHarvest()
        self._crawled = self._activity = 0
        self._begun = self._round = self._before_round = 0
        self._sender: Sender | None = None
        self._errors_at, self._counted_errors = -1, dict[str, int]()
        self._broken = False
        self._is_left_alone: Callable[[], bool] = lambda: False
        self._contents: Mapping[int, str] = {}
        self._has_found = False

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
    def sites(self) -> Sites:
        """The hosts that the crawl keeps to, and those in private networks that may be asked."""
        return self.parts.sites

    @property
    def pages(self) -> int:
        """How many pages all workers have crawled, as of a second ago."""
        return self.exchange.standing.pages + sum(sign.pages for sign in self._others())

    @property
    def ready(self) -> int:
        """How many links of this worker's parts wait and may be fetched."""
        return self.parts.ready

    @property
    def more_may_come(self) -> bool:
        """Whether links may come from other workers: so it seems until the crawl is over."""
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
        """Return where the crawl stands, all workers together, as of a second ago."""
        others = [Totals(**sign.totals) for sign in self._others() if sign.totals]
        own = Totals(**self.exchange.standing.totals)
        return added([own, *others])

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
        return [] if self._broken else learnt_patterns(self._shared)

    def error_reasons(self) -> Counter[str]:
        """Return how many links ended in error, by reason, as far as others have told theirs."""
        reasons = Counter(self._errors())
        for sign in self._others():
            reasons.update(sign.errors)
        return reasons

    # -- what a fetcher calls -------------------------------------------------------------------

    def watch(
        self,
        *,
        news: Callable[[], object],
        stopped: Callable[[str], object],
        failed: Callable[[StoreError], object],
        left_alone: Callable[[], bool] = lambda: False,
        contents: Mapping[int, str],
    ) -> None:
        """Join the crawl. `news` and `failed` are called from another thread.

        `left_alone` tells whether all that waits is of hosts that need not be asked soon,
        `contents` what pages without links and media consist of.
        """
        self._is_left_alone, self._contents = left_alone, contents

        def broken(error: StoreError) -> None:
            self._broken = True
            failed(error)

        self._hearing.stopped = stopped
        self._sender = Sender(self.exchange, news=news, failed=broken)

    def next(self, ready: Callable[[str], bool] = lambda origin: True) -> WaitingLink | None:
        """Take the best link of this worker's parts whose host is `ready`."""
        # In this order: whoever may fetch again, after it was not heard, has lost what others have.
        may_fetch = self._may_fetch()
        self._hearing.hear()
        link, self.interrupted = None, False
        if may_fetch and not self._hearing.is_over:
            link, self.interrupted = self.parts.next(ready)
        # With nothing to fetch, what was heard is taken in without a pause.
        self.interrupted |= link is None and not self._hearing.is_done
        if self._is_waited_for(link):
            self.commit()
        return link

    def judge(self, page: Page, digest: int = 0) -> Verdict:
        """Return whether a page is relevant, and why."""
        job = self.parts.jobs.get(self._rules.part_of(page.url))
        if job is None:
            return self._reporter.test.judge(page, page.media)
        return job.judge(page, digest)

    def with_listed_media(self, page: Page, urls: Sequence[str]) -> Page:
        """Return a page with the media that lists of its part say it shows."""
        job = self.parts.jobs.get(self._rules.part_of(page.url))
        return page if job is None else job.with_listed_media(page, urls)

    def linking(self, link: int) -> Linking:
        """Return what led to a link of this worker's parts."""
        job = self.parts.jobs.get(part_of(link))
        return Linking() if job is None else job.linking(own_number(link))

    def crawled(self, link: int, fetched: FetchedPage, requests: Sequence[NewLink] = ()) -> bool:
        """Take in a fetched page; for the arguments see `CrawlJob.crawled`."""
        if not self.is_running(link):
            return False  # its part is another worker's by now, who fetches it again
        job = self.parts.jobs[part_of(link)]
        report = self._reporter.report(fetched, time.time())
        relevant = job.take_in(own_number(link), report, requests, fetched.verdict)
        self.parts.end(link)  # now: until it is taken in, it can still be said to have failed
        self._mixture.count(report.words)
        self._recent.add(link, relevant=relevant)
        self._crawled += 1
        self.parts.note(part_of(link))
        return relevant

    def redirected(self, link: int, target: NewLink) -> bool:
        """Note that a link only leads on."""
        if not self.is_running(link):
            return False
        added_here = self.parts.jobs[part_of(link)].redirected(own_number(link), target)
        self.parts.end(link)
        self.parts.note(part_of(link))
        return added_here

    def retry(self, link: int, request: bytes | None, priority: int) -> None:
        """Let a link that is being fetched wait again."""
        if (job := self.parts.end(link)) is not None:
            job.retry(own_number(link), request, priority)
            self.parts.note(part_of(link))

    def failed(self, link: int, reason: str, requests: Sequence[NewLink] = ()) -> None:
        """Note that a link cannot be had, and why."""
        if (job := self.parts.end(link)) is not None:
            job.failed(own_number(link), reason, requests)
            self.parts.note(part_of(link))

    def add(self, links: Sequence[NewLink]) -> bool:
        """Add links that come from no page; tell whether any of them is new, or is others'."""
        new = False
        for link in links:
            part = self._rules.part_of(link.url)
            if part in self.parts.held:
                new |= self.parts.job_of(part).add([link])
                self.parts.note(part)
            else:
                self.parts.letters.add(part, None, link)
                new = True
        return new

    def request_before(self, link: NewLink) -> bytes | None:
        """Return the request in the way of a link's own; None if that is taken, or is others'."""
        part = self._rules.part_of(link.url)
        return self.parts.job_of(part).request_before(link) if part in self.parts.held else None

    def is_running(self, link: int) -> bool:
        """Tell whether a link is being fetched here."""
        return link in self.parts.under_way

    def referrer(self, link: WaitingLink) -> str | None:
        """Return the address of the page a link was found on, None for a seed."""
        return self.parts.jobs[part_of(link.id)].referrer(link)

    def commit(self) -> None:
        """Hand over what has happened since this was called last."""
        self._hearing.hear()
        exchange = self.exchange
        if (report := self.parts.report()) is not None:
            self._activity += 1
            exchange.hand(partial(exchange.write, report), report.since)
        for part in sorted(self._hearing.due_snapshots & self.parts.jobs.keys()):
            exchange.hand(partial(exchange.holdings.copy, *self.parts.copied(part)))
        self._hearing.due_snapshots.clear()
        for to, parts in self.parts.give():
            exchange.hand(partial(exchange.holdings.give, parts, to))
        if self._mixture.is_due:
            self.tell_learnt()
        exchange.stand(self._standing(), self._used(), heard=self._hearing.is_done)

    def tell_learnt(self) -> None:
        """Hand over what was learnt here."""
        learnt = self._mixture.told(self.parts.jobs, self.parts.settled)
        self.exchange.hand(partial(self.exchange.publish, learnt))

    def stop(self, reason: str, *, finished: bool) -> None:
        """Take leave: what happened is written, and the parts are others'.

        Whether the crawl is over is not this worker's to say.

        Raises:
            StoreError: the shared store cannot be reached.
        """
        if self._sender is None or self._broken:
            return
        self.commit()
        self.tell_learnt()
        standing = replace(self._standing(), errors=self._errors())
        self.exchange.stand(standing, self._used(), heard=self._hearing.is_done)
        self._sender.leave()
        if self._broken:
            return
        alone = not self.exchange.has_company
        remarks = (one for job in self.parts.jobs.values() for one in job.scorer.remarks())
        for remark in dict.fromkeys(remarks):
            logger.warning("%s: %s", self.algorithm, remark)
        if alone and not self._hearing.is_over:
            self._shared.stop_job(reason, finished=False)

    def roll_back(self) -> None:
        """Do nothing: what was handed over is handed over."""

    def close(self) -> None:
        """Let go of the shared store; what still waits for it ends."""
        self._shared.close()
        if self._sender is not None:
            self._sender.leave(_LAST_WAIT)
        self.parts.close()

    def _others(self) -> Iterable[Sign]:
        """Return the last signs of other workers; of a crawl that was not joined, of all."""
        if self._sender is not None or self._broken:
            return self.exchange.others
        return signs_of(self._shared.all("worker")).values()

    # -- links ----------------------------------------------------------------------------------

    def _is_waited_for(self, link: WaitingLink | None) -> bool:
        """Tell whether somebody waits for what the next commit tells.

        For parts, or to hear that there is nothing to do here.
        """
        parts = self.parts
        if parts.giving:
            return parts.can_give
        is_idle = link is None and not (self.interrupted or parts.under_way or parts.ready)
        return is_idle and not self.exchange.standing.idle

    def _may_fetch(self) -> bool:
        now = self._clock()
        if self._hearing.is_over or self._broken or self.exchange.is_cut_off(now):
            return False
        if self.exchange.unwritten(now) > _MOST_UNWRITTEN:
            return False
        return not self._rules.max_pages or self._has_budget()

    def _has_budget(self) -> bool:
        """Tell whether another page may be fetched; ask for more in time."""
        budget = self.exchange.budget
        left = budget.granted - self._used()
        may_ask = self.parts.may_have_links and not budget.spent and budget.round
        if left < _FEW_PAGES and may_ask:
            with self.exchange.changed:
                self.exchange.wants_pages = True
                self.exchange.changed.notify()
        return left > 0

    def _used(self) -> int:
        """Return how many pages of this round's budget are used."""
        budget = self.exchange.budget
        if budget.begun != self._begun:
            self._begun, self._round, self._before_round = budget.begun, budget.round, self._crawled
        return self._crawled - self._before_round + len(self.parts.under_way)

    def _standing(self) -> Sign:
        parts, own = self.parts, self.parts.totals
        self._used()  # of a round that was begun meanwhile
        waits = not parts.ready or (self._rules.max_pages > 0 and self._is_spent())
        left_alone = not waits and self._is_left_alone()
        idle = (waits or left_alone) and parts.is_reported
        return Sign(
            active=0 if left_alone else parts.active,
            pages=own.pages,
            crawled=self._crawled,
            idle=idle,
            left_alone=left_alone,
            activity=self._activity + self._hearing.heard + self._crawled,
            round=self._round,
            moved=sorted(parts.moved),
            lag=round(self.exchange.unwritten(self._clock()), 1),
            under_way=len(parts.under_way),
            totals=replace(own, harvest_rate=self._recent.rate).as_plain(),
            errors=self._errors() if idle else {},
            silent=self._why_silent() if idle else [],
            has_found=self._has_found,
        )

    def _why_silent(self) -> list[str]:
        """Return why seeds of its parts gave nothing; none once anything gave something."""
        lines: list[str] = []
        for part, job in () if self._has_found else self.parts.jobs.items():
            own = {own_number(k): text for k, text in self._contents.items() if part_of(k) == part}
            found = why_silent(job.frontier, own)
            if found is None:
                self._has_found = True
                return []
            lines += found
        return lines

    def _errors(self) -> dict[str, int]:
        """Return why links ended in error; it is counted anew when something has happened."""
        now = self._activity + self._hearing.heard + self._crawled
        if self._errors_at != now:
            self._errors_at, self._counted_errors = now, self.parts.errors()
        return self._counted_errors

    def _is_spent(self) -> bool:
        budget = self.exchange.budget
        return budget.spent and not self._has_budget()
