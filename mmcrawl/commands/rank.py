"""`scrapy rank`: which pages, blocks and media of an archive matter, by links."""

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Column, Table
from scrapy.commands import ScrapyCommand

from mmcrawl.archive.opening import open_archive
from mmcrawl.commands.base import (
    PLACE,
    MmcrawlCommand,
    Option,
    archive_params,
    console_of,
    output,
    output_to,
    whole,
    write_rows,
)
from mmcrawl.commands.terminal.tables import folded, literal, right
from mmcrawl.crawl.spider_params import as_time
from mmcrawl.errors import RankError
from mmcrawl.rank.graph import page_links
from mmcrawl.rank.pages import BLOCK_METHODS, PARTS, RANK_COLUMNS, Ranked, RankJob, rank_pages
from mmcrawl.rank.ranks import METHODS, method_named
from mmcrawl.rank.results import save_ranks
from mmcrawl.store.uris import file_of, shown
from mmcrawl.topic.loading import topic_of

_SHOWN = 20
_PAGES = "pages"
_METHOD = next(iter(METHODS))
_AT = "the archive as of a time, as 2024-05-17T08:30"
_TOPIC = 30  # characters shown
_Row = dict[str, Any]


class Command(MmcrawlCommand, ScrapyCommand):
    """Rank the pages, blocks or media of an archive."""

    name = "rank"
    working = "ranking"
    details = "Ranks of pages are kept beside the archive. Methods: " + " ".join(
        f"{method.name}: {method.title};" for method in METHODS.values()
    )
    arguments = (*PLACE, "topic", "keywords")
    interrupted = "stopped; no ranks were kept"

    options = (
        Option("--method", default=_METHOD, help=f"(default: {_METHOD})"),
        Option("--of", choices=(_PAGES, *PARTS), default=_PAGES, help="what to rank"),
        Option(
            "--limit",
            type=whole,
            metavar="N",
            help=f"maximum number of rows (default: {_SHOWN} in a table, else all)",
        ),
        Option("--at", type=partial(as_time, end=True), metavar="TIME", help=_AT),
        *output("table", "jsonl", "csv"),
    )

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        job = self._job(opts)
        _check_of(opts.of, job)
        return lambda: self._rank(job, opts)

    def _rank(self, job: RankJob, opts: argparse.Namespace) -> None:
        rank = rank_pages if opts.of == _PAGES else PARTS[opts.of]
        with open_archive(job.uri, create=False, read_only=True) as archive:
            ranked = rank(job, archive, self.telling.progress)
        for problem in ranked.reading.unreadable:
            self.say(problem)
        kept = ""
        if ranked.pages is not None:
            save_ranks(job.uri, ranked.pages)
            where = "-rank" if file_of(job.uri) else ", collections rank_result and rank_part"
            kept = shown(job.uri) + where
        with output_to(opts.output) as stream:
            if opts.format == "table":
                console = console_of()
                console.file = stream
                console.print(rank_table(ranked, opts.limit or _SHOWN, kept))
                return
            names = {**RANK_COLUMNS, **ranked.columns}
            rows = ({name: row[name] for name in names} for row in ranked.rows(opts.limit))
            write_rows(rows, opts.format, stream, names)

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
            at=opts.at,
            topic=topic,
        )


def _check_of(of: str, job: RankJob) -> None:
    """Refuse what only some methods have, before the work begins."""
    if of == "blocks" and job.method not in BLOCK_METHODS:
        known = " or ".join(BLOCK_METHODS)
        raise ValueError(f"{job.method} does not rank blocks: take --method {known}")


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
