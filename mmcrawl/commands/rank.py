"""`scrapy rank`: which pages, blocks and media of an archive matter, by links."""

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from mmcrawl.archive.opening import open_archive
from mmcrawl.archive.uris import shown
from mmcrawl.commands.arguments import PLACE, add_arguments, archive_params, read_arguments
from mmcrawl.crawling.archive_params import as_time
from mmcrawl.errors import MmcrawlError, RankError
from mmcrawl.rank.pages import RANK_COLUMNS, Ranked, RankJob, rank_pages
from mmcrawl.rank.parts import BLOCK_METHODS, PARTS
from mmcrawl.rank.ranks import METHODS, method_named
from mmcrawl.rank.results import save_ranks
from mmcrawl.rank.writing import WRITERS
from mmcrawl.stores.uris import file_of
from mmcrawl.terminal.program import complain
from mmcrawl.terminal.rank import RankProgress, rank_table
from mmcrawl.topic.loading import topic_of

_SHOWN = 20
_PAGES = "pages"
_ARGUMENTS = (*PLACE, "topic", "keywords")


class Command(ScrapyCommand):
    """Rank the pages, blocks or media of an archive."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return how the command is used."""
        return "[--method METHOD] [-a store=URI] [options]"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Rank pages, blocks or media of an archive by links and the blocks these stand in"

    def long_desc(self) -> str:
        """Return the methods."""
        methods = (f"{method.name}: {method.title};" for method in METHODS.values())
        return "Ranks of pages are kept beside the archive. Methods: " + " ".join(methods)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        add = parser.add_argument
        add_arguments(parser, _ARGUMENTS)
        first = next(iter(METHODS))
        add("--method", default=first, help=f"{', '.join(METHODS)} (default: {first})")
        of = (_PAGES, *PARTS)
        add("--of", default=_PAGES, metavar="WHAT", help=f"{', '.join(of)} (default: {_PAGES})")
        add("--top", metavar="N", help=f"how many to show (default: {_SHOWN}; all for programs)")
        add("--at", metavar="TIME", help="the archive as of a time, as 2024-05-17T08:30")
        add("--figure", metavar="FILE", help="draw how ranks are distributed: .png, .svg or .pdf")
        for name, writer in WRITERS.items():
            add(f"--{name}", dest=f"as_{name}", action="store_true", help=writer.help)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Rank, keep the ranks, and show the first."""
        if args:
            raise UsageError(f"{args[0]!r} is not understood; all is said with options")
        formats = [name for name in WRITERS if getattr(opts, f"as_{name}")]
        if len(formats) > 1:
            raise UsageError("give only one of " + ", ".join(f"--{name}" for name in formats))
        try:
            read_arguments(opts, _ARGUMENTS)
            job = self._job(opts)
            top = _whole(opts.top)
            figure = _figure(opts.figure)
            _check_output(formats)
            _check_of(opts.of, job, figure)
        except (MmcrawlError, ValueError) as error:
            self._say(error, 2)
            return
        rank = rank_pages if opts.of == _PAGES else PARTS[opts.of]
        try:
            with (
                open_archive(job.uri, create=False, read_only=True) as archive,
                RankProgress(Console(stderr=True, highlight=False)) as progress,
            ):
                ranked = rank(job, archive, progress)
            self._show(ranked, job, top, formats, figure)
        except MmcrawlError as error:
            self._say(error, 1)
        except BrokenPipeError:  # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = 1
        except OSError as error:
            self._say(f"{error.filename}: {error.strerror}" if error.filename else error, 1)
        except KeyboardInterrupt:
            self._say("stopped; no ranks were kept", 130)

    def _show(
        self,
        ranked: Ranked,
        job: RankJob,
        top: int | None,
        formats: list[str],
        figure: Path | None,
    ) -> None:
        for problem in ranked.reading.unreadable:
            self._say(problem, 0)
        kept = ""
        if ranked.pages is not None:
            save_ranks(job.uri, ranked.pages)
            where = "-rank" if file_of(job.uri) else ", collections rank_head and rank_part"
            kept = shown(job.uri) + where
        if ranked.pages is not None and figure is not None:
            from mmcrawl.rank.figure import draw_distribution

            draw_distribution(ranked.pages, figure)
        if formats:
            columns = {**RANK_COLUMNS, **ranked.columns}
            WRITERS[formats[0]].write(ranked.rows(top), columns, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        known = sys.stdout.isatty() or "COLUMNS" in os.environ
        console = Console(width=None if known else 110, highlight=False)
        console.print(rank_table(ranked, top or _SHOWN, kept))

    def _job(self, opts: argparse.Namespace) -> RankJob:
        method = method_named(opts.method)
        topic = topic_of(opts.topic, opts.keywords)
        if method.needs_topic and topic is None:
            raise RankError(f"{method.name} needs --topic or --keywords (`scrapy topic list`)")
        if topic is not None and not method.needs_topic:
            raise RankError(f"{method.name} takes no topic; topic-pagerank does")
        return RankJob(
            uri=archive_params(opts, self.settings).archive_uri or "",  # type: ignore[arg-type]
            method=method.name,
            at=as_time(opts.at) if opts.at else None,
            topic=topic,
        )

    def _say(self, problem: object, code: int) -> None:
        complain("rank", problem)
        self.exitcode = code or self.exitcode


def _whole(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or int(text[:9]) < 1:
        raise ValueError(f"--top {text}: give a whole number from 1")
    return int(text)


def _figure(name: str | None) -> Path | None:
    """Check what can be checked before the work begins."""
    if not name:
        return None
    path = Path(os.path.expanduser(name))
    if find_spec("matplotlib") is None:
        raise ValueError("--figure needs matplotlib: pip install 'mmcrawl[experiment]'")
    from mmcrawl.rank.figure import FORMATS

    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"--figure {name}: end the name with {', '.join(FORMATS)}")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"--figure {name}: there is no folder {path.parent}; make it first")
    return path


def _check_output(formats: list[str]) -> None:
    if "parquet" not in formats:
        return
    if find_spec("pyarrow") is None:
        raise ValueError("--parquet needs pyarrow: pip install 'mmcrawl[parquet]'")
    if sys.stdout.isatty():
        raise ValueError("--parquet is not for a terminal: add > FILE")


def _check_of(of: str, job: RankJob, figure: Path | None) -> None:
    """Refuse what only pages have, before the work begins."""
    if of == _PAGES:
        return
    if of not in PARTS:
        raise ValueError(f"--of {of}: give one of {', '.join((_PAGES, *PARTS))}")
    if figure is not None:
        raise ValueError(f"--figure draws ranks of pages only, not --of {of}")
    if of == "blocks" and job.method not in BLOCK_METHODS:
        known = " or ".join(BLOCK_METHODS)
        raise ValueError(f"{job.method} does not rank blocks: take --method {known}")
