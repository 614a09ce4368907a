"""Scrapy's scheduler interface over the frontier: which request is fetched next.

A request handed out carries the id of its link. Retries and redirects are made from it and bring
the id back: a retry lets the link wait again, a redirect ends it and adds its target. Every other
request is a new link.

The spider makes the crawl: `spider.make_job() -> Crawl`.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Self, cast

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from mmcrawl.crawl.history import name_silent
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.protocol import Crawl
from mmcrawl.engine.commits import Commits
from mmcrawl.engine.hosts import FailureReport, FreeHosts, RobotsUnreachableError, UnreachableHosts
from mmcrawl.engine.requests import LINK_KEY, WAY_KEY, LinkRequests
from mmcrawl.engine.threads import in_reactor, in_thread
from mmcrawl.engine.window import Window
from mmcrawl.errors import MmcrawlError, RequestError, StoreError, fatal_error, raise_if_fatal
from mmcrawl.frontier.records import WaitingLink
from mmcrawl.frontier.urls import canonical, host_of
from mmcrawl.settings import value_of
from mmcrawl.store.child_process import collect_seldom

if TYPE_CHECKING:
    from mmcrawl.engine.requisites import Requisites

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0

REQUISITE = "mmcrawl_requisite"
"""Name in a request's meta of the number of what a page needs, which is no link."""

ENDED = "_MMCRAWL_ENDED"
"""The setting of a process whose workers have crawled, which only shows what came of it: why they
ended."""


