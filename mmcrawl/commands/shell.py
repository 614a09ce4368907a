"""`scrapy shell`: Scrapy's own, also with `--spider focused`."""

import argparse

from scrapy.commands.shell import Command as ScrapyShell

from mmcrawl.commands.crawl import leave_crawl_out


class Command(ScrapyShell):
    """Try things out on a page; no crawl begins."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is not None:
            leave_crawl_out("shell", opts.spider, args, self.settings)
