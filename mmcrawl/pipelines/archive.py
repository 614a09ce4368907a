"""Puts every page into the block archive."""

import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.utils.asyncio import call_later, run_in_thread
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred, succeed

from mmcrawl.archive.intake import ArchiveStore, GroupStore, Intake, RefusedError
from mmcrawl.archive.model import Capture, Stored, Unchanged
from mmcrawl.archive.writer_process import ProcessStore
from mmcrawl.engine.crawls import blocks_kept
from mmcrawl.engine.items import PageItem, VisitItem
from mmcrawl.engine.scheduler import has_something_to_do, scheduler_of, working_on
from mmcrawl.engine.threads import News, has_another_core, in_thread
from mmcrawl.errors import StoreError

logger = logging.getLogger(__name__)

_TOLD_AFTER = 2.0  # seconds
_CLOSING = "Closing the archive: compressing what is new; Ctrl-C ends that, nothing is lost"
_MOST_PAGES = 256
_MOST_BYTES = 32 << 20


class ArchivePipeline:
    """Passes an item on when its page is durable in the archive, which `spider.archive_uri` names.

    It wants every page, so it stands before the pipeline that drops what is not relevant. An item
    under way holds its response in Scrapy's scraper, which fetches no more while those come to
    SCRAPER_SLOT_MAX_ACTIVE_SIZE bytes: a slow archive slows the crawl. An archive that fails, also
    when tried again, stops the crawl with the reason `store_error`, and no page that was not stored
    counts as crawled. Where there is a core for it, a process of its own writes the archive.

    Stats: `mmcrawl/archive/` `pages`, `new`, `unchanged`, `bytes` (of the bodies), `new_bytes` (of
    them what the archive did not hold yet, before compression).
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._intake: Intake | None = None
        self._room = PageSemaphore(_MOST_PAGES, _MOST_BYTES)
        self._news: News[Stored] = News()
        self._failed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def open_spider(self) -> None:
        """Open the archive, if there is to be one; one that cannot be closes the spider."""
        uri: str | None = getattr(self.crawler.spider, "archive_uri", None)
        if uri is None or not has_something_to_do(self.crawler):
            return
        create: bool = getattr(self.crawler.spider, "creates_archive", True)
        method, keep = blocks_kept(self.crawler.settings)
        opened: Callable[..., GroupStore]
        opened = ProcessStore if has_another_core() else ArchiveStore.open
        try:
            store: GroupStore = await run_in_thread(
                opened, uri, create=create, method=method, keep_blocks=keep
            )
        except StoreError as error:
            self._stop(error, closing=True)
            raise CloseSpider("store_error") from None
        self._intake = Intake(store)

    async def process_item(self, item: Any) -> Any:
        """Store a page; return the item when it is durable."""
        visit = _visit_of(item)
        if visit is None or self._intake is None:
            return item
        with working_on(self.crawler, item):
            if isinstance(item, PageItem) and item.rendered is not None:
                await self._stored(item.rendered, self._intake)
            stored = await self._stored(visit, self._intake)
        if isinstance(item, VisitItem):
            item.outcome = "unchanged" if stored.version is None else "new"
        return item

    async def _stored(self, visit: Capture | Unchanged, intake: Intake) -> Stored:
        """Store a visit; return when it is durable.

        Raises:
            DropItem: the archive has failed, and the crawl stops.
            StoreError: this one visit was refused.
        """
        size = len(visit.body) if isinstance(visit, Capture) else 0
        await maybe_deferred_to_future(self._room.enter(size))
        try:
            stored: Stored = await maybe_deferred_to_future(self._news.of(intake.put(visit)))
        except StoreError as error:
            self._stop(error)
            raise DropItem("not archived", log_level="DEBUG") from None
        except RefusedError as error:
            self.crawler.stats.inc_value("mmcrawl/archive/failed")
            raise StoreError(f"not archived: {error}") from error
        finally:
            self._room.leave(size)
        self._count(visit, stored)
        return stored

    async def close_spider(self) -> None:
        """Close the archive, in a thread that Ctrl-C need not wait for."""
        if self._intake is None:
            return
        told = call_later(_TOLD_AFTER, logger.info, _CLOSING)
        try:
            await maybe_deferred_to_future(in_thread(self._intake.close))
        except StoreError as error:
            if not self._failed:  # else it was said
                logger.error("%s", error)  # noqa: TRY400 - for a person, not for a debugger
        finally:
            told.cancel()

    def _stop(self, error: StoreError, *, closing: bool = False) -> None:
        """Stop the crawl; `closing` if it closes by itself."""
        scheduler = scheduler_of(self.crawler)
        if scheduler is not None:
            scheduler.give_up(error, closing=closing)
        elif not self._failed:
            logger.error("%s", error)
            self.crawler.stats.set_value("mmcrawl/store_error", str(error))
            if not closing:
                deferred_from_coro(self.crawler.engine.close_spider_async(reason="store_error"))
        self._failed = True

    def _count(self, visit: Capture | Unchanged, stored: Stored) -> None:
        stats = self.crawler.stats
        stats.inc_value("mmcrawl/archive/pages")
        stats.inc_value(f"mmcrawl/archive/{'new' if stored.version else 'unchanged'}")
        if isinstance(visit, Capture):
            stats.inc_value("mmcrawl/archive/bytes", len(visit.body))
            stats.inc_value("mmcrawl/archive/new_bytes", stored.new_bytes)


class PageSemaphore:
    """Bounds how many items, and how many bytes of them, are under way; others wait in order."""

    def __init__(self, most_items: int, most_bytes: int) -> None:
        self._most_items, self._most_bytes = most_items, most_bytes
        self._items = self._bytes = 0
        self._waiting: deque[tuple[int, Deferred[None]]] = deque()

    def enter(self, size: int) -> Deferred[None]:
        """Come in when there is room; something too large when nothing else is inside."""
        if not self._waiting and self._fits(size):
            self._take(size)
            return succeed(None)
        waiting: Deferred[None] = Deferred()
        self._waiting.append((size, waiting))
        return waiting

    def leave(self, size: int) -> None:
        """Go, and let in who waits."""
        self._items -= 1
        self._bytes -= size
        while self._waiting and self._fits(self._waiting[0][0]):
            size, waiting = self._waiting.popleft()
            self._take(size)
            waiting.callback(None)

    def _fits(self, size: int) -> bool:
        if not self._items:
            return True
        return self._items < self._most_items and self._bytes + size <= self._most_bytes

    def _take(self, size: int) -> None:
        self._items += 1
        self._bytes += size


def _visit_of(item: Any) -> Capture | Unchanged | None:
    """Return what of an item goes into the archive; None for other items."""
    if isinstance(item, PageItem):
        return item.capture
    if isinstance(item, VisitItem):
        return item.capture or Unchanged(item.url, item.time, item.status)
    return None
