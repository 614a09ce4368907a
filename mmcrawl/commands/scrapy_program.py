"""`mmcrawl` for all that needs Scrapy: its commands, with the settings of mmcrawl."""

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from scrapy import cmdline

from mmcrawl.terminal.program import as_called


def execute(words: Sequence[str]) -> None:
    """Run a command of Scrapy's; `words` are what was typed behind the program's name."""
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "mmcrawl.settings")
    # Scrapy writes `scrapy` into what it says of any command, its own ones too.
    cmdline.ScrapyArgumentParser = _Parser  # type: ignore[assignment,misc]
    cmdline.print = lambda *parts: print(*map(as_called, parts))  # type: ignore[attr-defined]
    cmdline.execute([sys.argv[0], *_with_spider(list(words))])


class _Parser(cmdline.ScrapyArgumentParser):
    """Says `mmcrawl` where Scrapy says `scrapy`."""

    def __init__(self, *, usage: str, **rest: Any) -> None:
        super().__init__(usage=as_called(usage), **rest)

    def format_help(self) -> str:
        return as_called(super().format_help())

    def error(self, message: str) -> NoReturn:
        super().error(as_called(message))


def _with_spider(arguments: list[str]) -> list[str]:
    match arguments:
        case ["revisit", *rest]:
            return ["crawl", "revisit", *rest]
        case ["help", "crawl"]:
            return ["help", "focused"]
        case _:
            return arguments
