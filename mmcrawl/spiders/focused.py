"""The focused crawl: `scrapy crawl focused -a algo=urlrule -a topic=… -a seeds=…`."""

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import cached_property
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response, TextResponse
from scrapy.settings import BaseSettings
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.misc import load_object
from scrapy_spider_metadata import Args

from mmcrawl.blocks.partitioners.base import DEFAULT_METHOD
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.crawl.protocol import Crawl
from mmcrawl.crawl.reading import PageReader, ReadPage, ReceivedPage
from mmcrawl.engine.answers import (
    PAGE,
    PLAYLIST,
    TOO_LARGE,
    FirstBytes,
    answered_kind,
    capture_of,
    declared_type,
    file_name,
)
from mmcrawl.engine.browser import Rendering
from mmcrawl.engine.components import (
    FOCUSED,
    PlainScheduler,
    check_scheduler,
    missing_parts,
    use_components,
)
from mmcrawl.engine.crawls import archive_uri_of, make_job, with_stored_web
from mmcrawl.engine.discovery import Discovery
from mmcrawl.engine.items import NoPage, PageItem
from mmcrawl.engine.requests import LINK_KEY
from mmcrawl.engine.scheduler import crawl_of, has_something_to_do, scheduler_of
from mmcrawl.engine.threads import Completions, has_another_core, use_monotonic_clock
from mmcrawl.errors import ListingError
from mmcrawl.frontier.urls import PrivateHosts, host_of
from mmcrawl.page.headers import header_text
from mmcrawl.page.lists.playlists import read_playlist
from mmcrawl.page.lists.shells import contents_of
from mmcrawl.page.model import Linking, MediaResource, Page
from mmcrawl.replay.handler import replay_settings, web_of
from mmcrawl.settings import value_of

_MISSING_PARTS = (
    "%s: what they do is not done. Call super().update_settings last, or set those that are not"
    " wanted to None"
)
_MOST_CONTENTS = 1_000  # they tell why a crawl ended at its seeds
_MOST_PLAYLISTS = 5  # that lead to one another, redirects included


class PageReading:
    """Parses each page and cuts it into blocks, once, in a separate process.

    Links know the kind of the block around them before anything else sees the page. With
    MMCRAWL_BLOCKS=off no page is cut; one of more than 4 MB, which would keep others waiting, and
    one that cannot be cut go on without blocks.

    Args:
        crawler: of the crawl.
        requisites: whether to find what pages need to be seen.
    """

    def __init__(self, crawler: Crawler, *, requisites: bool) -> None:
        method: str = value_of(crawler.settings, "MMCRAWL_BLOCKS") or DEFAULT_METHOD
        self._reader = PageReader(
            None if method == "off" else method, beside=has_another_core(), requisites=requisites
        )
        self._completions: Completions[ReadPage] = Completions()
        crawler.signals.connect(self._close, signals.spider_closed)

    def start(self) -> None:
        """Start the reader of pages; see :meth:`PageReader.start`."""
        self._reader.start()

    async def _close(self) -> None:
        await run_in_thread(self._reader.close)

    async def read(self, received: ReceivedPage) -> ReadPage:
        """Return a page once it is read."""
        return await maybe_deferred_to_future(self._completions.of(self._reader.read(received)))


