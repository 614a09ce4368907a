"""Processes every page: cuts it into blocks, judges it, and fills the columns of metadata rules."""

from dataclasses import replace
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured

from mmcrawl.archive.model import PageBlocks
from mmcrawl.blocks.metadata_rules import MetadataRules, ReceivedText
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD
from mmcrawl.engine.items import BlockSource, ItemBlock, PageItem
from mmcrawl.engine.scheduler import scheduler_of
from mmcrawl.settings import value_of


class BlocksPipeline:
    """Adds the blocks of its page to an item, and to what the archive stores of it.

    The process that reads pages cuts them, since links know the kind of the block around them.

    Stats: `mmcrawl/blocks/` `pages` that were cut, `blocks` of them, `unsegmented` pages.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._method = value_of(crawler.settings, "MMCRAWL_BLOCKS") or DEFAULT_METHOD
        if self._method == "off":
            raise NotConfigured
        self._stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Set the blocks of a page that was received."""
        if not isinstance(item, PageItem) or item.capture is None:
            return item
        seen, encoding = item.rendered or item.capture, item.page.encoding
        # The archive does not cut it again.
        kept = replace(seen, blocks=PageBlocks(self._method, DEFAULT_LEVEL, item.cut, encoding))
        if item.rendered is None:
            item.capture = kept
        else:
            item.rendered = kept
        if item.cut is not None:
            source = BlockSource(seen.body, encoding)
            item.blocks = tuple([ItemBlock.of(block, source) for block in item.cut])
        self._stats.inc_value(f"mmcrawl/blocks/{'unsegmented' if item.blocks is None else 'pages'}")
        self._stats.inc_value("mmcrawl/blocks/blocks", len(item.blocks or ()))
        return item


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
        """Add the results of the metadata rules to a page."""
        if isinstance(item, PageItem) and item.capture:
            html = item.capture.body.decode(item.page.encoding, "replace")
            item.extra |= self.rules(ReceivedText(item.page.url, item.capture.headers, html))
        return item
