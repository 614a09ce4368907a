"""Scrapy extensions that show progress and result of a crawl on standard error."""

import logging
import sys
from collections import Counter, deque
from contextlib import closing
from time import monotonic
from typing import Self

from rich.console import Console
from rich.live import Live
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from mmcrawl.commands.terminal.tables import (
    Archived,
    Progress,
    Summary,
    closing_tables,
    collected_tables,
    progress_line,
    progress_panel,
    revisit_tables,
    sentence,
)
from mmcrawl.crawl.protocol import Crawl, Totals
from mmcrawl.engine.scheduler import crawl_of, scheduler_of
from mmcrawl.errors import StoreError
from mmcrawl.frontier.ranking import ALL
from mmcrawl.frontier.requisites import RequisiteQueue
from mmcrawl.settings import value_of
from mmcrawl.store.uris import shown

logger = logging.getLogger(__name__)

_PANEL_SECONDS = 0.5
_LINE_SECONDS = 10.0
_RATE_SECONDS = 10.0
_ENOUGH_PAGES, _EXAMPLES, _MOST_WORDS = 50, 30, 12  # of suggested words
_FAILED_ENDS = {
    "nothing_fetched": "Nothing could be fetched; ",
    "hosts_unreachable": "The waiting links are on hosts whose robots.txt could not be read; ",
}


class CrawlProgress:
    """Shows how a crawl goes, and keeps the same numbers in the stats under `mmcrawl/`.

    On a terminal a panel is drawn over and over below the log; elsewhere a line is logged every ten
    seconds. At the end the closing tables are printed to standard error.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._shown = value_of(crawler.settings, "MMCRAWL_DISPLAY")
        terminal = sys.stderr.isatty()
        self._console = _console()
        self._live: Live | None = None
        self._panel = terminal and self._shown
        self._ticks = create_looping_call(self._tick)
        self._started = monotonic()
        self._before = 0  # pages of earlier runs
        self._most_pages = 0
        self._seen: deque[tuple[float, int]] = deque()
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _opened(self, spider: Spider | None = None) -> None:
        job = crawl_of(self.crawler)
        self._most_pages = getattr(getattr(spider, "args", None), "max_pages", 0)
        self._before = job.pages if job is not None else 0
        if job is None or job.job.finished_at is not None:
            return
        self._started = monotonic()
        self._seen.append((self._started, job.pages))
        if self._panel:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
            _follow_stderr()
        self._ticks.start(_PANEL_SECONDS if self._panel else _LINE_SECONDS, now=False)

    def _tick(self) -> None:
        job, scheduler = crawl_of(self.crawler), scheduler_of(self.crawler)
        if job is None or scheduler is None or scheduler.at_work:
            return
        progress = self._progress(job)
        if self._live is not None:
            self._live.update(progress_panel(progress), refresh=True)
        elif self._shown:
            logger.info(progress_line(progress))

    def _closed(self, spider: Spider, reason: str) -> None:
        if self._ticks.running:
            self._ticks.stop()
        if self._live is not None:
            self._live.stop()
            _follow_stderr()
        job = crawl_of(self.crawler)
        if job is None:
            return
        progress = self._progress(job)
        self.crawler.stats.set_value("mmcrawl/store/round_trips", job.round_trips)
        if self._shown and reason != "bad_input":
            try:
                summary = self._summary(job, progress, spider, reason)
            except StoreError as error:
                logger.error("What was found cannot be shown: %s", error)  # noqa: TRY400
            else:
                self._console.print(closing_tables(summary), crop=False)

    def _progress(self, job: Crawl) -> Progress:
        totals, requisites = job.totals(), self._requisites()
        progress = Progress(
            **totals.as_plain(),
            pages_per_second=self._rate(totals.pages),
            most_pages=self._most_pages,
            requisites=requisites.waiting.total() if requisites else 0,
        )
        self._note(totals)
        return progress

    def _rate(self, pages: int) -> float:
        """Return pages a second over the last ten seconds."""
        now = monotonic()
        self._seen.append((now, pages))
        while now - self._seen[0][0] > _RATE_SECONDS and len(self._seen) > 2:
            self._seen.popleft()
        since, before = self._seen[0]
        return (pages - before) / (now - since) if now > since else 0.0

    def _note(self, totals: Totals) -> None:
        stats = self.crawler.stats
        for name in (
            "pages",
            "media_pages",
            "harvest_rate",
            "waiting",
            "held",
            "patterns",
            "errors",
        ):
            stats.set_value(f"mmcrawl/{name}", getattr(totals, name))
        for kind, count in totals.media.items():
            stats.set_value(f"mmcrawl/media/{kind}", count)
        for reason, count in totals.refused.items():
            stats.set_value(f"mmcrawl/refused/{reason}", count)

    def _summary(self, job: Crawl, progress: Progress, spider: Spider, reason: str) -> Summary:
        topic, stats = job.topic, self.crawler.stats
        scheduler, requisites = scheduler_of(self.crawler), self._requisites()
        return Summary(
            job=job.job.name,
            topic=f"{topic.title} ({topic.title_en or topic.name})",
            algo=job.algorithm,
            ending=_ending(spider, job, reason, stats.get_value("mmcrawl/store_error", "")),
            progress=progress,
            seconds=monotonic() - self._started,
            pages_before=self._before,
            best=job.best(20),
            patterns=job.patterns(),
            errors=job.error_reasons(),
            left_alone=Counter(scheduler.unreachable.told() if scheduler else {}),
            archived=self._archived(spider),
            near=job.near_misses(),
            barren=job.barren_directories(),
            requisites=requisites.tally() if requisites else None,
            words=_words(job, getattr(spider, "archive_uri", None)),
        )

    def _requisites(self) -> RequisiteQueue | None:
        scheduler = scheduler_of(self.crawler)
        beside = scheduler.requisites if scheduler else None
        return beside.queue if beside else None

    def _archived(self, spider: Spider) -> Archived | None:
        uri: str | None = getattr(spider, "archive_uri", None)
        if uri is None:
            return None
        names = ("pages", "new", "bytes", "new_bytes")
        numbers = [self.crawler.stats.get_value(f"mmcrawl/archive/{name}", 0) for name in names]
        return Archived(shown(uri), *numbers) if numbers[0] else None


def _words(job: Crawl, uri: str | None) -> list[str]:
    """Return words for more keywords, from what was found in a crawl of some pages."""
    topic = job.topic
    if uri is None or topic.name != "keywords" or topic.anything or job.pages < _ENOUGH_PAGES:
        return []
    from mmcrawl.archive.opening import open_archive  # slow to load
    from mmcrawl.learning.examples import suggested_words

    found = [page.url for page in job.best(_EXAMPLES)]
    known = [word for concept in topic.terms for word in concept]
    try:
        with closing(open_archive(uri, create=False, read_only=True)) as archive:
            words = suggested_words(
                found, (), archive, pages=_EXAMPLES, most=_MOST_WORDS, known=known
            )
    except StoreError:
        return []  # it may be why the crawl stopped, which is shown
    return [word.word for word in words]


class ClosingTables:
    """Shows the `outcome` of a spider that collects or revisits, if it has one."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self._show, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _show(self) -> None:
        outcome = getattr(self._crawler.spider, "outcome", None)
        if outcome is None or not value_of(self._crawler.settings, "MMCRAWL_DISPLAY"):
            return
        tables = collected_tables if hasattr(outcome, "kept") else revisit_tables
        _console().print(tables(outcome))


