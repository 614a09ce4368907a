"""What a subcommand of `scrapy archive` is, what it may be told, and how subcommands print."""

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.atom import is_own_feed
from mmcrawl.archive.comparing.change_kinds import CHANGE_KINDS
from mmcrawl.archive.model import Version
from mmcrawl.archive.revisits import RevisitRules
from mmcrawl.archive.search.finding import ORDERS
from mmcrawl.blocks.drawing import printable
from mmcrawl.blocks.selecting import ElementSelector
from mmcrawl.commands.base import whole
from mmcrawl.crawling.archive_params import as_time
from mmcrawl.errors import SearchError
from mmcrawl.terminal.program import complain
from mmcrawl.terminal.targets import add_target, new_file

BY_RANK = "rank"
"""Order by the ranks that are kept beside the archive."""

_TIME = "as 2024-05-17 or 2024-05-17T08:30"


@dataclass
class Options:
    """What the user asked for, checked.

    Attributes:
        args: What follows the subcommand.
        numbers: Of the two versions that are compared, none for the last two.
        at, since, until, before: Unix seconds.
        skip: Hits that are left out at the beginning.
        near: In (0, 1].
        rules: Bounds of the time between two visits.
        method: How pages that are stored are cut; None as before.
        uri: Of the archive.
        others: As the options of their names.
    """

    args: list[str]
    numbers: tuple[int, ...] = ()
    at: float | None = None
    version: int | None = None
    body: bool = False
    blocks: bool = False
    text: bool = False
    kinds: tuple[str, ...] = ()
    all: bool = False
    output: str = ""
    overwrite: bool = False
    limit: int | None = None
    repair: bool = False
    host: str | None = None
    url: str | None = None
    since: float | None = None
    until: float | None = None
    before: float | None = None
    yes: bool = False
    level: int | None = None
    order: str = "relevance"
    skip: int = 0
    collapse: bool = False
    near: float = 0.8
    json: bool = False
    css: ElementSelector | None = None
    atom: str = ""
    browser: str = "http://127.0.0.1:8000/"
    rules: RevisitRules = field(default_factory=RevisitRules)
    method: str | None = None
    uri: str = ""

    @classmethod
    def read(cls, name: str, args: list[str], opts: Namespace) -> "Options":
        """Take over what was given to a subcommand.

        Raises:
            ValueError: a value is not understood.
        """
        values: dict[str, Any] = {
            option: OPTIONS[option].read(text, OPTIONS[option].flag)
            for option, text in given_options(opts).items()
        }
        if values.get("since", 0) >= values.get("until", float("inf")):
            raise ValueError(f"--since {opts.since} is not before --until {opts.until}")
        if name == "diff":
            values["numbers"] = tuple(whole(text, "version") for text in args[1:])
        return cls(args, **values)

    def found(self, archive: Archive) -> Version:
        """Return the version of the URL that is meant."""
        if self.version is not None:
            return archive.version(self.args[0], self.version)
        return archive.get(self.args[0], self.at)


def _as_given(value: Any, flag: str) -> Any:
    return value


def _host(text: str, flag: str) -> str | None:
    return text.lower() or None


def _order(text: str, flag: str) -> str:
    return text or "relevance"


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
    unknown = [kind for kind in kinds if kind not in CHANGE_KINDS]
    if unknown:
        known = ", ".join(CHANGE_KINDS)
        raise ValueError(f"{flag} {unknown[0]}: there is none; there are {known}")
    return kinds


def _css(text: str, flag: str) -> ElementSelector:
    try:
        return ElementSelector(text)
    except SearchError as error:
        raise ValueError(f"{flag}: {error}") from None


