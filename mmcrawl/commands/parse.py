"""`scrapy parse`: what a spider finds on one page, without starting a crawl."""

import argparse
import time
from collections.abc import Iterable
from typing import Any

from scrapy import Request
from scrapy.commands.parse import Command as ScrapyParse

from mmcrawl.commands.crawl import arguments_or_exit, leave_crawl_out
from mmcrawl.commands.terminal.telling import complain
from mmcrawl.crawl.intake import media_page
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.engine.items import MediaPageItem, PageItem
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.settings import value_of


class Command(ScrapyParse):
    """Parse a URL with its spider and print the results: a page as in feeds, links as requests."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the spider's arguments; end the process if one is wrong."""
        super().process_options(args, opts)
        if opts.spider and self.settings is not None:
            leave_crawl_out("parse", opts.spider, args, self.settings)
            arguments_or_exit("parse", opts.spider, opts.spargs, self.settings)

    def _get_items_and_requests(
        self, spider_output: Iterable[Any], opts: argparse.Namespace, depth: int, *rest: Any
    ) -> tuple[Any, ...]:
        args = getattr(rest[0], "args", None)
        if not isinstance(args, FocusedParams):
            return super()._get_items_and_requests(spider_output, opts, depth, *rest)
        if depth == 1 and args.is_demo and not args.keywords:
            complain("parse", f"the topic is {args.topic}; -a topic=NAME takes another")
        test = TopicTest(
            args.own_topic or args.whole_topic,
            args.kinds,
            value_of(rest[0].settings, "MMCRAWL_TOPIC_THRESHOLD"),
        )
        shown: list[Any] = []
        for output in spider_output:
            shown += _shown(output, test) if isinstance(output, PageItem) else [output]
        return super()._get_items_and_requests(shown, opts, depth, *rest)


def _shown(item: PageItem, test: TopicTest) -> list[Any]:
    """Return the row of a page, and requests for its links that may be followed."""
    verdict = test.judge(item.page, item.page.media)
    record = media_page(item.page, verdict, item.http_status, time.time())
    links = [link for link in item.page.links if not link.nofollow]
    return [MediaPageItem.from_record(record), *(Request(link.url) for link in links)]
