"""Cuts pages into blocks, for those who want to know where on a page something stands."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from mmcrawl.archive.model import Capture
from mmcrawl.blocks.link_kinds import link_kinds
from mmcrawl.blocks.partition import partition
from mmcrawl.engine.items import PageItem
from mmcrawl.page.model import Page
from mmcrawl.settings import value_of

_LARGEST = 1 << 20


class BlocksPipeline:
    """Lets the frontier ask in what kinds of blocks the links of a page stand.

    The frontier takes in a page's links when all pipelines are done with it, so the kinds count
    from a link's first score on. It asks for those of pages with new links only, and only then a
    page is cut: on large sites one in ten. Pages of more than a megabyte, which would hold up the
    crawl, are not cut; their links stand in blocks of unknown kind.

    Args:
        method, level: how pages are cut, see `mmcrawl.blocks.partition`; level 0 counts as 1.
    """

    def __init__(self, method: str, level: int) -> None:
        self.method, self.level = method, max(level, 1)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        if not value_of(settings, "MMCRAWL_LINK_BLOCKS"):
            raise NotConfigured
        method = value_of(settings, "MMCRAWL_BLOCKS_METHOD")
        return cls(method, value_of(settings, "MMCRAWL_BLOCKS_LEVEL"))

    def process_item(self, item: Any) -> Any:
        """Let a page's links be asked for."""
        if isinstance(item, PageItem) and item.capture and len(item.capture.body) <= _LARGEST:
            item.link_kinds = partial(self._link_kinds, item.page, item.capture)
        return item

    def _link_kinds(self, page: Page, capture: Capture) -> Mapping[str, str]:
        blocks = partition(
            capture.body,
            method=self.method,
            level=self.level,
            encoding=page.encoding,
            url=page.url,
        )
        return link_kinds(blocks, page.url, page.encoding)