def _address(text: str, flag: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise ValueError(f"{flag} {text}: give an address as http://127.0.0.1:8000/")
    return text.rstrip("/") + "/"


def _level(text: str, flag: str) -> int:
    return whole(text, flag, 1, 19)


def _share(text: str, flag: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise ValueError(f"{flag} {text}: give a number above 0 and at most 1, as 0.8")
    return value


@dataclass(frozen=True, slots=True)
class Option:
    """An option of one or several subcommands.

    Attributes:
        flag: As it is typed.
        help: What it does.
        metavar: What stands behind it; "" for its name, None where nothing does.
        read: Returns its value, given the text and the flag; ValueError for what is none.
        is_target: Whether it names a file to write.
    """

    flag: str
    help: str
    metavar: str | None = None
    read: Callable[[Any, str], Any] = _as_given
    is_target: bool = False


OPTIONS = {
    "at": Option(
        "--at",
        f"the version of that time, {_TIME}; of a day, month or year the last one",
        "TIME",
        _moment,
    ),
    "version": Option("--version", "the version of that number", "N", whole),
    "body": Option("--body", "show, block: write the bytes as they were received"),
    "blocks": Option("--blocks", "show: the layout too, and what each block says and is"),
    "text": Option("--text", "block: all its visible text"),
    "kinds": Option(
        "--kinds",
        f"diff, watch: only these kinds of blocks: {','.join(CHANGE_KINDS)} (the last two:"
        " what stands outside of them, and where the main text changed those it is in)",
        "",
        _kinds,
    ),
    "all": Option("--all", "diff: unchanged blocks and advertisements too"),
    "output": Option("-o", "rebuild: where to, - for standard output", "FILE", is_target=True),
    "overwrite": Option(
        "--overwrite", "rebuild, watch, export-warc: write a file that is there already anew"
    ),
    "limit": Option("--limit", "search, due, watch, duplicates: most results", "N", whole),
    "order": Option("--order", f"search: {', '.join((*ORDERS, BY_RANK))}", "", _order),
    "collapse": Option("--collapse", "search: one page of those that are alike"),
    "near": Option(
        "--near", "duplicates: of the text, from which on (default: 0.8)", "SHARE", _share
    ),
    "skip": Option("--skip", "search: leave out so many results, to see the next ones", "N", whole),
    "repair": Option("--repair", "check: repair what can be"),
    "host": Option("--host", "only this host", "", _host),
    "url": Option("--url", "only this URL", ""),
    "since": Option("--since", f"from this time on, {_TIME}", "TIME", _time),
    "until": Option("--until", "before this time", "TIME", _time),
    "before": Option(
        "--before", "purge: versions that were replaced before this time", "TIME", _time
    ),
    "yes": Option("--yes", "purge, seal, repack: do not ask"),
    "level": Option("--level", "repack: of zstd, 1 to 19 (default: 19)", "N", _level),
    "css": Option(
        "--css", "watch: only blocks that elements of this CSS selector overlap", "SELECTOR", _css
    ),
    "atom": Option(
        "--atom", "watch: write an Atom feed, - for standard output", "FILE", is_target=True
    ),
    "browser": Option(
        "--browser",
        "watch: where `scrapy browse` answers, which the feed leads to (default:"
        " http://127.0.0.1:8000/)",
        "ADDRESS",
        _address,
    ),
    "json": Option("--json", "for programs: a line of JSON for each result"),
}


def add_all(parser: ArgumentParser) -> None:
    """Add the options of all subcommands."""
    for name, option in OPTIONS.items():
        if option.metavar is None:
            parser.add_argument(option.flag, dest=name, action="store_true", help=option.help)
        else:
            metavar = option.metavar or None
            add = add_target if option.is_target else ArgumentParser.add_argument
            add(parser, option.flag, dest=name, metavar=metavar, help=option.help)


def given_options(opts: Namespace) -> dict[str, Any]:
    """Return the options that were given, with what was given."""
    given = {name: getattr(opts, name) for name in OPTIONS}
    return {name: value for name, value in given.items() if value not in (None, False)}


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
        makes: What an argument names is made: the files, given it.
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
    makes: Callable[[str], Iterable[Path]] = lambda _: ()


def check_targets(subcommand: Subcommand, options: Options) -> None:
    """Refuse files to write that are there already.

    Raises:
        MmcrawlError: there is one, and nothing says `--overwrite`.
    """
    overwrite = options.overwrite
    new_file(options.output, OPTIONS["output"].flag, overwrite=overwrite)
    new_file(options.atom, OPTIONS["atom"].flag, overwrite=overwrite, is_ours=is_own_feed)
    for path in subcommand.makes(options.args[0]) if options.args else ():
        new_file(str(path), subcommand.name, overwrite=overwrite)


def agreed(question: str) -> bool:
    """Ask a person at a terminal; False if nobody is there."""
    if not sys.stdin.isatty():
        return False
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def as_json(record: Any) -> str:
    """Return a record as one line."""
    return json.dumps(record, ensure_ascii=False)


def print_line(console: Console, text: RenderableType) -> None:
    """Print a line as long as it is: programs cut it where they like."""
    console.print(text, soft_wrap=True, markup=False)


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
