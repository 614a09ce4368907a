"""Feeds of what a crawl found, written from its store when the crawl closes."""

import json
import logging
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any

from scrapy import Spider
from scrapy.exceptions import CloseSpider
from scrapy.exporters import CsvItemExporter
from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage

from mmcrawl.crawl.protocol import Crawl
from mmcrawl.engine.items import MediaPageItem, PageItem
from mmcrawl.engine.scheduler import crawl_of, scheduler_of
from mmcrawl.errors import StoreError
from mmcrawl.frontier.findings import MediaPageRecord
from mmcrawl.text.writing import harmless

logger = logging.getLogger(__name__)

_SAY_AFTER, _SAY_EVERY = 2.0, 10.0  # seconds


class MediaFeedExporter(FeedExporter):
    """Feeds that hold what the store holds: media pages are written when the crawl closes.

    A page found early may turn out to hold nothing but an animation of the site's navigation bar,
    and a crawl may be run in several pieces; so rows are taken from the store at the end, all of
    the job. All have the same columns: those of `MediaPageItem`, and what pipelines added to any
    page. Items that are no pages are exported as they come.
    """

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Export an item that is no page."""
        if not isinstance(item, PageItem):
            super().item_scraped(item, spider)

    def open_spider(self, spider: Spider) -> None:
        """Open the feeds; a file that cannot be written closes the spider with one line.

        Without a job, because it was refused, files keep what they hold. The scheduler is opened
        before this is called.
        """
        scheduler = scheduler_of(self.crawler)
        if scheduler is not None and scheduler.job is None:
            return
        super().open_spider(spider)
        for slot in self.slots:
            if isinstance(slot.storage, FileFeedStorage):
                try:
                    _try_to_write(Path(slot.storage.path))
                except OSError as error:
                    self.slots = []
                    why = error.strerror or error
                    logger.error("Feed %s cannot be written: %s", slot.uri, why)  # noqa: TRY400
                    raise CloseSpider("bad_input") from None

    async def close_spider(self, spider: Spider) -> None:
        """Write the media pages of the job and close the feeds."""
        if job := crawl_of(self.crawler):
            say_at = monotonic() + _SAY_AFTER
            try:
                for count, row in enumerate(_rows(job), start=1):
                    super().item_scraped(row, spider)
                    if monotonic() > say_at:
                        say_at = monotonic() + _SAY_EVERY
                        logger.info("Writing the feeds: %s pages so far", f"{count:,}")
            except StoreError as error:
                logger.error("The feeds are not complete: %s", error)  # noqa: TRY400
        await super().close_spider(spider)


class MediaCsvExporter(CsvItemExporter):
    """CSV without formulas, of which "; " joins several values: addresses may hold commas."""

    def __init__(self, file: Any, **kwargs: Any) -> None:
        if _is_empty(file) and (kwargs.get("encoding") or "utf-8").lower() in ("utf-8", "utf8"):
            file.write(BOM_UTF8)  # by which spreadsheets know that it is UTF-8
        super().__init__(file, **{"join_multivalued": "; "} | kwargs)

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        """Return the value of a cell: times in local time, media as text, other records as JSON."""
        if name in ("visited_at", "time") and isinstance(value, float):
            return datetime.fromtimestamp(value).strftime("%Y-%m-%d %H:%M:%S")
        if name == "media" and isinstance(value, list):
            value = [f"{one['kind']} {one['url']} {one['text']}".rstrip() for one in value]
        if isinstance(value, list) and any(isinstance(one, dict) for one in value):
            return json.dumps(value, ensure_ascii=False)
        return super().serialize_field(field, name, value)

    def _build_row(self, values: Iterable[Any]) -> Iterable[Any]:
        return map(harmless, super()._build_row(values))


def _is_empty(file: Any) -> bool:
    """Return whether a file is still empty; False for a pipe."""
    try:
        return bool(file.tell() == 0)
    except OSError:
        return False


def _rows(job: Crawl) -> Iterator[dict[str, Any]]:
    """Yield the rows of a job's media pages, all with the same columns."""
    names = {name for record in job.media_pages() for name in _extra(record)}
    for record in job.media_pages():
        none: dict[str, Any] = dict.fromkeys(sorted(names))
        row = asdict(MediaPageItem.from_record(record))
        yield row | {**none, **_extra(record)} | row  # of the same name, ours stays


def _extra(record: MediaPageRecord) -> dict[str, Any]:
    extra: dict[str, Any] = json.loads(record.extra) if record.extra else {}
    return extra


def _try_to_write(path: Path) -> None:
    """Raise OSError if a file cannot be written; an existing file stays unchanged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.open("ab").close()
