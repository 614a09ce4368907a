"""`scrapy help`: what the commands are, and what one of them, or a spider, can be told."""

import argparse
import sys

from scrapy.addons import AddonManager
from scrapy.cmdline import execute
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from mmcrawl.commands import SUMMARIES
from mmcrawl.commands.terminal.arguments import algorithm_help
from mmcrawl.errors import did_you_mean
from mmcrawl.scoring.registry import algorithm_names
from mmcrawl.text.writing import as_called


class Command(ScrapyCommand):
    """Show the help of a command, or the arguments of a spider."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "[command or spider|algorithms [NAME…]]"

    def short_desc(self) -> str:
        return SUMMARIES["help"]

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Show what `scrapy`, `scrapy COMMAND --help` or `scrapy crawl SPIDER --help` shows."""
        if args[:1] == ["algorithms"]:
            names = algorithm_names()
            if unknown := next((name for name in args[1:] if name not in names), ""):
                raise UsageError(f"there is no algorithm {unknown!r}{did_you_mean(unknown, names)}")
            print(as_called(algorithm_help(args[1:] or names)), end="")
            return
        if len(args) > 2:
            raise UsageError("name one command, with its subcommand, or one spider")
        settings = self.settings.copy()  # type: ignore[union-attr]
        AddonManager.load_pre_crawler_settings(settings)
        spiders = get_spider_loader(settings).list()
        asked = ["crawl", *args, "--help"] if args and args[0] in spiders else [*args, "--help"]
        execute([sys.argv[0], *(asked if args else [])])
