"""`scrapy fetch`: Scrapy's own, also with `--spider focused`."""

import argparse

from scrapy.commands.fetch import Command as ScrapyFetch

from mmcrawl.commands.crawl import leave_crawl_out


class Command(ScrapyFetch):
    """Fetch a URL as a spider of this project would; no crawl begins."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is not None:
            leave_crawl_out("fetch", opts.spider, args, self.settings)
