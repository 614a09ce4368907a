"""What a person sees of ranks: how far ranking is, and the first pages, blocks or media."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any, Self

from rich import box
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.table import Table
from rich.text import Text

from mmcrawl.rank.graph import page_links
from mmcrawl.rank.pages import Ranked
from mmcrawl.terminal.crawl import literal

_LINE_SECONDS = 10.0
_TOPIC = 30  # characters shown
_DOING = {"listing": "looking up URLs", "reading": "reading pages", "ranking": "steps"}


class RankProgress:
    """Shows on standard error how far ranking is: a bar on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._console = console = Console(stderr=True, highlight=False)
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


def rank_table(ranked: Ranked, top: int, kept: str) -> RenderableType:
    """Return the first pages, blocks or media, and what was ranked.

    Args:
        ranked: What ranking came to.
        top: How many to show.
        kept: Where the ranks are, "" if they are not kept.
    """
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("place", "rank", "× average"):
        table.add_column(name, justify="right")
    add_columns, cells = _SHOWN[ranked.of]
    add_columns(table)
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


def _page_columns(table: Table) -> None:
    table.add_column("linked from", justify="right")
    table.add_column("page", overflow="fold")


def _block_columns(table: Table) -> None:
    table.add_column("kind")
    table.add_column("topic", overflow="ellipsis", no_wrap=True, max_width=_TOPIC)
    table.add_column("bytes", justify="right")
    table.add_column("page", overflow="fold")


def _media_columns(table: Table) -> None:
    table.add_column("kind")
    table.add_column("pages", justify="right")
    table.add_column("media", overflow="fold")
    table.add_column("best page", overflow="fold")


_Row = dict[str, Any]
_SHOWN: dict[str, tuple[Callable[[Table], None], Callable[[_Row], Iterable[str]]]] = {
    "pages": (_page_columns, lambda row: (f"{row['in_links']:,}", row["url"])),
    "blocks": (
        _block_columns,
        lambda row: (
            row["kind"] or "rest of page",
            row["topic"],
            f"{row['start']}-{row['end']}",
            row["url"],
        ),
    ),
    "media": (
        _media_columns,
        lambda row: (row["kind"], f"{row['pages']:,}", row["url"], row["best_page"]),
    ),
}
"""Of what is ranked: the columns behind the first three, and what stands in them."""
