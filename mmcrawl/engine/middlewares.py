"""Middlewares: the report of each page to the frontier, obedience to robots.txt, refreshes."""

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookiejar import Cookie
from typing import Any, Self
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware as ScrapyCookiesMiddleware
from scrapy.downloadermiddlewares.redirect import (
    MetaRefreshMiddleware as ScrapyMetaRefreshMiddleware,
)
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware as ScrapyRobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response
from scrapy.http.cookies import CookieJar
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from mmcrawl.crawl.protocol import Crawl
from mmcrawl.engine.hosts import LIMIT, NO_HOST, RobotsUnreachableError, UnreachableHosts, reason_of
from mmcrawl.engine.items import NoPage, PageItem
from mmcrawl.engine.requests import LINK_KEY, is_for_robots
from mmcrawl.engine.scheduler import FocusedScheduler, scheduler_of
from mmcrawl.errors import ItemError, StoreError
from mmcrawl.frontier.urls import host_of
from mmcrawl.page.model import Page
from mmcrawl.page.scripts.moves import only_leads_on
from mmcrawl.settings import value_of
from mmcrawl.text.resources import is_public_suffix, site_of

# -- Cookies, as many as a browser keeps ----------------------------------------------------------

_LONGEST = 4096  # characters of name and value
_LONGEST_PATH = 1024
_MOST_OF_A_SITE = 180
_MOST = 3000


class BoundedCookieJar(CookieJar):
    """Scrapy's, without cookies over 4 kB, and with 180 a registered domain and 3,000 in all.

    Cookies that were set the longest time ago are dropped. The bounds are those of browsers, which
    RFC 6265 (6.1) asks to keep 50 a domain at least, and 3,000 in all.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Both from the one set first to the one set last; a cookie that expired may be in them.
        self._all: dict[tuple[str, str, str], None] = {}
        self._by_site: dict[str, dict[tuple[str, str, str], None]] = {}

    def set_cookie_if_ok(self, cookie: Cookie, request: Request) -> None:
        """Keep a cookie that the site may set, and drop the oldest of too many."""
        length = len(cookie.name) + len(cookie.value or "")
        if length > _LONGEST or len(cookie.path) > _LONGEST_PATH:
            return
        super().set_cookie_if_ok(cookie, request)
        key = cookie.domain, cookie.path, cookie.name
        if key[2] not in self._cookies.get(key[0], {}).get(key[1], {}):
            return
        self._forget(key)
        site = self._by_site.setdefault(_site(key[0]), {})
        site[key] = self._all[key] = None
        for cookies, most in ((site, _MOST_OF_A_SITE), (self._all, _MOST)):
            if len(cookies) > most:
                self._drop(next(iter(cookies)))

    def _forget(self, key: tuple[str, str, str]) -> None:
        if key in self._all:
            name = _site(key[0])
            del self._all[key], self._by_site[name][key]
            if not self._by_site[name]:
                del self._by_site[name]

    def _drop(self, key: tuple[str, str, str]) -> None:
        self._forget(key)
        domain, path, name = key
        with suppress(KeyError):  # it has expired
            del self._cookies[domain][path][name]
            if not self._cookies[domain][path]:
                del self._cookies[domain][path]


class CookiesMiddleware(ScrapyCookiesMiddleware):
    """Scrapy's, with bounds, and with the public suffix list that is at hand.

    Scrapy 2.19 downloads the list at the first cookie and lets everything wait for it.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self.jars.default_factory = BoundedCookieJar

    def _process_cookies(
        self, cookies: Iterable[Cookie], *, jar: CookieJar, request: Request
    ) -> None:
        """Keep cookies for later requests; of those for a public suffix only the host's own."""
        host = host_of(request.url)
        for cookie in cookies:
            domain = cookie.domain.removeprefix(".")
            if domain and is_public_suffix(domain):
                if domain != host:
                    continue
                cookie.domain = host
            jar.set_cookie_if_ok(cookie, request)


def _site(domain: str) -> str:
    return site_of(domain.removeprefix("."))


# -- Middlewares: the report of each page to the frontier, obedience to robots.txt, refreshes -----

logger = logging.getLogger(__name__)

_CLIENT_ERROR, _SERVER_ERROR = 400, 500
_MANY_LINKS = 500  # to add so many takes 50 ms or more


