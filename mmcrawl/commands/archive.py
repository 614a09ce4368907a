"""`scrapy archive`: what the block archive holds, and its upkeep."""

import argparse
import os
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ValidationError
from rich.console import Console
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from mmcrawl.archive import open_archive
from mmcrawl.archive.search_query import SearchError
from mmcrawl.archive_actions import ACTIONS
from mmcrawl.archive_asked import Asked
from mmcrawl.archive_params import ArchiveParams
from mmcrawl.blocks.drawing import printable
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.crawls import revisit_rules
from mmcrawl.errors import MmcrawlError
from mmcrawl.params import explain

__all__ = ["Command"]


@dataclass(frozen=True, slots=True)
class _Form:
    """How a subcommand is given: its arguments, how many, and the options it takes."""

    arguments: str
    least: int
    most: int
    options: frozenset[str]
    writes: bool = False
    creates: bool = False


def _form(arguments: str, least: int, most: int, options: str = "", **more: bool) -> _Form:
    return _Form(arguments, least, most, frozenset(options.split()), **more)


_ANY = 1_000_000
_FORMS = {
    "list": _form("[HOST|PREFIX]", 0, 1, "json"),
    "versions": _form("URL", 1, 1, "json"),
    "show": _form("URL [--at TIME|--version N] [--body]", 1, 1, "at version body json"),
    "diff": _form("URL [V1 V2] [--kinds KINDS|--all]", 1, 3, "kinds all json"),
    "rebuild": _form("URL [--at TIME|--version N] -o FILE", 1, 1, "at version output"),
    "search": _form("QUERY", 1, _ANY, "limit json"),
    "stats": _form("", 0, 0, "json"),
    "check": _form("[--repair]", 0, 0, "repair json", writes=True),
    "due": _form("[--at TIME]", 0, 0, "at limit json"),
    "import-warc": _form("FILE…", 1, _ANY, "json", writes=True, creates=True),
    "export-warc": _form(
        "FILE [--host H] [--url URL] [--since T] [--until T]", 1, 1, "host url since until json"
    ),
    "pack": _form("", 0, 0, writes=True),
    "purge": _form(
        "--host H|--url URL [--before T] [--yes]", 0, 0, "host url before yes json", writes=True
    ),
}
_OPTIONS = {
    "at": "--at", "version": "--version", "body": "--body", "kinds": "--kinds", "all": "--all",
    "output": "-o", "repair": "--repair", "host": "--host", "url": "--url", "since": "--since",
    "until": "--until", "before": "--before", "yes": "--yes", "limit": "--limit", "json": "--json",
}  # fmt: skip


class Command(ScrapyCommand):
    """Show and keep the archive."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return how the command is used."""
        return f"{'|'.join(_FORMS)} … [-a store=URI]"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Versions of archived pages: list, show, compare, rebuild, search, check, exchange"

    def long_desc(self) -> str:
        """Return the subcommands."""
        return "  ".join(f"{name} {form.arguments}".strip() + ";" for name, form in _FORMS.items())

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of all subcommands."""
        super().add_options(parser)
        add = parser.add_argument
        add(
            "-a",
            dest="place",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="store=URI of the crawl (default: sqlite:///crawl.db), or archive=URI",
        )
        time = "as 2024-05-17 or 2024-05-17T08:30"
        add("--at", metavar="TIME", help=f"the version of that time, {time}")
        add("--version", metavar="N", help="the version of that number")
        add("--body", action="store_true", help="show: write the page as it was received")
        add("--kinds", help=f"diff: only these kinds of blocks: {','.join(KINDS)}")
        add("--all", action="store_true", help="diff: unchanged blocks and advertisements too")
        add("-o", dest="output", metavar="FILE", help="rebuild: where to, - for standard output")
        add("--limit", metavar="N", help="search, due: most results")
        add("--repair", action="store_true", help="check: repair what can be")
        add("--host", help="only this host")
        add("--url", help="only this URL")
        add("--since", metavar="TIME", help=f"from this time on, {time}")
        add("--until", metavar="TIME", help="before this time")
        add("--before", metavar="TIME", help="purge: versions that were replaced before this time")
        add("--yes", action="store_true", help="purge: do not ask")
        add("--json", action="store_true", help="for programs: a line of JSON for each result")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what the first argument says."""
        name, form, given = _checked(args, opts)
        try:
            uri = self._uri(opts.place)
            asked = Asked.read(name, given, opts)
            asked.uri = uri
            asked.rules = revisit_rules(self.settings)  # type: ignore[arg-type]
        except (MmcrawlError, ValueError) as error:
            self._say(error, 2)
            return
        known = sys.stdout.isatty() or "COLUMNS" in os.environ
        console = Console(width=None if known else 110, highlight=False)
        read_only = not form.writes or (name == "check" and not opts.repair)
        try:
            with open_archive(uri, create=form.creates, read_only=read_only) as archive:
                self.exitcode = ACTIONS[name](archive, asked, console)
        except MmcrawlError as error:
            self._say(error, 2 if isinstance(error, SearchError) else 1)
        except BrokenPipeError:  # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = 1
        except OSError as error:
            self._say(f"{error.filename}: {error.strerror}" if error.filename else error, 1)
        except KeyboardInterrupt:
            self._say("stopped", 130)

    def _uri(self, given: list[str]) -> str:
        pairs = [pair.partition("=") for pair in given]
        for name, sign, _ in pairs:
            if not sign:
                raise ValueError(f"-a {name}: give NAME=VALUE, as -a store=sqlite:///crawl.db")
        try:
            params = ArchiveParams.model_validate({name: value for name, _, value in pairs})
        except ValidationError as error:
            raise ValueError("; ".join(explain(error))) from error
        setting = self.settings.get("MMCRAWL_ARCHIVE")  # type: ignore[union-attr]
        if setting and not given:
            params = ArchiveParams.model_validate({"archive": setting})
        return params.archive_uri or ""

    def _say(self, problem: object, code: int) -> None:
        print(f"scrapy archive: {printable(str(problem))}", file=sys.stderr)
        self.exitcode = code


def _checked(args: list[str], opts: argparse.Namespace) -> tuple[str, _Form, list[str]]:
    """Return the subcommand and its arguments; UsageError if they do not fit."""
    unknown = [arg for arg in args if arg.startswith("-") and arg != "-"]
    if unknown:
        raise UsageError(f"there is no option {unknown[0]}")
    if not args or args[0] not in _FORMS:
        what = f"there is no {args[0]!r}; " if args else ""
        raise UsageError(f"{what}say one of {', '.join(_FORMS)}")
    name, given = args[0], args[1:]
    form = _FORMS[name]
    if not form.least <= len(given) <= form.most or (name == "diff" and len(given) == 2):
        raise UsageError(f"it is scrapy archive {name} {form.arguments}")
    for option, flag in _OPTIONS.items():
        if getattr(opts, option) not in (None, False) and option not in form.options:
            raise UsageError(f"scrapy archive {name} takes no {flag}")
    if opts.at and opts.version:
        raise UsageError("give either --at or --version")
    if name == "rebuild" and not opts.output:
        raise UsageError("say where to with -o FILE, or -o - for standard output")
    if name == "purge" and not (opts.host or opts.url or opts.before):
        raise UsageError("say what to remove: --host, --url, --before")
    return name, form, given
