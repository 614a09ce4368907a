"""What subcommands of `scrapy archive` have in common: options, what was asked, how they print."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.comparing.change_kinds import CHANGE_KINDS
from mmcrawl.archive.model import Version
from mmcrawl.commands.base import JSON, Option, Subcommand, as_json, flag, whole
from mmcrawl.commands.terminal.telling import complain
from mmcrawl.crawl.spider_params import as_time
from mmcrawl.text.writing import printable

_TIME = "as 2024-05-17 or 2024-05-17T08:30"


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


def version_of(options: Namespace, archive: Archive) -> Version:
    """Return the version that --version or --at selects."""
    if options.version is not None:
        return archive.version(options.args[0], options.version)
    return archive.get(options.args[0], options.at)


def check_version(options: Namespace) -> None:
    """Refuse two ways to say which version is meant."""
    if options.at is not None and options.version is not None:
        raise ValueError("give either --at or --version")


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(kind.strip() for kind in text.split(",") if kind.strip())
    if unknown := [kind for kind in kinds if kind not in CHANGE_KINDS]:
        raise ValueError(f"there is no {unknown[0]!r}; choose from {', '.join(CHANGE_KINDS)}")
    return kinds


# -- options that several subcommands take ----------------------------------------------------

AT = Option(
    "--at",
    type=partial(as_time, end=True),
    metavar="TIME",
    help=f"as of that time, {_TIME}; of a day, month or year its end",
)
VERSION = Option("--version", type=whole, metavar="N", help="the version of that number")
BODY = flag("--body", "write the bytes as they were received")
KINDS = Option(
    "--kinds",
    type=_kinds,
    default=(),
    help=f"only these kinds of blocks: {','.join(CHANGE_KINDS)} (layout: text outside all blocks;"
    " main-text: blocks in which the main text changed)",
)
LIMIT = Option("--limit", type=whole, metavar="N", help="maximum number of results")
HOST = Option("--host", type=str.lower, help="only this host")
URL = Option("--url", help="only this URL")
SINCE = Option("--since", type=as_time, metavar="TIME", help=f"from this time on, {_TIME}")
UNTIL = Option("--until", type=as_time, metavar="TIME", help="before this time")
BEFORE = Option(
    "--before", type=as_time, metavar="TIME", help="versions that were replaced before this time"
)
YES = flag("--yes", "do not ask")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSubcommand(Subcommand):
    """A subcommand that works on an open archive.

    Attributes:
        run: Prints what it finds, and returns the exit code. Its options have the words behind the
            name as `args`, the archive's `uri`, and as `config` what settings say of archives.
        check: Refuses options that do not fit together, and files that must not be written.
        creates: Whether the archive is made if there is none.
        shows_progress: Whether it tells by itself how far it is.
    """

    run: Callable[[Archive, Namespace, Console], int]
    options: Sequence[Option] = (JSON,)
    check: Callable[[Namespace], object] = lambda _: None
    writes: bool = False
    creates: bool = False
    shows_progress: bool = False


def agreed(question: str) -> bool:
    """Ask a person at a terminal; False if nobody is there."""
    if not sys.stdin.isatty():
        return False
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def versions_of(archive: Archive, url: str, failures: list[str]) -> list[Version]:
    """Return the versions of a URL; those that cannot be read are named in `failures`."""
    versions = archive.versions(url, failures.append)
    if not versions and not failures:
        archive.get(url)  # which says why there is none
    return versions


def of_which(shown: int, found: int) -> str:
    """Return how many of what was found are shown, if not all."""
    return f", of which {shown:,} are shown" if shown < found else ""


def print_line(console: Console, text: RenderableType) -> None:
    """Print a line as long as it is: programs cut it where they like."""
    console.print(text, soft_wrap=True, markup=False)


def cut_off(line: Text) -> Text:
    """Have a line end with … where the terminal does."""
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