@dataclass(slots=True)
class _Outcome:
    """What a spider has returned for a response so far."""

    response: Response
    page: PageItem | None = None
    requests: list[Request] = field(default_factory=list)
    trouble: str = ""
    items_under_way: int = 0
    complete: bool = False


class FrontierMiddleware:
    """Spider middleware: reports a page to the frontier when everything from it is settled.

    Requests of a callback are held back and handed over with the page, so that page and links
    become durable together; items go on to the pipelines, and the report waits for them. A page
    that a pipeline could not store (it raises StoreError) ends in error. Responses to requests that
    are not of the frontier pass untouched.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._outcomes: dict[int, _Outcome] = {}
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._item_settled, signal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass on items; hold back requests and the page for the report."""
        link = self._link_under_way(response)
        if link is None:
            async for output in result:
                yield output
            return
        outcome = self._outcomes[link] = _Outcome(response)
        try:
            async for output in result:
                if isinstance(output, Request):
                    outcome.requests.append(output)
                elif isinstance(output, NoPage):
                    outcome.trouble = output.reason
                else:
                    outcome.items_under_way += 1
                    if isinstance(output, PageItem):
                        outcome.page = output
                        output.link = link
                        if scheduler := scheduler_of(self.crawler):
                            scheduler.rests(link)
                    yield output
        except Exception as error:
            outcome.trouble = self._trouble_of(error)
            raise
        finally:
            outcome.complete = True
            self._report_if_settled(link)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Report a page whose callback failed before it gave anything that could be passed on."""
        link = self._link_under_way(response)
        if link is not None and link not in self._outcomes:
            trouble = self._trouble_of(exception)
            self._outcomes[link] = _Outcome(response, trouble=trouble, complete=True)
            self._report_if_settled(link)

    def _link_under_way(self, response: Response) -> int | None:
        """Return the link that led to a response; None if its report was made, or is not ours."""
        scheduler = scheduler_of(self.crawler)
        link: int | None = response.meta.get(LINK_KEY)
        return link if scheduler is not None and scheduler.is_under_way(link) else None

    def _item_settled(
        self, response: Response | None, failure: Failure | None = None, **_: Any
    ) -> None:
        link = response.meta.get(LINK_KEY) if isinstance(response, Response) else None
        if link in self._outcomes:
            outcome = self._outcomes[link]
            outcome.items_under_way -= 1
            problem = None if failure is None else failure.value
            if isinstance(problem, StoreError):
                outcome.page, outcome.trouble = None, str(problem)[:200]
            else:
                self._give_up_at(problem)
            self._report_if_settled(link)

    def _trouble_of(self, error: Exception) -> str:
        self._give_up_at(error)
        return f"spider failed: {type(error).__name__}: {error}"[:200]

    def _give_up_at(self, error: BaseException | None) -> None:
        """Stop the crawl at an error that is no fault of the page: then nothing is reported."""
        scheduler = scheduler_of(self.crawler)
        if scheduler is not None:
            scheduler.gives_up(error)

    def _report_if_settled(self, link: int) -> None:
        outcome = self._outcomes[link]
        if not outcome.complete or outcome.items_under_way > 0:
            return
        del self._outcomes[link]
        scheduler = scheduler_of(self.crawler)
        if scheduler is not None:
            scheduler.report(
                link,
                lambda job: _tell(job, link, outcome, scheduler),
                takes_long=_takes_long(outcome.page),
            )


def _takes_long(item: PageItem | None) -> bool:
    """Return whether the reactor should not wait until a page is recorded."""
    return item is not None and len(item.page.links) > _MANY_LINKS


def _tell(job: Crawl, link: int, outcome: _Outcome, scheduler: FocusedScheduler) -> None:
    """Report the outcome of a response to the job."""
    response = outcome.response
    requests = [scheduler.links.spiders_link(request, job) for request in outcome.requests]
    if outcome.trouble and outcome.page is None:
        job.failed(link, outcome.trouble, requests)
        return
    item = outcome.page or PageItem(Page(response.url), response.status)
    try:
        job.crawled(link, item, requests)
        if scheduler.requisites is not None:
            scheduler.requisites.queue.keep(item.requisites, link)
    except ItemError as error:
        logger.error("%s: %s", response.url, error)  # noqa: TRY400 - for a person
        job.failed(link, str(error), requests)


class RobotsTxtMiddleware(ScrapyRobotsTxtMiddleware):
    """Scrapy's, with all requests obeying that wait while a robots.txt is being read.

    In Scrapy 2.19 only the first of several waiting requests gets the parser; the others get None
    and pass. No more of a robots.txt is received than is read. One that is forbidden or not there
    (4xx) forbids nothing, whatever comes with it; where the server fails or does not answer, the
    host is left alone, and asked again after a while.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()
        self._own = UnreachableHosts(value_of(crawler.settings, "MMCRAWL_ROBOTS_PAUSE"))
        crawler.signals.connect(self._stop_at_limit, signals.bytes_received)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the parser of the request's host once there is one; None if all is allowed.

        Raises:
            RobotsUnreachableError: the robots.txt cannot be fetched for now.
        """
        netloc = urlparse_cached(request).netloc
        unreachable = self._unreachable
        is_asked_for = isinstance(self._parsers.get(netloc), Deferred)
        if unreachable.reason(netloc) and not unreachable.wait(netloc) and not is_asked_for:
            self._parsers.pop(netloc, None)
        if netloc in self._parsers:
            await super().robot_parser(request)  # wait until it is there
        else:
            await self._fetch(netloc, request)
        if reason := unreachable.reason(netloc):
            raise RobotsUnreachableError(f"robots.txt of its host could not be fetched: {reason}")
        parser = self._parsers[netloc]
        return None if isinstance(parser, Deferred) else parser

    async def _fetch(self, netloc: str, request: Request) -> None:
        """Fetch a robots.txt, as Scrapy does but for the traceback that it logs of each failure.

        It has a slot of its own: the delay lies between pages, and the first one need not wait.
        """
        self._parsers[netloc] = Deferred()
        asked = Request(
            f"{urlparse_cached(request).scheme}://{netloc}/robots.txt",
            priority=self.DOWNLOAD_PRIORITY,
            meta={"dont_obey_robotstxt": True, "download_slot": f"robots.txt of {netloc}"},
            callback=NO_CALLBACK,
        )
        try:
            response = await self.crawler.engine.download_async(asked)
            await self._parse_robots(response, netloc, request)
        except Exception as error:  # noqa: BLE001 - whatever the downloader and what is in it raises
            self._robots_error(error, netloc)
        self._stats.inc_value("robotstxt/request_count")

    @property
    def _unreachable(self) -> UnreachableHosts:
        scheduler = scheduler_of(self.crawler)
        return self._own if scheduler is None else scheduler.unreachable

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        if response.status >= _SERVER_ERROR:
            self._leave_alone(netloc, f"HTTP {response.status}")
        else:
            self._unreachable.answered(netloc)
        if response.status >= _CLIENT_ERROR:
            response = response.replace(body=b"")
        await super()._parse_robots(response, netloc, request)

    def _leave_alone(self, netloc: str, reason: str) -> None:
        again = self._unreachable.note(netloc, reason)
        logger.warning(
            "%s is not crawled for now: robots.txt could not be read (%s); next attempt in %.0f s",
            netloc,
            reason,
            again,
        )

    def _stop_at_limit(self, data: bytes, request: Request) -> None:
        if is_for_robots(request):
            self._received[request] = self._received.get(request, 0) + len(data)
            if self._received[request] > LIMIT:
                raise StopDownload(fail=False)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        scheduler = scheduler_of(self.crawler)
        if scheduler is not None:
            scheduler.gives_up(exc)  # else a host would count as one without rules
        reason = reason_of(Failure(exc))  # type: ignore[no-untyped-call]
        if isinstance(exc, IgnoreRequest) or reason == NO_HOST:
            self._unreachable.answered(netloc)  # the request itself will say why it cannot be had
        else:
            self._leave_alone(netloc, reason)
        super()._robots_error(exc, netloc)


class MetaRefreshMiddleware(ScrapyMetaRefreshMiddleware):
    """Scrapy's, for pages that only lead on; one with content stays, and its target is a link."""

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Return the request of the page that a response only leads to, else the response."""
        if not only_leads_on(response.body):
            return response
        redirected: Request | Response = super().process_response(request, response)
        is_loop = isinstance(redirected, Request) and redirected.url == request.url
        return response if is_loop else redirected
