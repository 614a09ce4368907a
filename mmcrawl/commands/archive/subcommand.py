"""What a subcommand of `scrapy archive` is, and how subcommands print."""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, RenderableType

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.options import Options
from mmcrawl.terminal.program import complain


@dataclass(frozen=True, slots=True, kw_only=True)
class Subcommand:
    """One subcommand.

    Attributes:
        name: As it is typed.
        run: Prints what it finds on an open archive, and returns the exit code.
        what: It does, for the help.
        arguments: How it is given, for the help.
        least, most: How many arguments it takes.
        options: Those it takes, parted by spaces.
        writes: Whether the archive changes.
        creates: Whether the archive is made if there is none.
    """

    name: str
    run: Callable[[Archive, Options, Console], int]
    what: str
    arguments: str = ""
    least: int = 0
    most: int = 0
    options: str = ""
    writes: bool = False
    creates: bool = False


def print_line(console: Console, text: RenderableType) -> None:
    """Print a line as long as it is: programs cut it where they like."""
    console.print(text, soft_wrap=True)


def write_body(body: bytes, target: str) -> None:
    """Write to a file, or to standard output (``-``)."""
    if target == "-":
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
    else:
        Path(os.path.expanduser(target)).write_bytes(body)


def print_problems(problems: Iterable[str]) -> int:
    """Name problems on standard error; return the exit code: 1 if there are any."""
    code = 0
    for problem in problems:
        complain("archive", problem)
        code = 1
    return code
