"""Makes the visits that are due: `scrapy crawl revisit -a store=sqlite:///crawl.db`."""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from time import time
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.asyncio import run_in_thread
from scrapy_spider_metadata import Args
from twisted.python.failure import Failure

from mmcrawl.archive.model import Capture, Version
from mmcrawl.archive.revisits import NO_ANSWER, Due, in_order, is_answer, schedule
from mmcrawl.archive.rewriting import named_by
from mmcrawl.crawl.spider_params import RevisitParams
from mmcrawl.engine.answers import capture_of, requested_at
from mmcrawl.engine.components import REVISIT, use_components
from mmcrawl.engine.crawls import Configuration, with_stored_web
from mmcrawl.engine.hosts import reason_of
from mmcrawl.engine.items import RequisiteItem, VisitItem
from mmcrawl.engine.requisites import limits_of, unfit
from mmcrawl.engine.threads import use_monotonic_clock
from mmcrawl.errors import ExhaustedError, StoreError, UnreachableError, fatal_error
from mmcrawl.frontier.requisites import Requisite, RequisiteQueue
from mmcrawl.frontier.store import SqliteStore, open_store
from mmcrawl.frontier.urls import PrivateHosts, host_of
from mmcrawl.media.sizes import ALL
from mmcrawl.page.urls import absolute_url
from mmcrawl.replay.handler import replay_settings
from mmcrawl.settings import value_of
from mmcrawl.store.uris import shown
from mmcrawl.text.resources import site_of

if TYPE_CHECKING:
    from mmcrawl.archive.archive import Archive

logger = logging.getLogger(__name__)

_GONE = (404, 410)
_NOT_MODIFIED = 304
_MOST_STEPS = 5  # from one address to the next
_TICK = 0.001  # seconds
_META: dict[str, Any] = {"dont_redirect": True, "handle_httpstatus_all": True}


@dataclass(frozen=True, slots=True)
class _Plan:
    """A visit that is due, and the version it is compared with."""

    due: Due
    last: Version


@dataclass(frozen=True, slots=True)
class Revisits:
    """The result of a run of visits; what pages need to be seen is not counted.

    Attributes:
        new, unchanged: What they found; `not_modified` of the latter were answered with 304.
        raw_bytes, new_bytes: Of the bodies, and of those what the archive did not hold.
        next_visit: When the first of the pages that were not visited is due, in Unix seconds.
    """

    archive: str
    due: int
    visited: int
    new: int
    unchanged: int
    not_modified: int
    gone: int  # those answered with 404 or 410
    raw_bytes: int
    new_bytes: int
    reasons: Counter[str]  # why others could not be fetched
    ending: str  # why it stopped early, "" if it did not; `problem` says it in a sentence
    problem: str
    next_visit: float | None = None


