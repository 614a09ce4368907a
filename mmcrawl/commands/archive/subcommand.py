"""What subcommands of `scrapy archive` have in common: options, what was asked, how they print."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text
from scrapy.exceptions import UsageError

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.comparing.change_kinds import CHANGE_KINDS
from mmcrawl.archive.model import Version
from mmcrawl.commands.base import JSON, Option, Subcommand, T_co, one_of, whole
from mmcrawl.commands.terminal.telling import complain
from mmcrawl.crawl.spider_params import as_time
from mmcrawl.engine.crawls import Configuration
from mmcrawl.text.writing import printable

_TIME = "as 2024-05-17 or 2024-05-17T08:30"


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked of a subcommand, checked: `options[LIMIT]` is the value of its `--limit`.

    Attributes:
        values: Of the options that the subcommand takes, and of no others.
        config: What settings say of archives.
    """

    args: Sequence[str]
    values: Mapping[Option[Any], Any]
    uri: str
    config: Configuration

    def __getitem__(self, option: Option[T_co]) -> T_co:
        value: T_co = self.values[option]
        return value

    def answer(self, console: Console, record: Mapping[str, Any], shown: RenderableType) -> int:
        """Print a record as JSON if that was asked for, else what a person reads; return 0."""
        if self[JSON]:
            print(as_json(record))
        elif isinstance(shown, str):
            print_line(console, printable(shown))
        else:
            console.print(shown)
        return 0

    def found(self, archive: Archive) -> Version:
        """Return the version that --version or --at selects."""
        number = self[VERSION]
        if number is not None:
            return archive.version(self.args[0], number)
        return archive.get(self.args[0], self[AT])


def check_version(options: Options) -> None:
    """Refuse two ways to say which version is meant."""
    if options[AT] is not None and options[VERSION] is not None:
        raise UsageError("give either --at or --version")


def _host(text: str, flag: str) -> str | None:
    return text.lower() or None


def _time(text: str, flag: str) -> float:
    try:
        return as_time(text)
    except ValueError as error:
        raise ValueError(f"{flag}: {error}") from None


def _moment(text: str, flag: str) -> float:
    try:
        return as_time(text, end=True)
    except ValueError as error:
        raise ValueError(f"{flag}: {error}") from None


def _kinds(text: str, flag: str) -> tuple[str, ...]:
    kinds = tuple(kind.strip() for kind in text.split(",") if kind.strip())
    return tuple(one_of(kind, flag, CHANGE_KINDS) for kind in kinds)


# -- options that several subcommands take ----------------------------------------------------

AT: Option[float | None] = Option(
    "--at", f"as of that time, {_TIME}; of a day, month or year its end", None, "TIME", _moment
)
VERSION: Option[int | None] = Option("--version", "the version of that number", None, "N", whole)
BODY = Option("--body", "write the bytes as they were received", False)
KINDS: Option[tuple[str, ...]] = Option(
    "--kinds",
    f"only these kinds of blocks: {','.join(CHANGE_KINDS)} (layout: text outside all blocks;"
    " main-text: blocks in which the main text changed)",
    (),
    "",
    _kinds,
)
LIMIT: Option[int | None] = Option("--limit", "maximum number of results", None, "N", whole)
HOST: Option[str | None] = Option("--host", "only this host", None, "", _host)
URL: Option[str | None] = Option("--url", "only this URL", None, "")
SINCE: Option[float | None] = Option("--since", f"from this time on, {_TIME}", None, "TIME", _time)
UNTIL: Option[float | None] = Option("--until", "before this time", None, "TIME", _time)
BEFORE: Option[float | None] = Option(
    "--before", "versions that were replaced before this time", None, "TIME", _time
)
YES = Option("--yes", "do not ask", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSubcommand(Subcommand):
    """A subcommand that works on an open archive.

    Attributes:
        run: Prints what it finds, and returns the exit code.
        check: Refuses options that do not fit together, and files that must not be written.
        creates: Whether the archive is made if there is none.
        shows_progress: Whether it tells by itself how far it is.
    """

    run: Callable[[Archive, Options, Console], int]
    options: Sequence[Option[Any]] = (JSON,)
    check: Callable[[Options], object] = lambda _: None
    writes: bool = False
    creates: bool = False
    shows_progress: bool = False

    @property
    def shown_arguments(self) -> str:
        """What follows the name in the help: the archive first."""
        return f"[FILE.db] {self.arguments}".rstrip()


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


def as_json(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False)


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
