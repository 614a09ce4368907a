"""`scrapy archive`: what the block archive holds, and its upkeep."""

import argparse
from collections.abc import Callable, Sequence
from typing import ClassVar

from scrapy.commands import ScrapyCommand

from mmcrawl.archive import open_archive
from mmcrawl.commands.archive.due import DUE, due_lines
from mmcrawl.commands.archive.listing import DIFF, LIST, STATS, VERSIONS, version_lines
from mmcrawl.commands.archive.search import CLASSES, DUPLICATES, EXPORT_PARQUET, SEARCH
from mmcrawl.commands.archive.show import BLOCK, REBUILD, SHOW
from mmcrawl.commands.archive.subcommand import ArchiveSubcommand
from mmcrawl.commands.archive.upkeep import (
    CHECK,
    COPY,
    EXPORT_WARC,
    IMPORT_WARC,
    PURGE,
    REPACK,
    REPAIR,
    SEAL,
)
from mmcrawl.commands.base import PLACE, MmcrawlCommand, archive_params, console_of
from mmcrawl.commands.terminal.telling import Telling
from mmcrawl.engine.crawls import Configuration
from mmcrawl.errors import MmcrawlError, SearchError

__all__ = ["Command"]


_CLOSING = "compressing what was stored; Ctrl-C stops at once, and nothing is lost"
SUBCOMMANDS = {
    each.name: each
    for each in (
        *(LIST, VERSIONS, SHOW, BLOCK, DIFF, REBUILD, SEARCH, STATS, CHECK, DUE),
        *(IMPORT_WARC, EXPORT_WARC, EXPORT_PARQUET, COPY, DUPLICATES, CLASSES, SEAL, REPACK, PURGE),
    )
}


class Command(MmcrawlCommand, ScrapyCommand):
    """Show and keep the archive."""

    name = "archive"
    arguments = PLACE
    unknown_hint = " (a query with - stands in quotes, as 'lever -rope')"
    subcommands: ClassVar[Sequence[ArchiveSubcommand]] = tuple(SUBCOMMANDS.values())

    def code_of(self, error: MmcrawlError) -> int:
        return 2 if isinstance(error, SearchError) else 1

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], int]:
        subcommand = SUBCOMMANDS[self.chosen.name]
        opts.args, opts.config = words, Configuration.read(self.settings)  # type: ignore[arg-type]
        opts.uri = archive_params(opts, self.settings).archive_uri or ""  # type: ignore[arg-type]
        subcommand.check(opts)
        return lambda: _run(subcommand, opts, self.telling)


def _run(subcommand: ArchiveSubcommand, options: argparse.Namespace, telling: Telling) -> int:
    only_looks = subcommand is CHECK and not options.repair
    telling.what = "" if subcommand.shows_progress else f"{subcommand.name} is running"
    with open_archive(
        options.uri,
        create=subcommand.creates,
        read_only=only_looks or not subcommand.writes,
        keep_blocks=options.config.cuts_blocks,
    ) as archive:
        try:
            return subcommand.run(archive, options, console_of())
        finally:
            telling.what = _CLOSING
