"""The reading of a crawl's pages, as the spider asks for it."""

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import maybe_deferred_to_future

from mmcrawl.blocks.partitioners.base import DEFAULT_METHOD
from mmcrawl.crawl.reading import PageReader, ReadPage, ReceivedPage
from mmcrawl.engine.threads import Completions, has_another_core
from mmcrawl.settings import value_of


class PageReading:
    """Has each page parsed and cut into blocks, once, beside the crawl.

    Links know the kind of the block around them before anything else sees the page. With
    MMCRAWL_BLOCKS=off no page is cut; one of more than 4 MB, which would keep others waiting, and
    one that cannot be cut go on without blocks.
    """

    def __init__(self, crawler: Crawler) -> None:
        method: str = value_of(crawler.settings, "MMCRAWL_BLOCKS") or DEFAULT_METHOD
        self._reader = PageReader(None if method == "off" else method, beside=has_another_core())
        self._completions: Completions[ReadPage] = Completions()
        crawler.signals.connect(self._close, signals.spider_closed)

    async def _close(self) -> None:
        await run_in_thread(self._reader.close)

    async def read(self, received: ReceivedPage) -> ReadPage:
        """Return a page once it is read."""
        return await maybe_deferred_to_future(self._completions.of(self._reader.read(received)))
