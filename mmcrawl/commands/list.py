"""`scrapy list`: Scrapy's own, with the spiders that addons bring."""

import argparse

from scrapy.addons import AddonManager
from scrapy.commands.list import Command as ScrapyList


class Command(ScrapyList):
    """List the spiders; Scrapy 2.19 asks addons only where a crawl begins."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is not None:
            AddonManager.load_pre_crawler_settings(self.settings)
