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
from twisted.python.failure import Failure

from mmcrawl.archive.model import Capture, Stored, Unchanged
from mmcrawl.archive.storing import ArchiveStore, GroupStore, Intake, ProcessStore
from mmcrawl.engine.crawls import Configuration
from mmcrawl.engine.items import PageItem, RequisiteItem, VisitItem
from mmcrawl.engine.scheduler import has_something_to_do, scheduler_of
from mmcrawl.engine.threads import Completions, has_another_core, in_thread
from mmcrawl.errors import StoreError

logger = logging.getLogger(__name__)

_TOLD_AFTER = 2.0  # seconds
_CLOSING = "Closing the archive: compressing what is new; Ctrl-C ends that, nothing is lost"
_MOST_PAGES = 256


class ArchivePipeline:
    """Has each page stored in the archive, which `spider.archive_uri` names, and passes it on.

    It wants every page, so it stands before the pipeline that drops what is not relevant. What
    waits to be stored comes to SCRAPER_SLOT_MAX_ACTIVE_SIZE bytes at most; further items wait here,
    and Scrapy fetches no more: a slow archive slows the crawl. An archive that fails, also
    when tried again, stops the crawl with the reason `store_error`, and no page that was not stored
    counts as crawled. Where there is a core for it, a process of its own writes the archive.

    Stats: `mmcrawl/archive/` `pages`, `new`, `unchanged`, `bytes` (of the bodies), `new_bytes` (of
    them what the archive did not hold yet, before compression).
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._intake: Intake | None = None
        most = crawler.settings.getint("SCRAPER_SLOT_MAX_ACTIVE_SIZE")
        self._room = PageSemaphore(_MOST_PAGES, most)
        self._completions: Completions[Stored] = Completions()
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
        config = Configuration.read(self.crawler.settings)
        opened: Callable[..., GroupStore]
        opened = ProcessStore if has_another_core() else ArchiveStore.open
        try:
            store: GroupStore = await run_in_thread(
                opened, uri, create=create, method=config.method, keep_blocks=config.cuts_blocks
            )
        except StoreError as error:
            self._stop(error, closing=True)
            raise CloseSpider("store_error") from None
        self._intake = Intake(store)

    async def process_item(self, item: Any) -> Any:
        """Store a page; return the item at once if the crawl keeps the order, else when stored."""
        visit = _visit_of(item)
        if visit is None or self._intake is None:
            return item
        visits = [visit]
        if isinstance(item, PageItem) and item.rendered is not None:
            visits.insert(0, item.rendered)
        for one in visits:
            size = len(one.body) if isinstance(one, Capture) else 0
            await maybe_deferred_to_future(self._room.enter(size))
            storing = self._completions.of(self._intake.put(one))
            counted = () if isinstance(item, RequisiteItem) else (one,)
            storing.addCallbacks(self._count, self._fail, callbackArgs=counted)
            storing.addBoth(self._leave, size)
            if self._is_passed_on(item, storing):
                continue
            stored: Stored = await maybe_deferred_to_future(storing)
            if isinstance(item, VisitItem):
                item.outcome = "unchanged" if stored.version is None else "new"
        if isinstance(item, RequisiteItem):
            raise DropItem("archived", log_level="DEBUG")
        return item

    def _is_passed_on(self, item: Any, storing: Deferred[Stored]) -> bool:
        """Return whether the crawl learns from a page while it is stored."""
        scheduler, link = scheduler_of(self.crawler), getattr(item, "link", None)
        return scheduler is not None and link is not None and scheduler.stores(link, storing)

    def _leave(self, outcome: Any, size: int) -> Any:
        self._room.leave(size)
        return outcome

    def _fail(self, failure: Failure) -> None:
        """Log the outcome of a visit that is not stored."""
        error = failure.value
        if isinstance(error, StoreError):
            self._stop(error)
            raise DropItem("not archived", log_level="DEBUG") from None
        self.crawler.stats.inc_value("mmcrawl/archive/failed")
        raise StoreError(f"not archived: {error}") from error

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

    def _count(self, stored: Stored, visit: Capture | Unchanged | None = None) -> Stored:
        """Count a page; a requisite is none."""
        if visit is None:
            return stored
        stats = self.crawler.stats
        stats.inc_value("mmcrawl/archive/pages")
        stats.inc_value(f"mmcrawl/archive/{'new' if stored.version else 'unchanged'}")
        if isinstance(visit, Capture):
            stats.inc_value("mmcrawl/archive/bytes", len(visit.body))
            stats.inc_value("mmcrawl/archive/new_bytes", stored.new_bytes)
        return stored


class PageSemaphore:
    """Bounds how many items, and how many bytes of them, are in progress; others wait in order."""

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
        """Leave, and admit the next one waiting."""
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
    """Return the part of an item for the archive; None for other items."""
    if isinstance(item, PageItem):
        return item.capture
    if isinstance(item, VisitItem):
        return item.capture or Unchanged(item.url, item.time, item.status)
    return None
