"""`mmcrawl`: the commands without a Scrapy project."""

import os
import sys


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
        from mmcrawl.terminal.extraction import run

        code = run(sys.argv[2:])
        if code is not None:
            sys.exit(code)
    from mmcrawl.commands.scrapy_program import execute

    execute(sys.argv[1:])