class FocusedSpider(Args[FocusedParams], Spider):
    """Crawls for pages with media on a topic, in the order an algorithm gives.

    Subclasses change `parse`; what they override they pass on to `super()`. What is fetched when is
    decided by `FocusedScheduler` and its `CrawlJob`, which also know the
    seeds; this class parses.
    """

    name = "focused"
    args: FocusedParams
    _rendering: Rendering | None = None
    _first_bytes: FirstBytes
    contents: dict[int, str]
    """What the first pages without links and media consist of, by the numbers of their links."""

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        use_components(settings, FOCUSED)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        check_scheduler(crawler.settings)
        kwargs = with_stored_web(kwargs, crawler.settings)
        spider: Self = super().from_crawler(crawler, *args, **kwargs)
        crawls = PlainScheduler not in load_object(crawler.settings["SCHEDULER"]).mro()
        for missing in missing_parts(crawler.settings) if crawls else ():
            spider.logger.warning(_MISSING_PARTS, missing)
        spider.contents = {}
        crawler.signals.connect(use_monotonic_clock, signals.spider_opened)
        crawler.signals.connect(spider._load_reader, signals.spider_opened)
        web = spider.args.web or ("demo" if spider.args.is_demo and crawls else "")
        if web:
            crawler.settings.setdict(replay_settings(web), priority="spider")
        spider._first_bytes = FirstBytes.watching(crawler)
        if spider.args.render and crawls:
            every = spider.args.render == "playwright-all"
            spider._rendering = Rendering(crawler, spider.args.max_rendered, every=every)
        return spider

    @property
    def max_pages(self) -> int:
        return self.args.max_pages

    @property
    def made_afresh(self) -> bool:
        """Whether each run starts over, with none to continue."""
        return self.args.made_afresh

    @property
    def archive_uri(self) -> str | None:
        return archive_uri_of(self.args.archive, self.args.store_uri, self.crawler.settings)

    @cached_property
    def _discovery(self) -> Discovery:
        ways = self.args.discover.split(",") if self.args.discover else ()
        return Discovery(ways, self.args.cdx)

    @cached_property
    def _reading(self) -> PageReading:
        return PageReading(self.crawler, requisites=self.args.requisites == "yes")

    def _load_reader(self) -> None:
        """Let the process that reads pages load while robots.txt and the first page are fetched."""
        if has_something_to_do(self.crawler):
            self._reading.start()

    @property
    def private_hosts(self) -> PrivateHosts:
        """The hosts in private networks that may be asked: the seeds' and the CDX server's."""
        own = [self.args.cdx] if self.args.cdx else []
        return self._private_hosts_of_crawl.or_named(own)

    @property
    def _private_hosts_of_crawl(self) -> PrivateHosts:
        scheduler = scheduler_of(self.crawler)
        if scheduler is None:  # one page is fetched, without a crawl
            return PrivateHosts(all=self.settings.getbool("MMCRAWL_PRIVATE_NETWORKS"))
        return scheduler.job.sites.private_hosts if scheduler.job else PrivateHosts()

    def make_job(self) -> Crawl:
        settings = self.crawler.settings
        web = web_of(self.crawler) if value_of(settings, "MMCRAWL_WEB") else None
        return make_job(self.args, settings, web)

    async def start(self) -> AsyncIterator[Any]:
        """Yield nothing: the seeds are in the job."""
        return
        yield

    async def parse(self, response: Response) -> AsyncIterator[PageItem | NoPage | Request]:
        """Turn a response into a page, which is read beside the crawl; follow other ways in."""
        discovery, kind = self._discovery, answered_kind(response)
        if self._is_elsewhere(response):
            if kind == PAGE:
                yield NoPage("other site")
                return
        elif (found := await discovery.read(response)) is not None:
            for output in found:
                yield output
            return
        for request in discovery.ways_of(response):
            yield request
        if kind == PLAYLIST and not response.meta.get(TOO_LARGE):
            yield await self._playlist(response)
            return
        if kind != PAGE or response.meta.get(TOO_LARGE) or not isinstance(response, TextResponse):
            yield self._medium(response, kind)
            return
        headers = response.headers
        declared, refresh = (header_text(headers, name) for name in ("Content-Type", "Refresh"))
        read = await self._reading.read(
            ReceivedPage(response.url, response.body, declared, refresh)
        )
        rendered = None
        if self._rendering is not None:
            made = await self._rendering.rendered(response, read.page, self._reading.read)
            read, rendered = made or (read, None)
        for request in discovery.ways_beside(response, read.page):
            yield request
        page = discovery.with_alternates(response, read.page)
        page = self._with_listed_media(page, response)
        if not page.links and not page.media and len(self.contents) < _MOST_CONTENTS:
            self.contents[response.meta.get(LINK_KEY, -1)] = contents_of(page, response.body)
        capture = capture_of(response)
        yield PageItem(
            page,
            response.status,
            read.digest,
            capture=capture,
            rendered=rendered,
            cut=read.blocks,
            requisites=read.requisites,
        )

    def _is_elsewhere(self, response: Response) -> bool:
        """Return whether a link of the crawl leads on to another site: only media count there."""
        job = crawl_of(self.crawler)
        if job is None or "redirect_urls" not in response.meta:
            return False
        return host_of(response.url) not in job.sites

    def _with_listed_media(self, page: Page, response: Response) -> Page:
        job = crawl_of(self.crawler)
        if job is None or response.request is None:
            return page
        before = response.meta.get("redirect_urls", ())
        return job.with_listed_media(page, (page.url, response.request.url, *before))

    async def _playlist(self, response: Response) -> PageItem | NoPage:
        """Return the item of an answer that names media, of the page that links to it."""
        job = crawl_of(self.crawler)
        led_by = job.linking(response.meta.get(LINK_KEY, -1)) if job else Linking()
        declared = header_text(response.headers, "Content-Type")
        try:
            page = await run_in_thread(
                read_playlist, response.body, response.url, declared, led_by.anchor
            )
        except ListingError as error:
            return NoPage(str(error))
        links = page.links if len(led_by.urls) < _MOST_PLAYLISTS else ()
        title = led_by.anchor or unquote(urlsplit(response.url).path.rpartition("/")[2])
        media = page.media
        if len(media) == 1:  # then the list is another address of the same medium
            media = (replace(media[0], others=(*media[0].others, *led_by.urls)),)
        page = replace(page, title=title, links=links, media=media, led_by=led_by)
        return PageItem(page, response.status, blocks=())

    def _medium(self, response: Response, kind: str) -> PageItem | NoPage:
        """Return the item of an answer that is a medium, if one of its kind is looked for."""
        job = crawl_of(self.crawler)
        if job is None or kind not in job.kinds:
            large = kind == PAGE and response.meta.get(TOO_LARGE)
            what = declared_type(response.headers) or "binary data"
            return NoPage("too large" if large else f"no page: {what}")
        led_by, name = job.linking(response.meta.get(LINK_KEY, -1)), file_name(response.headers)
        others = tuple(url for url in led_by.urls if url != response.url)
        medium = MediaResource(response.url, kind, "a", led_by.anchor or name, others)
        title = name or led_by.anchor or unquote(urlsplit(response.url).path.rpartition("/")[2])
        page = Page(response.url, title=title, media=(medium,), led_by=led_by)
        return PageItem(page, response.status, blocks=())
