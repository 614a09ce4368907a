"""`mmcrawl`: the commands without a Scrapy project."""

import os
import sys

from scrapy.cmdline import execute

_SPIDERS = ("focused", "revisit")


def main() -> None:
    """Run a command of Scrapy's with the settings of mmcrawl.

    `mmcrawl crawl` is `scrapy crawl focused`, and `mmcrawl revisit` is `scrapy crawl revisit`; all
    else is as with `scrapy`, whatever project the folder belongs to.
    """
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "mmcrawl.settings")
    execute([sys.argv[0], *_with_spider(sys.argv[1:])])


def _with_spider(arguments: list[str]) -> list[str]:
    match arguments:
        case ["revisit", *rest]:
            return ["crawl", "revisit", *rest]
        case ["crawl", *rest] if rest[:1] not in [[name] for name in _SPIDERS]:
            return ["crawl", "focused", *rest]
        case _:
            return arguments
