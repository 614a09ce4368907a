"""Spider middleware: what links are that do not tell (`download.php?id=3`), asked with HEAD."""

import logging
from collections.abc import AsyncIterator
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from mmcrawl.engine.crawls import Crawl
from mmcrawl.engine.items import PageItem
from mmcrawl.engine.scheduler import scheduler_of
from mmcrawl.errors import raise_if_fatal
from mmcrawl.page.dynamic import kind_by_headers, may_be_media, with_dynamic_media
from mmcrawl.page.headers import header_text
from mmcrawl.page.model import Page
from mmcrawl.settings import value_of

logger = logging.getLogger(__name__)

_OK = 200


class DynamicLinksMiddleware:
    """Turns links of a page that prove to be media into media of the page.

    Asked are only links that promise media (`may_be_media`), on pages that would be relevant if
    they kept the promise; through the engine, so that robots.txt and delays hold. An answer is
    remembered. When the budget is spent, links stay links.

    Raises:
        NotConfigured: MMCRAWL_HEAD_REQUESTS, the budget of a run, is 0.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.budget = value_of(crawler.settings, "MMCRAWL_HEAD_REQUESTS")
        if self.budget <= 0:
            raise NotConfigured
        self.crawler = crawler
        self._kinds: dict[str, str | None] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Complete the pages among the results of a callback."""
        scheduler = scheduler_of(self.crawler)
        job = scheduler.job if scheduler else None
        async for output in result:
            if isinstance(output, PageItem) and job is not None:
                output.page = await self._complete(output.page, job)
            yield output

    async def _complete(self, page: Page, job: Crawl) -> Page:
        urls = [link.url for link in page.links if may_be_media(link)]
        wanted = min(job.kinds)
        if (
            not urls
            or not job.judge(with_dynamic_media(page, dict.fromkeys(urls, wanted))).relevant
        ):
            return page
        kinds = {url: kind for url in urls if (kind := await self._kind(url, job))}
        return with_dynamic_media(page, kinds)

    async def _kind(self, url: str, job: Crawl) -> str | None:
        allowed = job.sites.private_hosts.may_ask(url)
        if url not in self._kinds and allowed and self.budget > 0:
            self.budget -= 1
            self._kinds[url] = await self._ask(url)
        return self._kinds.get(url)

    async def _ask(self, url: str) -> str | None:
        self.crawler.stats.inc_value("mmcrawl/head_requests")
        request = Request(url, method="HEAD", meta={"dont_retry": True})
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the link stays a link
            raise_if_fatal(error)
            logger.debug("HEAD %s: %s", url, error)
            return None
        if response.status != _OK:
            return None
        names = ("Content-Type", "Content-Disposition")
        return kind_by_headers(
            response.url, *(header_text(response.headers, name) for name in names)
        )
