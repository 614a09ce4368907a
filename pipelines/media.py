"""Keeps relevant pages with their media in the store, and turns them into rows for feeds."""

import time
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from mmcrawl.items import MediaPageItem, PageItem
from mmcrawl.scheduler import scheduler_of

__all__ = ["MediaPipeline"]


class MediaPipeline:
    """Stores media pages (the paper's MultiMedia) and passes on one `MediaPageItem` for each.

    A page that is not relevant ends here: it is dropped from the items, not from the crawl. Put
    pipelines that want every page before this one.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Judge a page; keep it if it is relevant."""
        scheduler = scheduler_of(self.crawler)
        if not isinstance(item, PageItem) or scheduler is None:
            return item
        if scheduler.job is None:
            raise DropItem("no crawl is open", log_level="DEBUG")
        item.verdict = scheduler.job.judge(item.page, item.digest)
        if not item.verdict.relevant:
            raise DropItem("not relevant", log_level="DEBUG")
        record = scheduler.job.keep_media(
            item.page, item.verdict, http_status=item.http_status, visited_at=time.time()
        )
        return MediaPageItem.from_record(record)
