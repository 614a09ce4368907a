"""Adds to a page's row in the feeds what an administrator's rules find on it."""

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from mmcrawl.blocks.metadata_rules import MetadataRules, ReceivedText
from mmcrawl.engine.items import PageItem
from mmcrawl.settings import value_of


class MetadataPipeline:
    """Adds the columns that MMCRAWL_METADATA names.

    Only pages that a feed gets are read, so it stands behind the media pipeline, which drops the
    others.

    Args:
        rules: What the columns are, and where pages say it.
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
