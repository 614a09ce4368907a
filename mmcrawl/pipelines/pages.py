"""What is done with every page: it is cut into blocks, judged, and given the columns of rules."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import maybe_deferred_to_future

from mmcrawl.archive.model import PageBlocks
from mmcrawl.blocks.metadata_rules import MetadataRules, ReceivedText
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD
from mmcrawl.crawl.cutting import CutPage, Cutter, UncutPage
from mmcrawl.engine.items import BlockSource, ItemBlock, PageItem
from mmcrawl.engine.scheduler import has_something_to_do, scheduler_of, working_on
from mmcrawl.engine.threads import News, has_another_core
from mmcrawl.page.model import Page
from mmcrawl.settings import value_of

_LARGEST = 4 << 20


class BlocksPipeline:
    """Gives an item the blocks of its page, and each of its links the kind of the block around it.

    It stands before all other pipelines, and the frontier takes in a page's links when all
    pipelines are done with it: blocks are known wherever a page is seen, and to a link's first
    score. A page is cut once, beside the crawl; with MMCRAWL_BLOCKS=off none is. One of more than
    4 MB, which would keep others waiting, and one that cannot be cut go on without blocks.

    Stats: `mmcrawl/blocks/` `pages` that were cut, `blocks` of them, `uncut` pages.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._method = value_of(crawler.settings, "MMCRAWL_BLOCKS") or DEFAULT_METHOD
        self._cutter: Cutter | None = None
        self._news: News[CutPage] = News()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def open_spider(self) -> None:
        """Get ready to cut, unless that is off."""
        if self._method != "off" and has_something_to_do(self.crawler):
            self._cutter = Cutter(self._method, beside=has_another_core())

    async def process_item(self, item: Any) -> Any:
        """Cut a page."""
        if self._cutter is None or not isinstance(item, PageItem) or item.capture is None:
            return item
        seen = item.rendered or item.capture
        kept = None
        if len(seen.body) <= _LARGEST:
            page = UncutPage(item.page.url, item.page.encoding, seen.body)
            with working_on(self.crawler, item):
                cut = await maybe_deferred_to_future(self._news.of(self._cutter.cut(page)))
            kept, source = cut.blocks, BlockSource(seen.body, item.page.encoding)
            if kept is not None:
                item.blocks = tuple(ItemBlock.of(one, source) for one in kept)
            item.page = _with_kinds(item.page, cut.link_kinds)
        blocks = PageBlocks(self._method, DEFAULT_LEVEL, kept, item.page.encoding)
        # The archive does not cut it again.
        if item.rendered is None:
            item.capture = replace(item.capture, blocks=blocks)
        else:
            item.rendered = replace(item.rendered, blocks=blocks)
        stats = self.crawler.stats
        stats.inc_value(f"mmcrawl/blocks/{'uncut' if item.blocks is None else 'pages'}")
        stats.inc_value("mmcrawl/blocks/blocks", len(item.blocks or ()))
        return item

    async def close_spider(self) -> None:
        """End the cutting."""
        if self._cutter is not None:
            await run_in_thread(self._cutter.close)


def _with_kinds(page: Page, kinds: Mapping[str, str]) -> Page:
    if not kinds:
        return page
    links = tuple([link.in_block(kinds.get(link.url, "")) for link in page.links])
    return replace(page, links=links)


class MediaPipeline:
    """Judges each page, and passes it on with the verdict if it is relevant.

    A page that is not relevant ends here: it is dropped from the items, not from the crawl. Put
    pipelines that want every page before this one. The store gets the page from the frontier, in
    one commit with its links and what pipelines added to it, when the item has passed all of them.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Judge a page."""
        scheduler = scheduler_of(self.crawler)
        if not isinstance(item, PageItem) or scheduler is None:
            return item
        if scheduler.job is None:
            raise DropItem("no crawl is open", log_level="DEBUG")
        item.verdict = scheduler.job.judge(item.page, item.digest)
        if not item.verdict.relevant:
            raise DropItem("not relevant", log_level="DEBUG")
        return item


class MetadataPipeline:
    """Adds the columns that MMCRAWL_METADATA names.

    Only pages that a feed gets are read, so it stands behind the media pipeline, which drops the
    others.
    """

    def __init__(self, rules: MetadataRules) -> None:
        self.rules = rules

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        rules = MetadataRules.read(value_of(crawler.settings, "MMCRAWL_METADATA"))
        if not rules:
            raise NotConfigured
        return cls(rules)

    def process_item(self, item: Any) -> Any:
        """Add to a page what the rules find on it."""
        if isinstance(item, PageItem) and item.capture:
            html = item.capture.body.decode(item.page.encoding, "replace")
            item.extra |= self.rules(ReceivedText(item.page.url, item.capture.headers, html))
        return item
