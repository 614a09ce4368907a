"""`scrapy crawl`: Scrapy's own, with arguments that are checked before anything starts."""

import argparse
import logging
import sys
from collections.abc import Mapping
from typing import get_type_hints

from pydantic import BaseModel, ValidationError
from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.spiderloader import get_spider_loader
from scrapy_spider_metadata import Args

from mmcrawl.crawls import check_settings, with_stored_web
from mmcrawl.errors import MmcrawlError
from mmcrawl.params import explain

__all__ = ["Command", "problems_of"]

_NOISY = (
    "scrapy.utils.log",
    "scrapy.middleware",
    "scrapy.crawler",
    "scrapy.addons",
    "scrapy.extensions.remote_control",
)
_ROBOTS = "scrapy.downloadermiddlewares.robotstxt"
EXIT_CODES = {"nothing_fetched": 1, "store_error": 1, "bad_input": 2}
"""By the reason for which a crawl ended; 0 for all others."""


class Command(ScrapyCrawl):
    """Run a spider; a wrong argument is one sentence and exit code 2."""

    _own_crawler: Crawler | None = None

    def long_desc(self) -> str:
        """Return what the exit codes mean."""
        return (
            "Exit codes: 0, the crawl ended, reached max_pages, had been finished before, or was"
            " stopped (Ctrl-C) and the same command goes on; 1, no page could be fetched, or a"
            " store or archive failed; 2, an argument, a setting, the seeds, the stored web or a"
            " feed is wrong."
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the arguments of one of our spiders; end the process if one is wrong."""
        super().process_options(args, opts)
        if len(args) != 1 or self.settings is None:
            return
        problems = problems_of(args[0], opts.spargs, self.settings)
        for problem in problems:
            print(f"scrapy crawl: {problem}", file=sys.stderr)
        if problems:
            raise SystemExit(2)
        ours = _arguments_of(get_spider_loader(self.settings).load(args[0])) is not None
        if ours and self.settings["LOG_LEVEL"] != "DEBUG":
            for name in _NOISY:
                logging.getLogger(name).addFilter(_is_warning)
            logging.getLogger(_ROBOTS).addFilter(_without_traceback)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; tell by the exit code whether the crawl could be done."""
        super().run(args, opts)
        if self._own_crawler is not None and self._own_crawler.stats is not None:
            reason = self._own_crawler.stats.get_value("finish_reason")
            self.exitcode = self.exitcode or EXIT_CODES.get(reason, 0)

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        self._own_crawler = super()._create_crawler(spidercls)
        return self._own_crawler


def problems_of(
    name: str | None, arguments: Mapping[str, str], settings: BaseSettings | None
) -> list[str]:
    """Return what is wrong with a spider's arguments, a sentence each; of our spiders only."""
    if name is None or settings is None:
        return []
    loader = get_spider_loader(settings)
    try:
        model = _arguments_of(loader.load(name))
    except KeyError:
        return [f"there is no spider {name!r}; there are {', '.join(sorted(loader.list()))}"]
    if model is None:
        return []
    try:
        check_settings(settings)
        model(**with_stored_web(arguments, settings))
    except ValidationError as error:
        return explain(error)
    except MmcrawlError as error:
        return str(error).splitlines()
    return []


def _arguments_of(spider: type[Spider]) -> type[BaseModel] | None:
    """Return what checks a spider's arguments; None for a spider that is not ours."""
    if not issubclass(spider, Args):
        return None
    model: type[BaseModel] = get_type_hints(spider)["args"]
    return model


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = None
    return True