class FocusedScheduler(BaseScheduler):
    """Hands out the best waiting link of a host that is free.

    A host is free while it has fewer requests in progress than it may have at once; with a delay
    between requests that is one. So no request waits behind those of a slow host, and the choice
    is made as late as it can be, and by what all pages have taught but those in the `Window`.

    A store that fails stops the crawl with the reason `store_error`, and so does a process that has
    run out of memory or open files: what was not committed is fetched again when the same command
    is run once there is room.

    Pages that take long to take in are handed to a thread. Only that thread changes the job then:
    no link is given out, and what is told meanwhile is done afterwards, in order.

    Attributes:
        requisites: what pages need to be seen, fetched when no link of a host is; None if nothing
            of it is kept.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.job: Crawl | None = None
        self.requisites: Requisites | None = None
        self.max_pages = 0
        self._under_way: dict[int, Request] = {}
        self._failed = False
        self._at_work: Deferred[None] | None = None
        self._afterwards: deque[Callable[[], object]] = deque()
        self._commits = Commits(self._commit, self._not_stored)
        self._hosts = FreeHosts(crawler)
        self._window = Window()
        self._has_others = False
        self._is_open = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    # -- what the engine calls ------------------------------------------------------------------

    def open(self, spider: Spider) -> None:
        """Open the spider's job; a job that cannot be opened closes the spider with one line."""
        self.links = LinkRequests(self.crawler, spider)
        self.crawler.signals.connect(self._opened, signals.spider_opened)
        try:
            self._window = Window(value_of(self.crawler.settings, "MMCRAWL_PAGES_UNDER_WAY"))
            self.job = spider.make_job()  # type: ignore[attr-defined]
        except MmcrawlError as error:
            logger.error("%s", error)  # noqa: TRY400 - for a person, not for a debugger
            self._close_at_once("store_error" if isinstance(error, StoreError) else "bad_input")
            return
        pipelines = getattr(self.crawler.engine.scraper.itemproc, "middlewares", ())
        modules = {type(pipeline).__module__ for pipeline in pipelines}
        self._has_others = any(not module.startswith("mmcrawl.") for module in modules)
        self.max_pages = getattr(spider, "max_pages", 0)
        self.crawler.signals.connect(self._release_store, signals.engine_stopped)
        self.crawler.signals.connect(self._release_unstarted, signals.spider_closed)
        self._ends = Ends(self)
        self._window.watch(self.crawler.signals, self._under_way)
        ended = self.crawler.settings.get(ENDED)
        if ended or self.job.job.finished_at is not None:
            self._close_at_once(ended or "already_finished")
            return
        self.job.watch(
            updated=in_reactor(self._hosts.ask),
            stopped=in_reactor(self._close),
            failed=in_reactor(self.give_up),
            left_alone=lambda: self.only_left_alone,
            contents=getattr(spider, "contents", {}),
        )
        self._commits.begin()
        collect_seldom()

    def close(self, reason: str) -> Deferred[None] | None:
        """Commit and note why the crawl stopped. The store stays open for those who report.

        To take leave of other processes their server is needed, which may be away: that is waited
        for beside the reactor, so that a second Ctrl-C ends the process.
        """
        self._commits.end()
        if self._at_work is not None:
            return self._at_work.addCallback(lambda _: self.close(reason))
        if self.job is None or self._failed or reason == "already_finished":
            return None
        job, finished = self.job, reason == "finished"
        if self._alone is None:
            stopped = in_thread(lambda: job.stop(reason, finished=finished))
            return stopped.addErrback(self._give_up_at_end)
        with self._giving_up():
            job.stop(reason, finished=finished)
        return None

    def has_pending_requests(self) -> bool:
        """Return whether a link can be fetched now or may still arrive from another worker."""
        if self._at_work is not None:
            return True
        if self.job is None or self._failed:
            return False
        ready = self.job.ready > 0 and not self.only_left_alone
        more = self.job.more_may_come or ready
        if self.requisites is not None and self.requisites.pending:
            return True
        return self._commits.under_way or (more and not self.limit_reached)

    def enqueue_request(self, request: Request) -> bool:
        """Add a request: a retry or redirect of one in progress, or a new one.

        Returns False for a request that is not new, cannot be kept, or whose target is not to be
        followed.
        """
        if self.job is None or self._failed:
            return False
        if self._at_work is not None:
            self._afterwards.append(lambda: self.enqueue_request(request))
            return True
        if REQUISITE in request.meta and self.requisites is not None:
            self.requisites.retry(request)
            return True
        with self._giving_up():
            link = request.meta.get(LINK_KEY)
            if link in self._under_way:
                return self._take_back(link, request)
            new = self.links.spiders_link(request, self._open_job)
            return self._open_job.add([new]) and not new.refused
        return False

    def next_request(self) -> Request | None:
        """Return the best request of a free host; None if there is none, or all hosts are busy."""
        if self.job is None or self._failed or self._at_work:
            return None
        if self.limit_reached:
            return self._next_requisite()
        if not self._window.has_room():
            self._hosts.ask_again(_LOOK_SECONDS)  # for what is overdue by then
            return None
        with self._giving_up():
            link = self.job.next(self._hosts.test())
            if link is None:
                if self.job.interrupted:
                    self._hosts.ask_again(0.0)
                return None if self.job.interrupted else self._next_requisite()
            request = self._request_or_none(link)
            if request is not None:
                self._under_way[link.id] = request
                self._window.handed_out(link.id)
            return request
        return None

    @property
    def unreachable(self) -> UnreachableHosts:
        """The hosts whose robots.txt cannot be read; their links wait."""
        return self._hosts.unreachable

    @property
    def only_left_alone(self) -> bool:
        """Whether all waiting links are of hosts whose robots.txt was requested often enough."""
        return self._hosts.left_alone and not self._under_way

    # -- what the spider middleware calls -------------------------------------------------------

    @property
    def limit_reached(self) -> bool:
        """Whether the pages fetched and in progress reach the limit of the crawl."""
        return self.job is not None and self.job.is_full(self.max_pages, len(self._under_way))

    @property
    def at_work(self) -> bool:
        """Whether a thread is recording a page: until then, the job is only asked for verdicts."""
        return self._at_work is not None

    def rests(self, link: int) -> None:
        """Record that a page has entered the pipelines, which may include a user's own."""
        if self._has_others:
            self._window.rests(link)
            self._hosts.ask()

    def stores(self, link: int, stored: Deferred[Any]) -> bool:
        """Allow learning from a page while it is stored; return whether that is possible.

        Nothing that is reported of it is committed before. Where other processes learn of it at
        any time, a page is passed on when it is stored.
        """
        if self._alone is None:
            return False
        self._commits.stores(link, stored)
        stored.addBoth(lambda _: self._hosts.ask())  # the crawl may be over now
        return True

    def is_under_way(self, link: int | None) -> bool:
        """Return whether a link was handed out and is not reported yet."""
        return link in self._under_way

    def report(
        self, link: int, tell: Callable[[Crawl], object], *, takes_long: bool = False
    ) -> None:
        """End a link that is in progress.

        Args:
            link: its id.
            tell: reports to the job what became of it.
            takes_long: it holds up the reactor, if it is not given to a thread.
        """
        if self.job is None or self._failed or link not in self._under_way:
            return
        if self._at_work is not None:
            self._afterwards.append(lambda: self.report(link, tell, takes_long=takes_long))
            return
        if self._commits.hold(link, lambda: self.report(link, tell, takes_long=takes_long)):
            return
        if reason := self._commits.refusal(link):
            tell = methodcaller("failed", link, reason)
        self._commits.reports(link)
        del self._under_way[link]
        if takes_long:
            self._at_work = in_thread(lambda: self._tell(link, tell))
            self._at_work.addBoth(lambda outcome: self._end_work(outcome, link))
            return
        with self._giving_up():
            self._tell(link, tell)
            self._commits.count()
        self._window.ended(link)
        self._hosts.ask()

    def change(self, change: Callable[[], object]) -> None:
        """Change the store, but not while a thread does."""
        if self._at_work is not None:
            self._afterwards.append(lambda: self.change(change))
        elif not self._failed:
            with self._giving_up():
                change()
            self._hosts.ask()

    def gives_up(self, error: BaseException | None) -> bool:
        """Stop the crawl if an error is not the fault of its page; return whether it is not."""
        fatal = fatal_error(error)
        if fatal is not None:
            self.give_up(fatal)
        return fatal is not None

    # -- inside ---------------------------------------------------------------------------------

    def _end_work(self, outcome: Failure | None, link: int) -> None:
        """Do what waited for the thread, up to the next page that takes long."""
        self._at_work = None
        self._window.ended(link)
        if outcome is not None and not self.gives_up(outcome.value):
            logger.error("A page could not be recorded: %s", outcome.getTraceback())
        while self._afterwards and self._at_work is None:
            self._afterwards.popleft()()
        self._commits.count()  # after what waited: a page may turn out not to be stored
        self._hosts.ask()

    @contextmanager
    def _giving_up(self) -> Iterator[None]:
        """Stop the crawl at an error that is not the fault of a page."""
        try:
            yield
        except Exception as error:
            if not self.gives_up(error):
                raise

    def _tell(self, link: int, tell: Callable[[Crawl], object]) -> None:
        """Report the outcome of a link; an error loses one page and leaves no link stuck."""
        job = self._open_job
        try:
            tell(job)
        except Exception as error:
            raise_if_fatal(error)
            logger.exception("What came of link %d could not be recorded", link)
            if job.is_running(link):
                job.failed(link, f"internal error: {type(error).__name__}: {error}"[:200])
            self.crawler.stats.inc_value("mmcrawl/internal_errors")

    @property
    def _alone(self) -> CrawlJob | None:
        """The crawl, if it belongs to this process alone."""
        return self.job if isinstance(self.job, CrawlJob) else None

    @property
    def _open_job(self) -> Crawl:
        if self.job is None:
            raise RuntimeError("the scheduler is not open")
        return self.job

    def _take_back(self, link: int, request: Request) -> bool:
        """Handle the retry or redirect of a request in progress."""
        before = self._under_way.pop(link)
        self._window.ended(link)
        target = canonical(request.url)
        if target == canonical(before.url) and request.method == before.method:
            new = self.links.new_link(request)
            if new.refused:
                self._open_job.failed(link, new.refused)
            else:
                self._open_job.retry(link, new.request, request.priority)
            return not new.refused
        if target in map(canonical, before.meta.get("redirect_urls", ())):
            self._open_job.failed(link, "redirect loop")
            return False
        if request.callback is None:
            return self._open_job.redirected(link, self.links.new_link(request))
        new = self.links.spiders_link(request, self._open_job)
        return self._open_job.redirected(link, new)

    def _request_or_none(self, link: WaitingLink) -> Request | None:
        """Return the request of a link; if it cannot be restored, the link fails."""
        try:
            request = self.links.request(link, self._open_job.referrer)
        except (RequestError, ValueError) as error:
            logger.error("What is stored as the request of %s: %s", link.url, error)  # noqa: TRY400
            self._open_job.failed(link.id, f"stored request: {error}"[:200])
            self._hosts.ask_again(0.0)
            return None
        # Nothing of a site is missing that has no sitemap, or no robots.txt that names one.
        which = "no sitemap or feed: " if WAY_KEY in request.meta else ""
        fail = partial(self._fail, link.id, which)
        waits = partial(self._waits, link.id)
        errback = FailureReport(self.gives_up, fail, waits, request.errback)
        return request.replace(errback=errback)

    def _next_requisite(self) -> Request | None:
        """Return a request for what pages need, to a host of which no page is in progress."""
        if self.requisites is None:
            return None
        busy = {host_of(request.url) for request in self._under_way.values()}
        with self._giving_up():
            return self.requisites.next(self._hosts.idle(busy), self.unreachable)
        return None

    def _fail(self, link: int, which: str, reason: str) -> None:
        self.report(link, lambda job: job.failed(link, which + reason))

    def _waits(self, link: int, failure: Failure) -> bool:
        """Let a link wait if its host is left alone; return whether it is."""
        if not failure.check(RobotsUnreachableError):  # type: ignore[no-untyped-call]
            return False
        request = self._under_way.get(link)
        if request is None:
            return True
        new = self.links.new_link(request)
        self.report(link, lambda job: job.retry(link, new.request, request.priority))
        return True

    def _commit(self) -> bool:
        """Commit, unless a thread is busy; return whether that was done."""
        if self.job is None or self._failed or self._at_work is not None:
            return False
        with self._giving_up():
            self.job.commit()
            if self.requisites is not None:
                self.requisites.queue.committed()
                self._hosts.ask()
        return True

    def _not_stored(self, link: int, reason: str) -> None:
        """Record that a page that was reported could not be stored."""
        if self._at_work is not None:
            self._afterwards.append(lambda: self._not_stored(link, reason))
        elif self._alone is not None and not self._failed:
            with self._giving_up():
                self._alone.not_stored(link, reason)

    def give_up(self, error: StoreError, *, closing: bool = False) -> None:
        """Stop the crawl because a store fails; what was not committed is fetched again later.

        Args:
            error: The message for the user.
            closing: Whether the crawl is being closed already.
        """
        if self._at_work is not None:
            self._afterwards.appendleft(lambda: self.give_up(error, closing=closing))
            return
        if self._failed:
            return
        self._failed = True
        self._open_job.roll_back()
        logger.error("%s", error)
        self.crawler.stats.set_value("mmcrawl/store_error", str(error))
        if not closing:
            self._close("store_error")

    def _give_up_at_end(self, failure: Failure) -> None:
        failure.trap(StoreError)  # type: ignore[no-untyped-call]
        self.give_up(cast("StoreError", failure.value), closing=True)

    def _close(self, reason: str) -> None:
        if not self._is_open:  # pipelines may take their time
            self._close_at_once(reason)
        elif self.crawler.engine.spider is not None:  # it may have been closed by now
            deferred_from_coro(self.crawler.engine.close_spider_async(reason=reason))

    def _opened(self) -> None:
        self._is_open = True

    def _close_at_once(self, reason: str) -> None:
        """Close the spider as soon as it is open; Scrapy cannot close one that is still opening."""

        def close() -> None:
            raise CloseSpider(reason)

        self.crawler.signals.connect(close, signals.spider_opened, weak=False)

    def _release_store(self) -> None:
        if self.job is not None:
            self.job.close()

    def _release_unstarted(self) -> None:
        """Close the store of a crawl that was over before it began: no engine will have stopped.

        This is connected last, after everything that reports at the end.
        """
        if self.crawler.engine.start_time is None:
            self._release_store()


