"""`scrapy crawl`: Scrapy's own, with arguments that are checked before anything starts."""

import argparse
import logging
import sys
from typing import get_type_hints

from pydantic import BaseModel, ValidationError
from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler
from scrapy.spiderloader import get_spider_loader

from mmcrawl.crawls import check_settings, with_stored_web
from mmcrawl.errors import MmcrawlError
from mmcrawl.params import explain

__all__ = ["Command"]

_NOISY = (
    "scrapy.utils.log",
    "scrapy.middleware",
    "scrapy.crawler",
    "scrapy.addons",
)
_ROBOTS = "scrapy.downloadermiddlewares.robotstxt"
_EXIT_CODES = {"bad_input": 2, "store_error": 1}


class Command(ScrapyCrawl):
    """Run a spider; a wrong argument is one sentence and exit code 2, a store that fails is 1."""

    _own_crawler: Crawler | None = None

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the arguments of one of our spiders; end the process if one is wrong."""
        super().process_options(args, opts)
        problems = self._problems(args, opts)
        for problem in problems:
            print(f"scrapy crawl: {problem}", file=sys.stderr)
        if problems:
            raise SystemExit(2)
        if self.settings is not None and self.settings["LOG_LEVEL"] != "DEBUG":
            for name in _NOISY:
                logging.getLogger(name).addFilter(_is_warning)
            logging.getLogger(_ROBOTS).addFilter(_without_traceback)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; tell by the exit code whether the crawl could be done."""
        super().run(args, opts)
        if self._own_crawler is not None and self._own_crawler.stats is not None:
            reason = self._own_crawler.stats.get_value("finish_reason")
            self.exitcode = self.exitcode or _EXIT_CODES.get(reason, 0)

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        self._own_crawler = super()._create_crawler(spidercls)
        return self._own_crawler

    def _problems(self, args: list[str], opts: argparse.Namespace) -> list[str]:
        if len(args) != 1 or self.settings is None:
            return []
        loader = get_spider_loader(self.settings)
        try:
            spider = loader.load(args[0])
        except KeyError:
            return [f"there is no spider {args[0]!r}; there are {', '.join(sorted(loader.list()))}"]
        model = get_type_hints(spider).get("args")
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return []
        try:
            check_settings(self.settings)
            model(**with_stored_web(opts.spargs, self.settings))
        except ValidationError as error:
            return explain(error)
        except MmcrawlError as error:
            return [str(error)]
        return []


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = None
    return True
