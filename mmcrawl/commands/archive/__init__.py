"""`scrapy archive`: what the block archive holds, and its upkeep.

The subcommands are declared here; what they do is in the other modules, each loaded when it is
used, so that `scrapy archive --help` does not load the archive.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from mmcrawl.commands.base import (
    JSON,
    OVERWRITE,
    PLACE,
    MmcrawlCommand,
    Option,
    Subcommand,
    archive_params,
    console_of,
    flag,
    whole,
)
from mmcrawl.commands.terminal.tables import KIND_STYLES
from mmcrawl.crawl.spider_params import as_time
from mmcrawl.errors import MmcrawlError, SearchError

if TYPE_CHECKING:
    from mmcrawl.commands.terminal.telling import Telling

_CLOSING = "compressing what was stored; Ctrl-C stops at once, and nothing is lost"
_TIME = "as 2024-05-17 or 2024-05-17T08:30"
_ORDERS = ("relevance", "newest", "oldest", "rank")
_KINDS = (*KIND_STYLES, "layout", "main-text")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSubcommand(Subcommand):
    """A subcommand that works on an open archive.

    Attributes:
        run: The function, as MODULE.NAME, that prints what it finds and returns the exit code; it
            is given the archive, the options and the terminal. The options have the words behind
            the name as `args`, the archive's `uri`, as `config` what settings say of archives, and
            `progress` to tell how far it is.
        check: The function, if any, that refuses options that do not fit together, and files that
            must not be written.
    """

    run: str
    options: Sequence[Option] = (JSON,)
    check: str = ""
    writes: bool = False
    creates: bool = False  # whether the archive is made if there is none


def function_of(named: str) -> Callable[..., int]:
    """Return a function of this package that is named as MODULE.NAME."""
    module, _, name = named.partition(".")
    function: Callable[..., int] = getattr(import_module(f"{__name__}.{module}"), name)
    return function


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(kind.strip() for kind in text.split(",") if kind.strip())
    if unknown := [kind for kind in kinds if kind not in _KINDS]:
        raise ValueError(f"there is no {unknown[0]!r}; choose from {', '.join(_KINDS)}")
    return kinds


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise ValueError(f"give a number above 0 and at most 1, as 0.8, not {text!r}")
    return value


_AT = Option(
    "--at",
    type=partial(as_time, end=True),
    metavar="TIME",
    help=f"as of that time, {_TIME}; of a day, month or year its end",
)
_VERSION = Option("--version", type=whole, metavar="N", help="the version of that number")
_BLOCKS = flag("--blocks", "the layout too, and what each block says and is")
_LIMIT = Option("--limit", type=whole, metavar="N", help="maximum number of results")
_HOST = Option("--host", type=str.lower, help="only this host")
_URL = Option("--url", help="only this URL")
_YES = flag("--yes", "do not ask")
_LEVEL = Option(
    "--level",
    type=partial(whole, most=19),
    default=19,
    metavar="N",
    help="zstd level, 1 to 19 (default: 19)",
)
_DIFF = (
    Option(
        "--kinds",
        type=_kinds,
        default=(),
        help=f"only these kinds of blocks: {','.join(_KINDS)} (layout: text outside all blocks;"
        " main-text: blocks in which the main text changed)",
    ),
    flag("--all", "unchanged blocks and advertisements too"),
    JSON,
)
_SEARCH = (
    _LIMIT,
    Option("--order", choices=_ORDERS, default="relevance", help="of results"),
    flag("--collapse", "show one page of each group of similar pages"),
    JSON,
)
_NEAR = Option(
    "--near",
    type=_share,
    default=0.8,
    metavar="SHARE",
    help="minimum share of equal text (default: 0.8)",
)
_PERIOD = (
    Option("--since", type=as_time, metavar="TIME", help=f"from this time on, {_TIME}"),
    Option("--until", type=as_time, metavar="TIME", help="before this time"),
)
_BEFORE = Option(
    "--before", type=as_time, metavar="TIME", help="versions that were replaced before this time"
)


class Command(MmcrawlCommand, ScrapyCommand):
    """Show and keep the archive."""

    name = "archive"
    arguments = PLACE
    unknown_hint = " (a query with - stands in quotes, as 'lever -rope')"
    chosen: ArchiveSubcommand
    subcommands: ClassVar[Sequence[ArchiveSubcommand]] = (
        ArchiveSubcommand(
            "list", "pages with their versions and visits", "[HOST|PREFIX]", run="listing.pages"
        ),
        ArchiveSubcommand(
            "versions",
            "versions of a page, and what was new with each",
            "URL",
            run="listing.versions",
        ),
        ArchiveSubcommand(
            "show",
            "facts and blocks of a version",
            "URL",
            options=(_AT, _VERSION, _BLOCKS, JSON),
            check="show.check_version",
            run="show.version",
        ),
        ArchiveSubcommand(
            "block",
            "the life of a block: on which pages, from when to when",
            "DIGEST",
            options=(flag("--text", "all its visible text"), JSON),
            run="show.block",
        ),
        ArchiveSubcommand(
            "diff",
            "what changed from one version to another",
            "URL [V1 V2]",
            options=_DIFF,
            check="listing.numbers",
            run="listing.diff",
        ),
        ArchiveSubcommand(
            "rebuild",
            "write a version, byte for byte",
            "URL",
            options=(
                *(_AT, _VERSION, OVERWRITE),
                Option("-o", "--output", target=True, help="where to, - for standard output"),
            ),
            check="show.check_rebuild",
            run="show.rebuild",
        ),
        ArchiveSubcommand(
            "search",
            "blocks that contain some words, in all versions",
            "QUERY…",
            options=_SEARCH,
            run="search.search",
        ),
        ArchiveSubcommand(
            "stats", "how much is archived, and in how many bytes", run="listing.stats"
        ),
        ArchiveSubcommand(
            "check",
            "check everything; exit code 1 if damaged",
            options=(flag("--repair", "repair what can be"), JSON),
            writes=True,
            run="upkeep.check",
        ),
        ArchiveSubcommand(
            "due",
            "pages that `scrapy crawl revisit` would visit",
            options=(_AT, _LIMIT, JSON),
            run="show.due",
        ),
        ArchiveSubcommand(
            "import-warc",
            "import WARC files",
            "FILE…",
            check="upkeep.check_import",
            writes=True,
            creates=True,
            run="upkeep.import_warc",
        ),
        ArchiveSubcommand(
            "export-warc",
            "write a WARC file with its CDXJ, or a WACZ by its name",
            "FILE",
            options=(_HOST, _URL, *_PERIOD, OVERWRITE, JSON),
            check="upkeep.check_export",
            run="upkeep.export_warc",
        ),
        ArchiveSubcommand(
            "export-parquet",
            "write pages, blocks and links as Parquet files",
            "FOLDER",
            options=(_AT, JSON),
            run="search.export_parquet",
        ),
        ArchiveSubcommand(
            "copy",
            "copy everything to another archive; can be interrupted and resumed",
            "FILE.db|mongodb://HOST/DATABASE",
            run="upkeep.copy",
        ),
        ArchiveSubcommand(
            "duplicates",
            "pages with the same or nearly the same text, kept for search --collapse",
            options=(_NEAR, _AT, _LIMIT, JSON),
            run="search.duplicates",
        ),
        ArchiveSubcommand(
            "classes",
            "the purpose of each page: topic, hub, media, other",
            options=(_AT, JSON),
            run="search.classes",
        ),
        ArchiveSubcommand(
            "seal",
            "compress as far as possible, cut what is not yet cut, and free space",
            options=(_LEVEL, JSON),
            writes=True,
            run="upkeep.seal",
        ),
        ArchiveSubcommand(
            "purge",
            "remove versions for good",
            options=(_HOST, _URL, _BEFORE, _YES, JSON),
            check="upkeep.check_purge",
            writes=True,
            run="upkeep.purge",
        ),
    )

    def code_of(self, error: MmcrawlError) -> int:
        return 2 if isinstance(error, SearchError) else 1

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], int]:
        from mmcrawl.engine.crawls import Configuration

        subcommand = self.chosen
        opts.args, opts.config = words, Configuration.read(self.settings)  # type: ignore[arg-type]
        opts.uri = archive_params(opts, self.settings).archive_uri or ""  # type: ignore[arg-type]
        if subcommand.check:
            function_of(subcommand.check)(opts)
        return lambda: _run(subcommand, opts, self.telling)


def _run(subcommand: ArchiveSubcommand, options: argparse.Namespace, telling: Telling) -> int:
    from mmcrawl.archive.opening import open_archive

    only_looks = subcommand.name == "check" and not options.repair
    telling.what, options.progress = f"{subcommand.name} is running", telling.progress
    with open_archive(
        options.uri,
        create=subcommand.creates,
        read_only=only_looks or not subcommand.writes,
        keep_blocks=options.config.cuts_blocks,
    ) as archive:
        try:
            return function_of(subcommand.run)(archive, options, console_of())
        finally:
            telling.what = _CLOSING