def scheduler_of(crawler: Crawler) -> FocusedScheduler | None:
    """Return the scheduler of a crawl if it is ours.

    Not by `isinstance`: to Scrapy whatever has a scheduler's methods is an instance of any.
    """
    scheduler = crawler.engine.scheduler if crawler.engine else None
    ours = FocusedScheduler in type(scheduler).mro()
    return cast("FocusedScheduler", scheduler) if ours else None


def crawl_of(crawler: Crawler) -> Crawl | None:
    """Return the crawl that our scheduler has open; None for Scrapy's, and for one refused."""
    scheduler = scheduler_of(crawler)
    return scheduler.job if scheduler else None


def has_something_to_do(crawler: Crawler) -> bool:
    """Return whether a crawl was not refused, and is not over before it begins."""
    scheduler = scheduler_of(crawler)
    if scheduler is None:
        return True
    return scheduler.job is not None and scheduler.job.job.finished_at is None


# -- How a crawl with nothing left to do ends, as scheduled runs see it ---------------------------


class Ends:
    """Closes an idle spider with the reason.

    Args:
        scheduler: of the crawl, whose job is open.
    """

    def __init__(self, scheduler: FocusedScheduler) -> None:
        self._scheduler = scheduler
        self._is_fresh = scheduler.job is not None and not scheduler.job.pages
        scheduler.crawler.signals.connect(self._name, signals.spider_idle)

    def _name(self) -> None:
        """Close with `max_pages` when only that limit keeps links waiting, with `nothing_fetched`
        when no page could be had, with `nothing_found` if no seed gave a page or a medium."""
        scheduler, job = self._scheduler, self._scheduler.job
        if job is None:
            return
        if scheduler.limit_reached and job.ready:
            raise CloseSpider("max_pages")
        if not job.pages:
            raise CloseSpider("nothing_fetched")
        if job.ready and scheduler.only_left_alone:
            raise CloseSpider("hosts_unreachable")
        if not self._is_fresh or scheduler.limit_reached:
            return
        if lines := job.silent():
            name_silent(lines)
            raise CloseSpider("nothing_found")
