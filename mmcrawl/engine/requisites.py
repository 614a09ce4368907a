"""Fetches and archives what pages need to be displayed, after the pages: `-a requisites=yes`.

Style sheets and pictures of a host are requested only while none of its pages waits or is being
fetched, so that pages are never delayed; `max_pages` does not count them. They obey robots.txt,
delays and the guard of private addresses like all requests. A redirect is archived as it came, and
its target requested like any other address. After a kill, what the archive already has is not
requested again.
"""

import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Self
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import run_in_thread
from twisted.python.failure import Failure

from mmcrawl.archive.model import Capture
from mmcrawl.archive.opening import open_archive
from mmcrawl.archive.rewriting import named_by
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.engine.answers import capture_of
from mmcrawl.engine.hosts import UnreachableHosts, reason_of
from mmcrawl.engine.items import RequisiteItem
from mmcrawl.engine.scheduler import REQUISITE, FocusedScheduler, scheduler_of
from mmcrawl.errors import MissingStoreError
from mmcrawl.frontier.requisites import Requisite, RequisiteLimits, RequisiteQueue
from mmcrawl.frontier.urls import split_origin
from mmcrawl.media.magic import HEAD, type_of
from mmcrawl.settings import SettingsLike, value_of

logger = logging.getLogger(__name__)

_LIMITS = (
    "MMCRAWL_REQUISITES_PER_PAGE",
    "MMCRAWL_REQUISITES_PAGE_BYTES",
    "MMCRAWL_REQUISITES_MOST",
    "MMCRAWL_REQUISITES_MOST_BYTES",
)
_BATCH = 500  # addresses that the archive is asked for at once


class Requisites:
    """Extension: hands out requests for what pages need when the scheduler has no link to fetch."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._under_way: dict[int, Requisite] = {}
        self._again: deque[Request] = deque()
        crawler.signals.connect(self._opened, signals.spider_opened)
        for signal in (signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._item_ended, signal)

    _scheduler: FocusedScheduler
    _job: CrawlJob
    queue: RequisiteQueue

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _opened(self, spider: Spider) -> None:
        args, scheduler = getattr(spider, "args", None), scheduler_of(self.crawler)
        job = scheduler.job if scheduler else None
        if not isinstance(args, FocusedParams) or args.requisites != "yes":
            return
        if scheduler is None or not isinstance(job, CrawlJob) or job.job.finished_at is not None:
            return
        self._scheduler, self._job = scheduler, job
        uri: str = getattr(spider, "archive_uri", None) or ""
        scheduler.change(lambda: self._begin(uri))

    def _begin(self, archive: str) -> None:
        limits = limits_of(self.crawler.settings)
        self.queue = RequisiteQueue(self._job.store, self._job.job.number, limits)
        self._take_archived(archive)
        self._scheduler.requisites = self

    def _take_archived(self, uri: str) -> None:
        """Record what the archive received before the crawl was killed, and what that names."""
        waiting = [one for origin in self.queue.waiting for one in self.queue.of_origin(origin)]
        if not waiting:
            return
        try:
            archive = open_archive(uri, create=False, read_only=True)
        except MissingStoreError:  # it has got nothing
            return
        with archive:
            for place in range(0, len(waiting), _BATCH):
                some = waiting[place : place + _BATCH]
                known = archive.known(one.url for one in some)
                for one in some:
                    if one.url in known and archive.visits(one.url)[-1].time >= self.queue.since:
                        capture = archive.rebuild(archive.get(one.url))
                        self.queue.taken([one])
                        self._kept(one, len(capture.body), named_by(capture))

    # -- what the scheduler calls ---------------------------------------------------------------

    @property
    def pending(self) -> bool:
        """Whether some wait, or are in progress."""
        return bool(self.queue.waiting or self._under_way)

    def next(self, is_free: Callable[[str], bool], unreachable: UnreachableHosts) -> Request | None:
        """Return the next request to a free origin, None if there is none."""
        for request in [*self._again]:
            if is_free(split_origin(request.url).origin):
                self._again.remove(request)
                return request
        while found := self.queue.take(is_free):
            host = urlsplit(split_origin(found.url).origin).netloc
            if not (why := unreachable.reason(host)):
                break
            self.queue.end(found, f"robots.txt of its host could not be fetched: {why}")
        if found is None:
            return None
        self._under_way[found.id] = found
        request = Request(
            found.url,
            callback=self.answered,
            errback=self.failed,
            headers={"Accept": "*/*"},
            meta={
                REQUISITE: found.id,
                "dont_redirect": True,
                "handle_httpstatus_all": True,
                "download_maxsize": found.room,
            },
            dont_filter=True,
        )
        self._scheduler.links.refer(request, self._job.frontier.url(found.page))
        return request

    def retry(self, request: Request) -> None:
        """Take back a request that is to be made again."""
        self._again.append(request)

    # -- what comes of them ---------------------------------------------------------------------

    async def answered(self, response: Response) -> AsyncIterator[RequisiteItem]:
        """Archive a response."""
        one = self._under_way[response.meta[REQUISITE]]
        capture = capture_of(response, one.url)
        if why := self._why_not(one, capture):
            self._end(one, why)
            return
        named = await run_in_thread(named_by, capture)
        yield RequisiteItem(one.url, capture.time, capture.status, capture, "", one.id, named)

    def failed(self, failure: Failure) -> None:
        """Record why a request failed."""
        if not self._scheduler.gives_up(failure.value):
            number: int = failure.request.meta[REQUISITE]  # type: ignore[attr-defined]
            self._end(self._under_way[number], reason_of(failure))

    def _why_not(self, one: Requisite, capture: Capture) -> str:
        if why := unfit(capture):
            return why
        return "" if self.queue.accept(one, len(capture.body)) else "too large"

    def _item_ended(self, item: Any, **_: object) -> None:
        """Record that a requisite is archived, or that the archive refused it."""
        one = self._under_way.get(item.number) if isinstance(item, RequisiteItem) else None
        if one is None or item.capture is None:
            return
        if item.outcome:
            ended = partial(self._kept, one, len(item.capture.body), item.named)
            self._scheduler.change(ended)
        else:
            self._end(one, "not archived")

    def _kept(self, one: Requisite, size: int, named: tuple[str, ...]) -> None:
        self._under_way.pop(one.id, None)
        self.queue.keep(named, one.page, one)
        self.queue.end(one, size=size)

    def _end(self, one: Requisite, why: str) -> None:
        logger.info("%s: %s", one.url, why)
        self._scheduler.change(lambda: self.queue.end(self._under_way.pop(one.id), why))


def limits_of(settings: SettingsLike) -> RequisiteLimits:
    """Return the limits on requisites."""
    return RequisiteLimits(*(value_of(settings, name) for name in _LIMITS))


def unfit(capture: Capture) -> str:
    """Return why a response is no requisite of a page, "" if it may be one."""
    if not 200 <= capture.status < 400:
        return f"HTTP {capture.status}"
    is_page = type_of(capture.body[:HEAD], capture.media_type) == "text/html"
    return "a page in its place" if capture.status < 300 and is_page else ""
