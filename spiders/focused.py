"""The focused crawl: `scrapy crawl focused -a algo=urlrule -a topic=… -a seeds=…`."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import Response, TextResponse
from scrapy_spider_metadata import Args

from mmcrawl.crawls import make_job
from mmcrawl.frontier import page_digest
from mmcrawl.items import NoPage, PageItem
from mmcrawl.job import CrawlJob
from mmcrawl.page import parse_page
from mmcrawl.params import FocusedParams
from mmcrawl.replay.handler import web_of

__all__ = ["FocusedSpider"]

_REPLAY = "mmcrawl.replay.handler.ReplayDownloadHandler"
_PAGE_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml")


class FocusedSpider(Args[FocusedParams], Spider):
    """Crawls for pages with media on a topic, in the order an algorithm gives.

    What is fetched when is decided by `FocusedScheduler` and its `CrawlJob`, which also know the
    seeds; this class parses.
    """

    name = "focused"
    args: FocusedParams

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider: Self = super().from_crawler(crawler, *args, **kwargs)
        if spider.args.web or spider.args.is_demo:
            replay = {
                "DOWNLOAD_HANDLERS": {"http": _REPLAY, "https": _REPLAY},
                "MMCRAWL_WEB": spider.args.web or "demo",
                "AUTOTHROTTLE_ENABLED": False,
                "DOWNLOAD_DELAY": 0,
                "RETRY_ENABLED": False,
            }
            crawler.settings.setdict(replay, priority="spider")
        return spider

    @property
    def max_pages(self) -> int:
        """Most pages to fetch, 0 for all."""
        return self.args.max_pages

    def make_job(self) -> CrawlJob:
        """Open the crawl in its store, for the scheduler."""
        settings = self.crawler.settings
        web = web_of(self.crawler) if settings.get("MMCRAWL_WEB") else None
        return make_job(self.args, settings, web)

    async def start(self) -> AsyncIterator[Any]:
        """Yield nothing: the seeds are in the job."""
        return
        yield

    def parse(self, response: Response) -> Iterator[PageItem | NoPage]:
        """Turn a response into a page."""
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        kind = content_type.partition(";")[0].strip().lower()
        if not isinstance(response, TextResponse) or (kind and kind not in _PAGE_TYPES):
            yield NoPage(f"no page: {kind or 'binary data'}")
            return
        page = parse_page(response.body, response.url, content_type)
        yield PageItem(page, response.status, page_digest(response.url, response.body))
