"""Cuts pages into blocks, and tells the frontier which kinds of blocks their links stand in."""

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from mmcrawl.blocks import link_kinds, partition
from mmcrawl.blocks.registry import make_partitioner
from mmcrawl.items import PageItem

__all__ = ["BlocksPipeline"]

_LARGEST = 1 << 20


class BlocksPipeline:
    """Notes on every page, in `link_kinds`, what kind of block each link stands in.

    The frontier takes in a page's links when all pipelines are done with it, so what is noted here
    counts from a link's first score on. Pages of more than a megabyte, which would hold up the
    crawl, are not cut; their links count as in no block.

    Args:
        method: how pages are cut, see `mmcrawl.blocks.partition`.
        level: how often.

    Raises:
        BlockError: there is no such method.
    """

    def __init__(self, method: str, level: int) -> None:
        make_partitioner(method)
        self.method, self.level = method, level

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        if not settings.getbool("MMCRAWL_LINK_BLOCKS"):
            raise NotConfigured
        return cls(settings["MMCRAWL_BLOCKS_METHOD"], settings.getint("MMCRAWL_BLOCKS_LEVEL"))

    def process_item(self, item: Any) -> Any:
        """Note the kinds of a page's links."""
        if isinstance(item, PageItem) and item.capture and len(item.capture.body) <= _LARGEST:
            page = item.page
            blocks = partition(
                item.capture.body,
                method=self.method,
                level=self.level,
                encoding=page.encoding,
                url=page.url,
            )
            item.link_kinds = link_kinds(blocks, page.url, page.encoding)
        return item
