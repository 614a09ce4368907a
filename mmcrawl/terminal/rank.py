"""What a person sees of ranks: how far ranking is, and the first pages, blocks or media."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Any, Self

from rich import box
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.table import Table
from rich.text import Text

from mmcrawl.rank.pages import Ranked
from mmcrawl.rank.parts import RankedParts
from mmcrawl.rank.ranks import Ranking
from mmcrawl.terminal.crawl import literal

_LINE_SECONDS = 10.0
_TOPIC = 30  # characters shown
_DOING = {"listing": "looking up URLs", "reading": "reading pages", "ranking": "steps"}


class RankProgress:
    """Shows how far ranking is: a bar on a terminal, elsewhere a line now and then.

    Args:
        console: Where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said = monotonic()
        self._tasks: dict[str, TaskID] = {}
        self._bars: Progress | None = None
        if console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bars = Progress(*columns, Elapsed(), console=console, transient=True)

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how much of something is done."""
        if self._bars is not None:
            if what not in self._tasks:
                self._tasks[what] = self._bars.add_task(_DOING.get(what, what), total=None)
            self._bars.update(self._tasks[what], completed=done, total=total or None)
        elif monotonic() - self._said >= _LINE_SECONDS:
            self._said = monotonic()
            of = f" of {total:,}" if total else ""
            self._console.print(Text(f"{_DOING.get(what, what)}: {done:,}{of}"), soft_wrap=True)


def rank_table(ranked: Ranked, rows: Iterable[dict[str, Any]], kept: str) -> RenderableType:
    """Return the first pages and what was ranked.

    Args:
        ranked: What ranking came to.
        rows: Of the pages to show.
        kept: Where the ranks are.
    """
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("place", "rank", "× average", "linked from"):
        table.add_column(name, justify="right")
    table.add_column("page", overflow="fold")
    for row in rows:
        table.add_row(
            str(row["place"]),
            f"{row['score']:.3g}",
            f"{row['times_average']:.2f}",
            f"{row['in_links']:,}",
            literal(row["url"]),
        )
    pages, ranking = ranked.pages, ranked.ranking
    lines = [
        f"{pages.method}: {len(pages.urls):,} pages, {ranked.blocks:,} blocks, {ranked.links:,}"
        f" links between stored pages; {ranking.steps} steps; kept in {kept}"
    ]
    if not ranked.in_links.any():
        lines.append("No page links to another one that is stored: all ranks are equal.")
    lines += _remarks(ranking, ranked.skipped)
    return Group(table, *(literal(line) for line in lines))


def parts_table(ranked: RankedParts, rows: Iterable[dict[str, Any]]) -> RenderableType:
    """Return the first blocks or media, and what was ranked.

    Args:
        ranked: What ranking came to.
        rows: Of those to show.
    """
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("place", "rank", "× average"):
        table.add_column(name, justify="right")
    table.add_column("kind")
    if ranked.of == "blocks":
        table.add_column("topic", overflow="ellipsis", no_wrap=True, max_width=_TOPIC)
        table.add_column("bytes", justify="right")
        table.add_column("page", overflow="fold")
    else:
        table.add_column("pages", justify="right")
        table.add_column("media", overflow="fold")
        table.add_column("best page", overflow="fold")
    for row in rows:
        numbers = (str(row["place"]), f"{row['score']:.3g}", f"{row['times_average']:.2f}")
        if ranked.of == "blocks":
            place = f"{row['start']}-{row['end']}"
            rest = (literal(row["topic"]), literal(place), literal(row["url"]))
        else:
            rest = (literal(f"{row['pages']:,}"), literal(row["url"]), literal(row["best_page"]))
        table.add_row(*numbers, literal(row["kind"] or "rest of page"), *rest)
    graph, named = ranked.graph, f" of {len(ranked.scores):,} media" if ranked.of == "media" else ""
    lines = [
        f"{ranked.method}{named}: {graph.pages:,} pages, {graph.blocks:,} blocks, {graph.links:,}"
        f" links between stored pages; {ranked.ranking.steps} steps; not kept"
    ]
    lines += _remarks(ranked.ranking, ranked.skipped)
    return Group(table, *(literal(line) for line in lines))


def _remarks(ranking: Ranking, skipped: Mapping[str, int]) -> list[str]:
    lines = []
    if not ranking.settled:
        lines.append(f"The ranks had not settled: they still changed by {ranking.change:.1g}.")
    if skipped:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())
        lines.append(f"Not ranked: {reasons}")
    return lines
