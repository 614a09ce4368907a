"""`scrapy crawl`: Scrapy's own, with arguments that are checked before anything starts."""

import argparse
import logging
import sys

from pydantic import ValidationError
from scrapy.commands.crawl import Command as ScrapyCrawl

from mmcrawl.errors import MmcrawlError
from mmcrawl.params import FocusedParams, explain

__all__ = ["Command"]

_NOISY = (
    "scrapy.utils.log",
    "scrapy.middleware",
    "scrapy.crawler",
    "scrapy.addons",
    "scrapy.extensions.remote_control",
)


class Command(ScrapyCrawl):
    """Run a spider; a wrong argument is one sentence and exit code 2."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the arguments of a focused spider, then crawl."""
        problems = self._problems(args, opts)
        if problems:
            for problem in problems:
                print(f"scrapy crawl: {problem}", file=sys.stderr)
            self.exitcode = 2
            return
        if self.settings is not None and self.settings.get("LOG_LEVEL") != "DEBUG":
            for name in _NOISY:
                logging.getLogger(name).setLevel(logging.WARNING)
        super().run(args, opts)

    def _problems(self, args: list[str], opts: argparse.Namespace) -> list[str]:
        if len(args) != 1 or self.crawler_process is None:
            return []
        try:
            spider = self.crawler_process.spider_loader.load(args[0])
        except KeyError:
            names = ", ".join(sorted(self.crawler_process.spider_loader.list()))
            return [f"there is no spider {args[0]!r}; there are {names}"]
        if not hasattr(spider, "get_param_schema"):
            return []
        try:
            FocusedParams(**opts.spargs)
        except ValidationError as error:
            return explain(error)
        except MmcrawlError as error:
            return [str(error)]
        return []
