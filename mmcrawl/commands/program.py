"""`mmcrawl`: the commands without a Scrapy project."""

import os
import sys
from typing import Any, NoReturn


def main() -> None:
    """Run a command of Scrapy's with the settings of mmcrawl.

    `mmcrawl crawl` is `scrapy crawl focused`, and `mmcrawl revisit` is `scrapy crawl revisit`; all
    else is as with `scrapy`, whatever project the folder belongs to. What needs no Scrapy does not
    import it: `mmcrawl blocks --format md FILE` is done before Scrapy would have been loaded.
    """
    try:
        _run()
    except KeyboardInterrupt:  # while it is loaded, or all is done
        print("mmcrawl: stopped", file=sys.stderr)
        sys.exit(130)


def _run() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        print("mmcrawl: the folder you are in was deleted; go to another one", file=sys.stderr)
        sys.exit(2)
    if sys.argv[1:2] == ["blocks"] and any(word.startswith("--format") for word in sys.argv):
        from mmcrawl.commands.terminal.extraction import run

        code = run(sys.argv[2:])
        if code is not None:
            sys.exit(code)
    _execute(sys.argv[1:])


def _execute(words: list[str]) -> None:
    """Run a command of Scrapy's, which says `mmcrawl` wherever Scrapy would say `scrapy`."""
    from scrapy import cmdline

    from mmcrawl.text.writing import as_called

    class Parser(cmdline.ScrapyArgumentParser):
        def __init__(self, *, usage: str, **rest: Any) -> None:
            super().__init__(usage=as_called(usage), **rest)

        def format_help(self) -> str:
            return as_called(super().format_help())

        def error(self, message: str) -> NoReturn:
            super().error(as_called(message))

    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "mmcrawl.settings")
    cmdline.ScrapyArgumentParser = Parser  # type: ignore[assignment,misc]
    cmdline.print = lambda *parts: print(*map(as_called, parts))  # type: ignore[attr-defined]
    if words[:1] == ["revisit"]:
        words = ["crawl", *words]
    elif words == ["help", "crawl"]:
        words = ["help", "focused"]
    cmdline.execute([sys.argv[0], *words])
