"""The reading of a crawl's pages, as the spider asks for it."""

from dataclasses import replace

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import maybe_deferred_to_future

from mmcrawl.archive.model import Capture, PageBlocks
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD
from mmcrawl.crawl.reading import PageReader, ReadPage, ReceivedPage
from mmcrawl.engine.items import BlockSource, ItemBlock, PageItem
from mmcrawl.engine.threads import Completions, has_another_core
from mmcrawl.settings import value_of


class PageReading:
    """Has each page parsed and cut into blocks, once, beside the crawl.

    Links know the kind of the block around them before anything else sees the page. With
    MMCRAWL_BLOCKS=off no page is cut; one of more than 4 MB, which would keep others waiting, and
    one that cannot be cut go on without blocks.

    Stats: `mmcrawl/blocks/` `pages` that were cut, `blocks` of them, `unsegmented` pages.
    """

    def __init__(self, crawler: Crawler) -> None:
        method: str = value_of(crawler.settings, "MMCRAWL_BLOCKS") or DEFAULT_METHOD
        self._method = None if method == "off" else method
        self._reader = PageReader(self._method, beside=has_another_core())
        self._completions: Completions[ReadPage] = Completions()
        self._stats = crawler.stats
        crawler.signals.connect(self._close, signals.spider_closed)

    async def _close(self) -> None:
        await run_in_thread(self._reader.close)

    async def read(self, received: ReceivedPage) -> ReadPage:
        """Return a page once it is read."""
        return await maybe_deferred_to_future(self._completions.of(self._reader.read(received)))

    def item(
        self, read: ReadPage, status: int, capture: Capture, rendered: Capture | None
    ) -> PageItem:
        """Return the item of a page, read from what was captured, or from what a browser made."""
        item = PageItem(read.page, status, read.digest, capture=capture, rendered=rendered)
        if self._method is None:
            return item
        seen, encoding = rendered or capture, read.page.encoding
        # The archive does not cut it again.
        kept = replace(seen, blocks=PageBlocks(self._method, DEFAULT_LEVEL, read.blocks, encoding))
        if rendered is None:
            item.capture = kept
        else:
            item.rendered = kept
        if read.blocks is not None:
            source = BlockSource(seen.body, encoding)
            item.blocks = tuple([ItemBlock.of(block, source) for block in read.blocks])
        self._stats.inc_value(f"mmcrawl/blocks/{'unsegmented' if item.blocks is None else 'pages'}")
        self._stats.inc_value("mmcrawl/blocks/blocks", len(item.blocks or ()))
        return item
