"""Shared by the subcommands of `scrapy archive`: their arguments and their output."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from mmcrawl.commands.base import as_json
from mmcrawl.commands.terminal.telling import complain
from mmcrawl.text.writing import printable


def answer(
    options: Namespace, console: Console, record: Mapping[str, Any], shown: RenderableType
) -> int:
    """Print a record as JSON if that was asked for, else what a person reads; return 0."""
    if options.json:
        print(as_json(record))
    elif isinstance(shown, str):
        print_line(console, printable(shown))
    else:
        console.print(shown)
    return 0


def each_answer(
    options: Namespace,
    console: Console,
    found: Iterable[Any],
    record: Callable[[Any], Mapping[str, Any]],
    lines: Callable[[Any], Iterable[Text]],
    *,
    head: str = "",
) -> int:
    """Print all that is found, as JSON or in lines under a head; return how many that is."""
    count = 0
    for one in found:
        count += 1
        if options.json:
            print(as_json(record(one)))
            continue
        if head and count == 1:
            print_line(console, Text(head, "bold"))
        for line in lines(one):
            print_line(console, line)
    return count


def agreed(question: str) -> bool:
    """Ask a person at a terminal; False if nobody is there."""
    if not sys.stdin.isatty():
        return False
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def of_which(shown: int, found: int) -> str:
    """Return how many results are shown, if not all."""
    return f", of which {shown:,} are shown" if shown < found else ""


def print_line(console: Console, text: RenderableType) -> None:
    """Print a line as long as it is: programs cut it where they like."""
    console.print(text, soft_wrap=True, markup=False)


def cut_off(line: Text) -> Text:
    """Cut a line with … at the width of the terminal."""
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def write_body(body: bytes, target: str) -> None:
    """Write to a file, or to standard output (``-``)."""
    if target == "-":
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
    else:
        Path(os.path.expanduser(target)).write_bytes(body)


def print_problems(problems: Iterable[object]) -> int:
    """Name problems on standard error; return the exit code: 1 if there are any."""
    code = 0
    for problem in problems:
        complain("archive", problem)
        code = 1
    return code
