"""How a crawl ends that has nothing left to do, for whoever runs crawls by the clock."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import CloseSpider

from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.silent import name_silent, why_silent

if TYPE_CHECKING:
    from mmcrawl.engine.scheduler import FocusedScheduler


class Ends:
    """Closes an idle spider with the reason why it is.

    Args:
        scheduler: of the crawl, whose job is open.
        contents: what pages without links and media consist of, by their links.
    """

    def __init__(self, scheduler: "FocusedScheduler", contents: Mapping[int, str]) -> None:
        self._scheduler, self._contents = scheduler, contents
        self._is_fresh = scheduler.job is not None and not scheduler.job.pages
        scheduler.crawler.signals.connect(self._name, signals.spider_idle)

    def _name(self) -> None:
        """Close with `max_pages` when only that limit keeps links waiting, with `nothing_fetched`
        when no page could be had, with `nothing_found` if no seed gave a page or a medium."""
        scheduler, job = self._scheduler, self._scheduler.job
        if job is None:
            return
        if scheduler.limit_reached and job.ready:
            raise CloseSpider("max_pages")
        if not job.pages:
            raise CloseSpider("nothing_fetched")
        if job.ready and scheduler.only_left_alone:
            raise CloseSpider("hosts_unreachable")
        if not isinstance(job, CrawlJob) or not self._is_fresh or scheduler.limit_reached:
            return  # of a crawl that is shared, its workers together say so
        if lines := why_silent(job.frontier, self._contents):
            name_silent(lines)
            raise CloseSpider("nothing_found")