def _console() -> Console:
    return Console(stderr=True, width=None if sys.stderr.isatty() else 120)


def _leaving(spider: Spider) -> list[str]:
    """Return the arguments of a spider that may leave out links that were found."""
    args = getattr(spider, "args", None)
    links = getattr(args, "links", ALL)
    return ["a rule"] * bool(getattr(args, "rules", "")) + [f"links={links}"] * (links != ALL)


def _ending(  # noqa: PLR0911 - one for each reason
    spider: Spider, job: Crawl, reason: str, store_error: str
) -> str:
    afresh = getattr(spider, "made_afresh", False)
    kept = job.kept and not afresh
    again = "run the same command to continue" if kept else "it was kept in memory only"
    if afresh:
        again = "the same command starts over"
    if reason in _FAILED_ENDS:
        return _FAILED_ENDS[reason] + (
            "run the same command to try again." if kept else "see the reasons above."
        )
    if reason == "nothing_found":
        return "Nothing was found: no seed gave another page or a medium, for the reasons above."
    if reason == "finished":
        held = job.totals().held
        who = " or ".join([*_leaving(spider), job.algorithm])
        return "Finished: every link that may be followed was fetched" + (
            f", but for {held} that {who} leaves out." if held else "."
        )
    if reason == "already_finished":
        return (
            f"Job {job.job.name} was finished before; nothing was fetched."
            " Give -a job=NAME to start another, or another -a store=."
        )
    if reason == "max_pages":
        more = "; raise it and " + again if kept else ""
        return f"Stopped at max_pages{more}."
    if store_error:
        return f"Stopped ({reason}); {again}.\n{sentence(store_error)}"
    return f"Stopped ({reason}); {again}."


def _follow_stderr() -> None:
    """Let log handlers write to what standard error is now, so that lines and panel don't mix."""
    for handler in logging.root.handlers:
        if type(handler) is logging.StreamHandler:
            handler.setStream(sys.stderr)
