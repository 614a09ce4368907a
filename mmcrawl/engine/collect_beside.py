"""Collects media while a crawl runs, in a separate process: `-a download=all`.

It reads the crawl's store, so that the crawl is not slowed and a kill of either loses nothing. When
the crawl ends, it waits until everything found has been fetched; Ctrl-C leaves the rest for another
time. If the crawl dies, the process ends at once.
"""

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, Self

from scrapy import Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.misc import load_object
from scrapy.utils.project import get_project_settings
from twisted.internet.defer import Deferred

from mmcrawl.crawl.params import FocusedParams
from mmcrawl.engine.scheduler import crawl_of
from mmcrawl.engine.threads import in_thread
from mmcrawl.store.child_process import ChildProcess, Questions, signals_to

logger = logging.getLogger(__name__)

_SPIDER = "mmcrawl.spiders.collect.CollectSpider"
_TELL, _FINISH, _STOP = "tell", "finish", "stop"
_ASK_AGAIN = 2.0  # seconds; what the process logs comes with its answers
_STARTING = 0.05  # seconds; then it is looked again whether it has begun
_ENDED_EARLY = frozenset({"shutdown", "store_error", "bad_input", "cancelled"})


class CollectBeside:
    """Extension: downloads the crawl's media while it runs, if `download=` is given."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._said: SimpleQueue[str] = SimpleQueue()
        self._ended: Deferred[None] | None = None
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _opened(self, spider: Spider) -> None:
        args = getattr(spider, "args", None)
        if not isinstance(args, FocusedParams) or not args.download:
            return
        if crawl_of(self.crawler) is None:
            return
        arguments = {
            "store": args.store_uri,
            "job": args.job_name,
            "kinds": args.download,
            "max_media": args.max_media,
        }
        try:
            child = ChildProcess(__name__)
        except OSError as error:
            logger.error(  # noqa: TRY400 - for a person
                "Media are not collected: no process can be started (%s); afterwards `scrapy"
                " collect` fetches them",
                error.strerror,
            )
            return
        opening = {"arguments": arguments, "settings": _plain(self.crawler.settings)}
        self._ended = in_thread(lambda: self._watch(child, opening))

    async def _closed(self, reason: str) -> None:
        if self._ended is None:
            return
        if reason in _ENDED_EARLY:
            self._said.put(_STOP)
        else:
            logger.info("The crawl has ended; its media are still coming. Ctrl-C leaves the rest.")
            self._said.put(_FINISH)
        with signals_to(lambda _: self._said.put(_STOP)):  # the crawl has ended already
            await maybe_deferred_to_future(self._ended)

    def _watch(self, child: ChildProcess, opening: Mapping[str, Any]) -> None:
        """Talk to the process until it has ended; runs in a thread."""
        try:
            child.ask(opening)
            while child.ask(self._next()) is None:
                pass
        except (EOFError, OSError, ValueError):
            logger.error(  # noqa: TRY400 - for a person
                "The process that collects media ended unexpectedly; `scrapy collect` continues"
            )
        finally:
            child.end()

    def _next(self) -> str:
        try:
            return self._said.get(timeout=_ASK_AGAIN)
        except Empty:
            return _TELL


def _plain(settings: BaseSettings) -> dict[str, Any]:
    """Return the settings that a user or a project gave, as far as JSON can write them."""
    plain: dict[str, Any] = {}
    for name in settings:
        given = settings.getpriority(name) or 0
        project, spider = SETTINGS_PRIORITIES["project"], SETTINGS_PRIORITIES["spider"]
        if given < project or given == spider:
            continue
        value = settings[name]
        value = dict(value) if isinstance(value, BaseSettings) else value
        with suppress(TypeError, ValueError):
            json.dumps(value)
            plain[str(name)] = value
    return plain


def serve() -> None:
    """In the other process: collect until the crawl has ended and nothing waits."""
    questions = Questions()
    opening, _ = questions.next()
    settings = get_project_settings()
    settings.setdict(opening["settings"], priority="cmdline")
    settings.set("LOG_INSTALL_ROOT_HANDLER", False, priority="cmdline")  # the parent has one
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(load_object(_SPIDER))
    runs, opened, ended = Event(), Event(), Event()
    runs.set()

    def follow(spider: Spider) -> None:
        spider.follows = runs.is_set  # type: ignore[attr-defined]
        opened.set()

    def stop() -> None:
        from twisted.internet import reactor

        runs.clear()
        reactor.callFromThread(leave)

    def leave() -> None:
        # Scrapy takes a stop before its engine runs for done: it would never end then.
        if not opened.is_set() or (crawler.crawling and not crawler.engine.running):
            call_later(_STARTING, leave)
        elif crawler.crawling:
            deferred_from_coro(crawler.stop_async())

    def listen() -> None:
        questions.answer(None)
        while True:
            said, _ = questions.next()
            if said == _FINISH:
                runs.clear()
            elif said == _STOP:
                stop()
            elif ended.is_set():
                questions.answer(True)
                return
            questions.answer(None)

    crawler.signals.connect(follow, signals.spider_opened)
    listener = questions.in_thread(listen)
    process.crawl(crawler, **{name: text for name, text in opening["arguments"].items() if text})
    process.start(install_signal_handlers=False)
    ended.set()
    listener.join()