class RevisitSpider(Args[RevisitParams], Spider):
    """Visits the pages of an archive that are due, the most overdue first.

    Where the last version came with an ETag or a date, the server is asked whether the page is
    another now. What is new becomes a version, a redirect and the first sight of a page that is
    gone too; all else is noted as a visit. A redirect to a page of the same site that the archive
    does not know is followed. Of a page that was archived with what it needs to be seen, what its
    new version needs beside that is fetched too.
    """

    name = "revisit"
    args: RevisitParams
    creates_archive = False
    custom_settings: dict[str, Any] = {  # noqa: RUF012 - as Scrapy declares it
        "FEED_EXPORT_FIELDS": ["url", "time", "status", "outcome"]
    }

    outcome: Revisits | None = None

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        use_components(settings, REVISIT)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        kwargs = with_stored_web(kwargs, crawler.settings)
        spider: Self = super().from_crawler(crawler, *args, **kwargs)
        if spider.args.web:
            crawler.settings.setdict(replay_settings(spider.args.web), priority="spider")
        crawler.signals.connect(use_monotonic_clock, signals.spider_opened)
        crawler.signals.connect(spider._item_scraped, signals.item_scraped)
        spider._archive = None
        spider._due = 0
        spider._next = None
        spider._reasons = Counter()
        spider._pages = count()
        spider._store = open_store("memory:")
        job = spider._store.job(cls.name, {}).number
        spider._queue = RequisiteQueue(spider._store, job, limits_of(crawler.settings))
        return spider

    private_hosts = PrivateHosts()  # those of the pages that are due
    _archive: Any  # an `Archive`, which is slow to load, or None
    _due: int
    _next: float | None
    _reasons: Counter[str]
    _pages: Iterator[int]  # their numbers in the queue
    _store: SqliteStore
    _queue: RequisiteQueue  # of what pages need, for this run

    @property
    def archive_uri(self) -> str | None:
        return self.args.archive_uri

    async def start(self) -> AsyncIterator[Any]:
        try:
            plans = await run_in_thread(self._plans)
        except StoreError as error:
            raise self._stopped(error) from None
        anywhere = self.args.web or value_of(self.settings, "MMCRAWL_PRIVATE_NETWORKS")
        self.private_hosts = PrivateHosts.of((plan.last.url for plan in plans), all=bool(anywhere))
        for number, plan in enumerate(plans):
            yield self._request(plan.last.url, plan.last, priority=-number)

    async def parse(
        self, response: Response, last: Version | None, steps: int
    ) -> AsyncIterator[Any]:
        """Report the outcome of a visit to the archive."""
        url = last.url if last is not None else response.url
        status = response.status
        seen = VisitItem(url, _after(last, requested_at(response)), status)
        if status == _NOT_MODIFIED and last is not None:
            yield seen
        elif not is_answer(status):
            self._failed(url, f"HTTP {status}")
            if last is not None:
                yield seen
        else:
            known_as_gone = last is not None and last.status == status in _GONE
            if not known_as_gone:
                seen.capture = capture_of(response, url)
            yield seen
            for request in self._target(response, url, steps):
                yield request
            if seen.capture is not None and last is not None and last.status == status == 200:
                for request in await self._needed(seen.capture, last):
                    yield request

    async def needed(self, response: Response, one: Requisite) -> AsyncIterator[Any]:
        """Archive a requisite, and request what it needs itself."""
        capture = capture_of(response, one.url)
        size = len(capture.body)
        if why := unfit(capture) or ("" if self._queue.accept(one, size) else "too large"):
            self._not_kept(one, why)
            return
        yield RequisiteItem(one.url, capture.time, response.status, capture)
        self._queue.end(one, size=size)
        for request in await self._needed(capture, by=one):
            yield request

    def errback(self, failure: Failure) -> Iterator[VisitItem]:
        """Record a visit without an answer; a forbidden request is no visit."""
        fatal = fatal_error(failure.value)
        if fatal is not None:
            raise self._stopped(fatal)
        request: Request = failure.request  # type: ignore[attr-defined]
        if "one" in request.cb_kwargs:  # no visit
            self._not_kept(request.cb_kwargs["one"], reason_of(failure))
            return
        last: Version | None = request.cb_kwargs["last"]
        self._failed(request.url, reason_of(failure))
        if last is not None and not isinstance(failure.value, IgnoreRequest):
            yield VisitItem(last.url, _after(last, time()), NO_ANSWER)

    def closed(self, reason: str) -> None:
        self._store.close()
        if self._archive is not None:
            self._archive.close()
        if reason == "bad_input":
            return
        stats = self.crawler.stats
        names = ("visited", "new", "unchanged", "not_modified", "gone")
        counts = {name: stats.get_value(f"mmcrawl/revisit/{name}", 0) for name in names}
        self.outcome = Revisits(
            archive=shown(self.args.archive_uri or ""),
            due=self._due,
            next_visit=self._next,
            **counts,
            raw_bytes=stats.get_value("mmcrawl/archive/bytes", 0),
            new_bytes=stats.get_value("mmcrawl/archive/new_bytes", 0),
            reasons=self._reasons,
            ending="" if reason == "finished" else reason,
            problem=stats.get_value("mmcrawl/store_error", ""),
        )

    # -- inside -------------------------------------------------------------------------------

    def _stopped(self, error: StoreError) -> CloseSpider:
        """Record why the visits stop; return the exception that ends them."""
        logger.error("%s", error)
        self.crawler.stats.set_value("mmcrawl/store_error", str(error))
        return CloseSpider("store_error")

    def _plans(self) -> list[_Plan]:
        """Find the visits that are due; runs in a thread."""
        # Opened for writing: which versions changed in what is found once, and noted there.
        from mmcrawl.archive.opening import open_archive  # slow to load

        archive = self._archive = open_archive(self.args.archive_uri or "", create=False)
        found = in_order(self._chosen(archive))
        self._due = len(found)
        self.crawler.stats.set_value("mmcrawl/revisit/due", len(found))
        return [_Plan(item, archive.get(item.url)) for item in found[: self.args.limit or None]]

    def _chosen(self, archive: "Archive") -> Iterator[Due]:
        """Yield the visits that are due now; save the time of the next one."""
        named = self.args.due if self.args.due != ALL else ""
        only = archive.get(named).url if named else ""
        now = time() if self.args.due_at is None else self.args.due_at
        for one in schedule(archive, now, Configuration.read(self.crawler.settings).revisits):
            if one.url == only or self.args.due == ALL or (one.next_visit <= now and not only):
                yield one
            elif self._next is None or one.next_visit < self._next:
                self._next = one.next_visit

    def _request(
        self, url: str, last: Version | None, *, steps: int = 0, priority: int = 0
    ) -> Request:
        return Request(
            url,
            headers=_conditions(last) if last is not None else {},
            callback=self.parse,
            errback=self.errback,
            cb_kwargs={"last": last, "steps": steps},
            meta=dict(_META),
            dont_filter=last is not None,
            priority=priority,
        )

    def _target(self, response: Response, url: str, steps: int) -> Iterator[Request]:
        """Yield a request for where a redirect leads, if that is new and of the same site."""
        location = response.headers.get("Location")
        if response.status // 100 != 3 or location is None or steps >= _MOST_STEPS:
            return
        target = absolute_url(url, location.decode("utf-8", "replace")) or ""
        sites = {site_of(host_of(one)) for one in (url, target)}
        if not target.startswith(("http://", "https://")) or len(sites) > 1:
            return
        if not self.private_hosts.may_ask(target):
            return
        if self._archive is not None and not self._archive.visits(target):
            yield self._request(target, None, steps=steps + 1)

    async def _needed(
        self, capture: Capture, last: Version | None = None, by: Requisite | None = None
    ) -> list[Request]:
        """Return requests for requisites of a page or style sheet that the archive lacks.

        Args:
            last: The version before, of a page.
            by: What is known to be needed, of a style sheet or redirect.
        """
        try:
            urls = await run_in_thread(self._lacking, capture, last)
        except Exception as error:
            fatal = fatal_error(error)
            if fatal is None:
                raise
            if isinstance(fatal, ExhaustedError | UnreachableError):
                raise self._stopped(fatal) from None
            self._failed(capture.url, str(fatal))  # the version before is damaged
            return []
        urls = [url for url in urls if self.private_hosts.may_ask(url)]
        self._queue.keep(urls, by.page if by else next(self._pages), by)
        self._queue.committed()
        return list(self._requests())

    def _lacking(self, capture: Capture, last: Version | None) -> list[str]:
        """Return the requisites that the archive lacks; runs in a thread.

        If the page is the same as before, or the archive has nothing of what it needed then, it is
        nothing.
        """
        archive = self._archive
        if archive is None:
            return []
        if last is not None and (
            sha256(capture.body).hexdigest() == last.digest
            or not archive.known(named_by(archive.rebuild(last)))
        ):
            return []
        named = named_by(capture)
        known = archive.known(named)
        return [url for url in named if url not in known]

    def _requests(self) -> Iterator[Request]:
        """Yield requests for what waits in the queue, as far as there is room."""
        while one := self._queue.take(lambda _: True):
            yield Request(
                one.url,
                callback=self.needed,
                errback=self.errback,
                cb_kwargs={"one": one},
                meta={**_META, "download_maxsize": one.room},
            )

    def _not_kept(self, one: Requisite, why: str) -> None:
        logger.info("%s: %s", one.url, why)
        self._queue.end(one, why)

    def _item_scraped(self, item: Any) -> None:
        if not isinstance(item, VisitItem) or isinstance(item, RequisiteItem):
            return
        count = self.crawler.stats.inc_value
        count("mmcrawl/revisit/visited")
        if item.status == _NOT_MODIFIED:
            count("mmcrawl/revisit/not_modified")
        if item.status in _GONE:
            count("mmcrawl/revisit/gone")
        if is_answer(item.status):
            count(f"mmcrawl/revisit/{item.outcome}")

    def _failed(self, url: str, reason: str) -> None:
        logger.info("%s: %s", url, reason)
        self._reasons[reason] += 1
        self.crawler.stats.inc_value("mmcrawl/revisit/failed")


def _after(last: Version | None, when: float) -> float:
    """Return the time of a visit: after that of the version it was made to look after.

    By a clock slower than that of who stored this, the visit would see an older version, or none.
    """
    return when if last is None else max(when, last.time + _TICK)


def _conditions(last: Version) -> dict[str, str]:
    """Return the conditional headers that ask whether a page differs from a version."""
    if last.status != 200:
        return {}
    headers = {
        "If-None-Match": last.header("etag"),
        "If-Modified-Since": last.header("last-modified"),
    }
    return {name: value for name, value in headers.items() if value}
