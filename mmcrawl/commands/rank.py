"""`scrapy rank`: which pages, blocks and media of an archive matter, by links."""

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from rich import box
from rich.console import Group, RenderableType
from rich.table import Column, Table
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from mmcrawl.archive.opening import open_archive
from mmcrawl.archive.uris import shown
from mmcrawl.commands.base import PLACE, MmcrawlCommand, archive_params, console_of, one_of, whole
from mmcrawl.commands.terminal.crawl import folded, literal, right
from mmcrawl.commands.terminal.files import add_overwrite, add_target, new_file
from mmcrawl.commands.terminal.telling import ProgressBars
from mmcrawl.crawl.spider_params import as_time
from mmcrawl.errors import RankError
from mmcrawl.rank.graph import page_links
from mmcrawl.rank.pages import BLOCK_METHODS, PARTS, RANK_COLUMNS, Ranked, RankJob, rank_pages
from mmcrawl.rank.ranks import METHODS, method_named
from mmcrawl.rank.results import save_ranks
from mmcrawl.store.uris import file_of
from mmcrawl.text.writing import CsvWriter
from mmcrawl.topic.loading import topic_of

_SHOWN = 20
_PAGES = "pages"
_TOPIC = 30  # characters shown
_Row = dict[str, Any]


class Command(MmcrawlCommand, ScrapyCommand):
    """Rank the pages, blocks or media of an archive."""

    name = "rank"
    working = ""
    usage = "[FILE.db|-a store=URI|-a archive=URI] [--method METHOD] [options]"
    details = "Ranks of pages are kept beside the archive. Methods: " + " ".join(
        f"{method.name}: {method.title};" for method in METHODS.values()
    )
    arguments = (*PLACE, "topic", "keywords")
    interrupted = "stopped; no ranks were kept"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        first = next(iter(METHODS))
        add("--method", default=first, help=f"{', '.join(METHODS)} (default: {first})")
        of = (_PAGES, *PARTS)
        add("--of", default=_PAGES, metavar="WHAT", help=f"{', '.join(of)} (default: {_PAGES})")
        add(
            "--limit",
            metavar="N",
            help=f"maximum number to show (default: {_SHOWN}; all for programs)",
        )
        add("--at", metavar="TIME", help="the archive as of a time, as 2024-05-17T08:30")
        drawn = "draw how ranks are distributed: .png, .svg or .pdf"
        add_target(parser, "--figure", help=drawn)
        add_overwrite(parser)
        for name, writer in WRITERS.items():
            add(f"--{name}", dest=f"as_{name}", action="store_true", help=writer.help)

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        formats = [name for name in WRITERS if getattr(opts, f"as_{name}")]
        if len(formats) > 1:
            raise UsageError("give only one of " + ", ".join(f"--{name}" for name in formats))
        job = self._job(opts)
        limit = None if opts.limit is None else whole(opts.limit, "--limit")
        figure = _figure(opts.figure, overwrite=opts.overwrite)
        _check_output(formats)
        _check_of(opts.of, job, figure)
        return lambda: self._rank(job, opts.of, limit, formats, figure)

    def _rank(
        self, job: RankJob, of: str, limit: int | None, formats: list[str], figure: Path | None
    ) -> None:
        rank = rank_pages if of == _PAGES else PARTS[of]
        with (
            open_archive(job.uri, create=False, read_only=True) as archive,
            ProgressBars() as progress,
        ):
            ranked = rank(job, archive, progress)
        self._show(ranked, job, limit, formats, figure)

    def _show(
        self,
        ranked: Ranked,
        job: RankJob,
        limit: int | None,
        formats: list[str],
        figure: Path | None,
    ) -> None:
        for problem in ranked.reading.unreadable:
            self.say(problem)
        kept = ""
        if ranked.pages is not None:
            save_ranks(job.uri, ranked.pages)
            where = "-rank" if file_of(job.uri) else ", collections rank_result and rank_part"
            kept = shown(job.uri) + where
        if ranked.pages is not None and figure is not None:
            from mmcrawl.rank.figure import draw_distribution

            draw_distribution(ranked.pages, figure)
        if formats:
            columns = {**RANK_COLUMNS, **ranked.columns}
            WRITERS[formats[0]].write(ranked.rows(limit), columns, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        console_of().print(rank_table(ranked, limit or _SHOWN, kept))

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
            at=as_time(opts.at, end=True) if opts.at else None,
            topic=topic,
        )


