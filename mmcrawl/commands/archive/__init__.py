"""`scrapy archive`: what the block archive holds, and its upkeep."""

import argparse
import os
import sys
from typing import Any, ClassVar

from rich.console import Console
from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError

from mmcrawl.archive import open_archive
from mmcrawl.archive.search import ORDERS
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.commands.archive.check import CHECK
from mmcrawl.commands.archive.classes import CLASSES
from mmcrawl.commands.archive.diff import DIFF
from mmcrawl.commands.archive.due import DUE
from mmcrawl.commands.archive.duplicates import DUPLICATES
from mmcrawl.commands.archive.export_parquet import EXPORT_PARQUET
from mmcrawl.commands.archive.export_warc import EXPORT_WARC
from mmcrawl.commands.archive.import_warc import IMPORT_WARC
from mmcrawl.commands.archive.listing import LIST
from mmcrawl.commands.archive.options import Options
from mmcrawl.commands.archive.pack import PACK
from mmcrawl.commands.archive.purge import PURGE
from mmcrawl.commands.archive.rebuild import REBUILD
from mmcrawl.commands.archive.search import BY_RANK, SEARCH
from mmcrawl.commands.archive.show import SHOW
from mmcrawl.commands.archive.stats import STATS
from mmcrawl.commands.archive.subcommand import Subcommand
from mmcrawl.commands.archive.versions import VERSIONS
from mmcrawl.commands.arguments import PLACE, add_arguments, archive_params, read_arguments
from mmcrawl.commands.ending import ended_by_signal
from mmcrawl.engine.crawls import revisit_rules
from mmcrawl.errors import MmcrawlError, SearchError
from mmcrawl.terminal.program import complain

__all__ = ["Command"]


SUBCOMMANDS = {
    each.name: each
    for each in (
        LIST,
        VERSIONS,
        SHOW,
        DIFF,
        REBUILD,
        SEARCH,
        STATS,
        CHECK,
        DUE,
        IMPORT_WARC,
        EXPORT_WARC,
        EXPORT_PARQUET,
        DUPLICATES,
        CLASSES,
        PACK,
        PURGE,
    )
}
_OPTIONS = {
    "at": "--at", "version": "--version", "body": "--body", "kinds": "--kinds", "all": "--all",
    "output": "-o", "repair": "--repair", "host": "--host", "url": "--url", "since": "--since",
    "until": "--until", "before": "--before", "yes": "--yes", "limit": "--limit",
    "order": "--order", "skip": "--skip", "json": "--json", "collapse": "--collapse",
    "near": "--near", "bodies": "--bodies",
}  # fmt: skip


class _HelpFormatter(argparse.RawDescriptionHelpFormatter, ScrapyHelpFormatter):
    """Scrapy's help, with the lines of the description as they are."""


class Command(ScrapyCommand):
    """Show and keep the archive."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return how the command is used."""
        return "WHAT [FILE.db|-a store=URI|-a archive=URI] [ARGUMENTS] [--json]"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Versions of archived pages: list, show, compare, rebuild, search, check, exchange"

    def long_desc(self) -> str:
        """Return the subcommands, a line for each."""
        wide = max(map(len, SUBCOMMANDS)) + 2
        return "\n".join(
            f"{name:<{wide}}{subcommand.what}"
            + (f"\n{'':<{wide}}  {subcommand.arguments}" if subcommand.arguments else "")
            for name, subcommand in SUBCOMMANDS.items()
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of all subcommands."""
        super().add_options(parser)
        parser.formatter_class = _HelpFormatter
        add = parser.add_argument
        add_arguments(parser, PLACE)
        time = "as 2024-05-17 or 2024-05-17T08:30"
        add("--at", metavar="TIME", help=f"the version of that time, {time}")
        add("--version", metavar="N", help="the version of that number")
        add("--body", action="store_true", help="show: write the page as it was received")
        add("--kinds", help=f"diff: only these kinds of blocks: {','.join(KINDS)}")
        add("--all", action="store_true", help="diff: unchanged blocks and advertisements too")
        add("-o", dest="output", metavar="FILE", help="rebuild: where to, - for standard output")
        add("--limit", metavar="N", help="search, due, duplicates: most results")
        add("--order", help=f"search: {', '.join((*ORDERS, BY_RANK))}")
        add("--collapse", action="store_true", help="search: one page of those that are alike")
        add("--near", metavar="SHARE", help="duplicates: of the text, from which on (default: 0.8)")
        add("--bodies", action="store_true", help="export-parquet: the pages themselves too")
        add("--skip", metavar="N", help="search: leave out so many results, to see the next ones")
        add("--repair", action="store_true", help="check: repair what can be")
        add("--host", help="only this host")
        add("--url", help="only this URL")
        add("--since", metavar="TIME", help=f"from this time on, {time}")
        add("--until", metavar="TIME", help="before this time")
        add("--before", metavar="TIME", help="purge: versions that were replaced before this time")
        add("--yes", action="store_true", help="purge: do not ask")
        add("--json", action="store_true", help="for programs: a line of JSON for each result")

    @ended_by_signal()
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what the first argument says."""
        _take_place(args, opts)
        subcommand, given = _checked(args, opts)
        name = subcommand.name
        try:
            read_arguments(opts, PLACE)
            uri = archive_params(opts, self.settings).archive_uri or ""  # type: ignore[arg-type]
            options = Options.read(name, given, opts)
            options.uri = uri
            options.rules = revisit_rules(self.settings)  # type: ignore[arg-type]
        except (MmcrawlError, ValueError) as error:
            self._say(error, 2)
            return
        known = sys.stdout.isatty() or "COLUMNS" in os.environ
        console = Console(width=None if known else 110, highlight=False)
        read_only = not subcommand.writes or (name == "check" and not opts.repair)
        try:
            with open_archive(uri, create=subcommand.creates, read_only=read_only) as archive:
                self.exitcode = subcommand.run(archive, options, console)
            sys.stdout.flush()
        except MmcrawlError as error:
            self._say(error, 2 if isinstance(error, SearchError) else 1)
        except BrokenPipeError:  # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = 1
        except OSError as error:
            self._say(f"{error.filename}: {error.strerror}" if error.filename else error, 1)
        except KeyboardInterrupt:
            self._say("stopped", 130)

    def _say(self, problem: object, code: int) -> None:
        complain("archive", problem)
        self.exitcode = code


def _take_place(args: list[str], opts: argparse.Namespace) -> None:
    """Take an archive that stands where others give a host or a page: `archive list FILE.db`."""
    places = ("sqlite:///", "mongodb://", "mongodb+srv://")
    if len(args) > 1 and (args[1].startswith(places) or args[1].endswith(".db")):
        opts.arguments.append(f"archive={args.pop(1)}")


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
        raise UsageError(f"it is scrapy archive {name} {subcommand.arguments}")
    for option, flag in _OPTIONS.items():
        if getattr(opts, option) not in (None, False) and option not in subcommand.options.split():
            raise UsageError(f"scrapy archive {name} takes no {flag}")
    if opts.at and opts.version:
        raise UsageError("give either --at or --version")
    if name == "rebuild" and not opts.output:
        raise UsageError("say where to with -o FILE, or -o - for standard output")
    if name == "purge" and not (opts.host or opts.url or opts.before):
        raise UsageError("say what to remove: --host, --url, --before")
    return subcommand, given
