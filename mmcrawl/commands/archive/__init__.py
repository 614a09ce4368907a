"""`scrapy archive`: what the block archive holds, and its upkeep."""

import argparse
from collections.abc import Callable

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from mmcrawl.archive import open_archive
from mmcrawl.commands.archive.block import BLOCK
from mmcrawl.commands.archive.check import CHECK
from mmcrawl.commands.archive.classes import CLASSES
from mmcrawl.commands.archive.copy import COPY
from mmcrawl.commands.archive.diff import DIFF
from mmcrawl.commands.archive.due import DUE, due_lines
from mmcrawl.commands.archive.duplicates import DUPLICATES
from mmcrawl.commands.archive.export_parquet import EXPORT_PARQUET
from mmcrawl.commands.archive.export_warc import EXPORT_WARC
from mmcrawl.commands.archive.import_warc import IMPORT_WARC
from mmcrawl.commands.archive.listing import LIST
from mmcrawl.commands.archive.purge import PURGE
from mmcrawl.commands.archive.rebuild import REBUILD
from mmcrawl.commands.archive.repack import REPACK, SEAL
from mmcrawl.commands.archive.search import SEARCH
from mmcrawl.commands.archive.show import SHOW
from mmcrawl.commands.archive.stats import STATS
from mmcrawl.commands.archive.subcommand import (
    OPTIONS,
    Options,
    Subcommand,
    add_all,
    check_targets,
    given_options,
)
from mmcrawl.commands.archive.verify import VERIFY
from mmcrawl.commands.archive.versions import VERSIONS, version_lines
from mmcrawl.commands.archive.watch import WATCH
from mmcrawl.commands.base import (
    PLACE,
    HelpFormatter,
    MmcrawlCommand,
    archive_params,
    console_of,
    ended_by_signal,
)
from mmcrawl.engine.crawls import blocks_kept, revisit_rules
from mmcrawl.errors import MmcrawlError, SearchError
from mmcrawl.terminal.program import program
from mmcrawl.terminal.telling import Telling, ended_at_once

__all__ = ["Command"]


_CLOSING = "compressing what was stored; Ctrl-C ends that at once, and nothing is lost"
_SHOW_PROGRESS = (EXPORT_PARQUET, DUPLICATES, CLASSES, SEARCH)
_BROKEN_OFF = "stopped; nothing is lost, and `seal` compresses what is not compressed yet"
SUBCOMMANDS = {
    each.name: each
    for each in (
        *(LIST, VERSIONS, SHOW, BLOCK, DIFF, REBUILD, SEARCH, STATS, CHECK, DUE, WATCH),
        *(
            VERIFY,
            IMPORT_WARC,
            EXPORT_WARC,
            EXPORT_PARQUET,
            COPY,
            DUPLICATES,
            CLASSES,
            SEAL,
            REPACK,
        ),
        PURGE,
    )
}


class _HelpFormatter(argparse.RawDescriptionHelpFormatter, HelpFormatter):
    """Scrapy's help, with the lines of the description as they are."""


class Command(MmcrawlCommand, ScrapyCommand):
    """Show and keep the archive."""

    name = "archive"
    usage = "WHAT [FILE.db|-a store=URI|-a archive=URI] [ARGUMENTS] [--json]"
    summary = "Versions of archived pages: list, show, compare, rebuild, search, check, exchange"
    arguments = PLACE
    has_operands = True

    def long_desc(self) -> str:
        """Return the subcommands, a line for each."""
        wide = max(map(len, SUBCOMMANDS)) + 2
        return "\n".join(
            f"{name:<{wide}}{subcommand.what}"
            + (f"\n{'':<{wide}}  {subcommand.arguments}" if subcommand.arguments else "")
            for name, subcommand in SUBCOMMANDS.items()
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = _HelpFormatter
        add_all(parser)

    def code_of(self, error: MmcrawlError) -> int:
        return 2 if isinstance(error, SearchError) else 1

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        with ended_by_signal():
            super().run(args, opts)

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], int]:
        subcommand, given = _checked(args, opts)
        uri = archive_params(opts, self.settings).archive_uri or ""  # type: ignore[arg-type]
        options = Options.read(subcommand.name, given, opts)
        check_targets(subcommand, options)
        options.uri = uri
        options.rules = revisit_rules(self.settings)  # type: ignore[arg-type]
        options.method, keep_blocks = blocks_kept(self.settings)  # type: ignore[arg-type]
        return lambda: _run(subcommand, options, self.telling, keep_blocks=keep_blocks)


def _run(subcommand: Subcommand, options: Options, telling: Telling, *, keep_blocks: bool) -> int:
    only_looks = subcommand is CHECK and not options.repair
    telling.what = "" if subcommand in _SHOW_PROGRESS else f"{subcommand.name} is at work"
    archive = open_archive(
        options.uri,
        create=subcommand.creates,
        read_only=only_looks or not subcommand.writes,
        keep_blocks=keep_blocks,
    )
    try:
        return subcommand.run(archive, options, console_of())
    finally:
        telling.what = _CLOSING
        with ended_at_once(f"{program()} archive: {_BROKEN_OFF}"):
            archive.close()


def _checked(args: list[str], opts: argparse.Namespace) -> tuple[Subcommand, list[str]]:
    """Return the subcommand and its arguments; UsageError if they do not fit."""
    unknown = [arg for arg in args if arg.startswith("-") and arg != "-"]
    if unknown:
        hint = " (a query with - stands in quotes, as 'lever -rope')" if "search" in args else ""
        raise UsageError(f"there is no option {unknown[0]}{hint}")
    if not args or args[0] not in SUBCOMMANDS:
        what = f"there is no {args[0]!r}; " if args else ""
        raise UsageError(f"{what}say one of {', '.join(SUBCOMMANDS)}")
    name, given = args[0], args[1:]
    subcommand = SUBCOMMANDS[name]
    if not subcommand.least <= len(given) <= subcommand.most or (
        name == "diff" and len(given) == 2
    ):
        raise UsageError(f"it is scrapy archive {name} [FILE.db] {subcommand.arguments}")
    for option in given_options(opts):
        if option not in subcommand.options.split():
            raise UsageError(f"scrapy archive {name} takes no {OPTIONS[option].flag}")
    if opts.at and opts.version:
        raise UsageError("give either --at or --version")
    if name == "rebuild" and not opts.output:
        raise UsageError("say where to with -o FILE, or -o - for standard output")
    if name == "purge" and not (opts.host or opts.url or opts.before):
        raise UsageError("say what to remove: --host, --url, --before")
    return subcommand, given
