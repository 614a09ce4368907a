"""The program by which commands are run: `scrapy`, or `mmcrawl` where there is no project.

Both take the same commands, so sentences that name one are written for `scrapy`, and shown with the
name of the program that was called.
"""

import re
import sys
from pathlib import Path

from mmcrawl.text.writing import printable

_COMMAND = re.compile(r"\bscrapy(?= [a-z<]|\")")


def program() -> str:
    return "mmcrawl" if Path(sys.argv[0]).stem == "mmcrawl" else "scrapy"


def as_called(text: str) -> str:
    """Return a text in which the commands are those of the program that was called.

    >>> as_called("`scrapy topic list` shows all topics")
    '`scrapy topic list` shows all topics'
    """
    return _COMMAND.sub(program(), text)


def complain(command: str, problem: object) -> None:
    """Say what is wrong with what a command was given, or what it found, on one line."""
    room = "\r\x1b[K" if sys.stderr.isatty() else ""  # a line that is drawn anew may stand there
    print(f"{room}{program()} {command}: {printable(as_called(str(problem)))}", file=sys.stderr)