def _figure(name: str | None, *, overwrite: bool) -> Path | None:
    """Check what can be checked before the work begins."""
    if not name:
        return None
    path = Path(os.path.expanduser(name))
    if find_spec("matplotlib") is None:
        raise ValueError("--figure needs matplotlib: pip install 'mmcrawl[experiment]'")
    from mmcrawl.rank.figure import FORMATS

    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"--figure {name}: end the name with {', '.join(FORMATS)}")
    return new_file(name, "--figure", overwrite=overwrite)


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
    one_of(of, "--of", (_PAGES, *PARTS))
    if figure is not None:
        raise ValueError(f"--figure draws ranks of pages only, not --of {of}")
    if of == "blocks" and job.method not in BLOCK_METHODS:
        known = " or ".join(BLOCK_METHODS)
        raise ValueError(f"{job.method} does not rank blocks: take --method {known}")


Rows = Iterable[dict[str, Any]]


class Writer(NamedTuple):
    help: str
    write: Callable[[Rows, Mapping[str, str], BinaryIO], None]


def _write_json(rows: Rows, columns: Mapping[str, str], stream: BinaryIO) -> None:
    for row in rows:
        line = json.dumps({name: row[name] for name in columns}, ensure_ascii=False)
        stream.write(line.encode("utf-8", "replace") + b"\n")


def _write_csv(rows: Rows, columns: Mapping[str, str], stream: BinaryIO) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
    writer = CsvWriter(text)
    writer.writerow(columns)
    writer.writerows([row[name] for name in columns] for row in rows)
    text.detach()


def _write_parquet(rows: Rows, columns: Mapping[str, str], stream: BinaryIO) -> None:
    from mmcrawl.rank.parquet import write_rows  # pyarrow may not be there

    write_rows(rows, columns, stream)


WRITERS: Mapping[str, Writer] = {
    "json": Writer("a line of JSON for each", _write_json),
    "csv": Writer("CSV with a line of names", _write_csv),
    "parquet": Writer("a Parquet file, for > FILE", _write_parquet),
}
"""All formats, by the name of their option."""


# -- what is shown --------------------------------------------------------------------------------


def rank_table(ranked: Ranked, top: int, kept: str) -> RenderableType:
    """Return the first pages, blocks or media, and what was ranked."""
    columns, cells = _TABLES[ranked.of]
    first = map(right, ("place", "rank", "× average"))
    table = Table(*first, *columns(), box=box.SIMPLE_HEAD)
    for row in ranked.rows(top):
        numbers = (str(row["place"]), f"{row['score']:.3g}", f"{row['times_average']:.2f}")
        table.add_row(*numbers, *map(literal, cells(row)))
    graph, named = ranked.graph, f" of {len(ranked.scores):,} media" if ranked.of == "media" else ""
    lines = [
        f"{ranked.method}{named}: {graph.pages:,} pages, {graph.blocks:,} blocks, {graph.links:,}"
        f" links between stored pages; {ranked.ranking.steps} steps;"
        f" {f'kept in {kept}' if kept else 'not kept'}"
    ]
    if ranked.of == "pages" and not page_links(graph).nnz:
        lines.append("No page links to another one that is stored: all ranks are equal.")
    if not ranked.ranking.settled:
        lines.append(
            f"The ranks had not settled: they still changed by {ranked.ranking.change:.1g}."
        )
    if skipped := ranked.reading.skipped:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())
        lines.append(f"Not ranked: {reasons}")
    return Group(table, *(literal(line) for line in lines))


_Columns = Callable[[], tuple[Column | str, ...]]
_TABLES: dict[str, tuple[_Columns, Callable[[_Row], Iterable[str]]]] = {
    "pages": (
        lambda: (right("linked from"), folded("page")),
        lambda row: (f"{row['in_links']:,}", row["url"]),
    ),
    "blocks": (
        lambda: (
            "kind",
            Column("topic", overflow="ellipsis", no_wrap=True, max_width=_TOPIC),
            right("bytes"),
            folded("page"),
        ),
        lambda row: (
            row["kind"] or "rest of page",
            row["topic"],
            f"{row['start']}-{row['end']}",
            row["url"],
        ),
    ),
    "media": (
        lambda: ("kind", right("pages"), folded("media"), folded("best page")),
        lambda row: (row["kind"], f"{row['pages']:,}", row["url"], row["best_page"]),
    ),
}
"""For each kind of rank: the columns after the first three, and their cells."""
