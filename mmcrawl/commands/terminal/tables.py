"""The display of a crawl: a line or a panel while it runs, tables when it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich import box
from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from mmcrawl.archive.model import as_text
from mmcrawl.crawl.protocol import Totals
from mmcrawl.media.index import State
from mmcrawl.text.media_kinds import KINDS
from mmcrawl.text.writing import as_called, counted, printable, size_of, time_left

if TYPE_CHECKING:  # slow to load
    from mmcrawl.frontier.findings import BarrenDirectory, MediaPageRecord, NearMiss, PatternRecord
    from mmcrawl.media.index import Summary as Media
    from mmcrawl.spiders.collect import Collected
    from mmcrawl.spiders.revisit import Revisits

_MOST_PAGES = 20
_MOST_PATTERNS = 10
_MOST_REASONS = 8
_MOST_NEAR = 10
_SHORT_NAMES = {kind: kind for kind in KINDS} | {"animation": "swf", "simulation": "sim"}


@dataclass(frozen=True, slots=True)
class Progress(Totals):
    """The progress of a crawl, and its speed."""

    pages_per_second: float = 0.0  # over the last seconds
    most_pages: int = 0  # where it ends at the latest, 0 for no limit
    requisites: int = 0  # how many of them wait

    @property
    def time_left(self) -> str:
        """The time left for the waiting links at this speed; new links add to it."""
        if not self.pages_per_second:
            return ""
        left = self.waiting
        if self.most_pages:
            left = min(left, max(0, self.most_pages - self.pages))
        return time_left(left, self.pages_per_second)


@dataclass(frozen=True, slots=True)
class Archived:
    place: str
    pages: int
    new: int
    raw_bytes: int
    new_bytes: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a crawl.

    Attributes:
        left_alone: hosts whose robots.txt cannot be had, with the reason, and how often each was
            asked.
        barren: parts of sites that took many of the last pages for nothing.
        requisites: how many were archived, their bytes, and why others were not.
        words: that pages with media on topic have rather than others, to be taken into the topic.
    """

    job: str
    topic: str
    algo: str
    ending: str
    progress: Progress
    seconds: float  # that this run took
    best: list[MediaPageRecord]
    patterns: list[PatternRecord]
    errors: Counter[str]
    left_alone: Counter[str] = field(default_factory=Counter)
    archived: Archived | None = None
    pages_before: int = 0  # pages of earlier runs, which `progress` counts as well
    near: Sequence[NearMiss] = ()  # pages with media a little below the threshold, the best first
    barren: Sequence[BarrenDirectory] = ()
    requisites: tuple[int, int, Counter[str]] | None = None
    words: Sequence[str] = ()


def progress_line(progress: Progress) -> str:
    media = ", ".join(f"{count} {kind}" for kind, count in progress.media.items())
    return (
        f"{progress.pages} pages ({progress.pages_per_second:.1f}/s),"
        f" {progress.media_pages} with media on topic ({media}),"
        f" harvest rate {progress.harvest_rate:.0%}, {progress.waiting} waiting,"
        f" {progress.patterns} patterns, {progress.errors} errors"
        f"{f', {progress.requisites} requisites waiting' if progress.requisites else ''}"
        f"{', ' if progress.time_left else ''}{progress.time_left}"
    )


def progress_panel(progress: Progress) -> RenderableType:
    media = "  ".join(f"{kind} {count}" for kind, count in progress.media.items())
    held = f"  (+{progress.held} held)" if progress.held else ""
    cells = {
        "pages": f"{progress.pages}  ({progress.pages_per_second:.1f}/s)",
        "media pages": f"{progress.media_pages}",
        "found": media,
        "harvest rate": f"{progress.harvest_rate:.0%} of the last 500",
        "waiting": f"{progress.waiting}{held}",
        "patterns": f"{progress.patterns}",
        "errors": f"{progress.errors}",
        **({"requisites waiting": f"{progress.requisites}"} if progress.requisites else {}),
        **({"time": progress.time_left} if progress.time_left else {}),
    }
    texts = [Text.assemble((name, "dim"), "  ", value) for name, value in cells.items()]
    return Columns(texts, padding=(0, 3))


def closing_tables(summary: Summary) -> RenderableType:
    parts: list[RenderableType] = [_heading(summary), facts_table(_totals(summary))]
    if summary.best:
        parts += [_title("Pages with media on topic"), _media_table(summary)]
    if summary.near:
        parts += [_title("Just below the threshold, so not taken"), _near_table(summary.near)]
    if summary.words:
        title = "Words of these pages that the others lack; those that fit find more, as keywords"
        parts += [_title(title), literal(", ".join(summary.words))]
    if summary.patterns:
        parts += [_title("Learnt URL patterns"), _pattern_table(summary.patterns)]
    for title, reasons in (
        ("Not fetched or failed", summary.errors),
        ("Requisites not archived", summary.requisites and summary.requisites[2]),
        ("Links not followed", Counter(summary.progress.refused)),
        ("Skipped hosts: robots.txt could not be fetched in so many attempts", summary.left_alone),
    ):
        if reasons:
            parts += [_title(title), reason_table(reasons)]
    if summary.barren:
        parts.append(_title("Many pages, none on topic: these rules, in -a rules=FILE, end that"))
        rows = ((f"{part.pages} of {part.of}", literal(part.rule)) for part in summary.barren)
        parts.append(facts_table(rows))
    parts.append(_title(summary.ending))
    return Group(*parts)


def _title(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _heading(summary: Summary) -> Text:
    return Text.assemble(
        "\n", (summary.topic, "bold"), f"  by {summary.algo}, job ", (summary.job, "cyan")
    )


def _totals(summary: Summary) -> Iterator[tuple[str, RenderableType]]:
    progress = summary.progress
    share = progress.media_pages / progress.pages if progress.pages else 0.0
    now = progress.pages - summary.pages_before
    these = f", {now} of them" if summary.pages_before else ""
    rate = f"{these} in {summary.seconds:.0f} s" if now and summary.seconds >= 1 else ""
    yield "pages crawled", f"{progress.pages}{rate}"
    yield "with media on topic", f"{progress.media_pages}  ({share:.1%})"
    for kind, count in progress.media.items():
        yield f"{kind} resources", str(count)
    yield "links still waiting", str(progress.waiting + progress.held)
    if summary.archived is not None:
        yield "archived", _archived(summary.archived)
    if summary.requisites is not None:
        kept, size, _ = summary.requisites
        yield "requisites archived", f"{kept} ({size_of(size)})"


def _archived(archived: Archived) -> Text:
    unchanged = archived.pages - archived.new
    more = f", {unchanged} unchanged" if unchanged else ""
    return literal(
        f"{archived.new} new versions{more}; {size_of(archived.raw_bytes)},"
        f" {size_of(archived.new_bytes)} of it new; {archived.place}"
    )


class _WithAddresses:
    """A table with addresses beneath its rows, not wrapped; print it with ``crop=False``."""

    def __init__(self, *columns: Column | str, note: str = "") -> None:
        self._table = Table(*columns, box=box.SIMPLE_HEAD, show_edge=False)
        self._addresses: list[str] = []
        self._note = note

    def add_row(self, address: str, *cells: RenderableType) -> None:
        self._table.add_row(*cells)
        self._addresses.append(printable(address))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._table, options, pad=False)
        first = len(lines) - len(self._addresses)
        for place, line in enumerate(lines):
            yield from (*line, Segment.line())
            if place >= first:
                yield from (Segment(f"   {self._addresses[place - first]}"), Segment.line())
        if self._note:
            yield Text(self._note, "italic")


def _title_column() -> Column:
    return Column("title, page", no_wrap=True, overflow="ellipsis")


def _media_table(summary: Summary) -> RenderableType:
    more = summary.progress.media_pages - len(summary.best)
    note = f"… and {more} more; -O media.jsonl or -O media.csv writes them all" if more > 0 else ""
    table = _WithAddresses(
        right("score"), Column("media", no_wrap=True), _title_column(), note=note
    )
    for page in summary.best[:_MOST_PAGES]:
        counts = {name: page.count(kind) for kind, name in _SHORT_NAMES.items()}
        media = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        score = f"{page.topic_score:.2f}" if page.topic_score else ""  # any topic is none
        table.add_row(page.url, score, media, literal(page.title))
    return table


def _near_table(near: Sequence[NearMiss]) -> RenderableType:
    note = (
        f"{counted(len(near), 'page')} with media; `scrapy topic score URL` says why;"
        f" -s MMCRAWL_TOPIC_THRESHOLD={near[-1].topic_score:.2f} takes them"
    )
    table = _WithAddresses(right("score"), _title_column(), note=note)
    for page in near[:_MOST_NEAR]:
        table.add_row(page.url, f"{page.topic_score:.2f}", literal(page.title))
    return table


def _pattern_table(patterns: list[PatternRecord]) -> Table:
    table = Table(right("media pages"), folded("pattern"), box=box.SIMPLE_HEAD)
    for record in patterns[:_MOST_PATTERNS]:
        table.add_row(str(record.urls), literal(record.pattern))
    if len(patterns) > _MOST_PATTERNS:
        table.add_row("", f"… and {len(patterns) - _MOST_PATTERNS} more")
    return table


def reason_table(reasons: Counter[str]) -> Table:
    """Return how often something went wrong, by reason, the most frequent first."""
    table = plain_table(right(""), folded(""), header=False)
    for reason, count in reasons.most_common(_MOST_REASONS):
        table.add_row(str(count), literal(reason))
    if len(reasons) > _MOST_REASONS:
        table.add_row("", f"… and {len(reasons) - _MOST_REASONS} more")
    return table


def sentence(message: str) -> str:
    """Return what an error says as a sentence of its own.

    >>> sentence("archive a.db cannot be reached; is it there?"), sentence("sqlite:///a is wrong")
    ('Archive a.db cannot be reached; is it there?', 'sqlite:///a is wrong.')
    """
    is_name = "/" in message.partition(" ")[0]
    first = message[:1] if is_name else message[:1].upper()
    return f"{first}{message[1:]}{'' if message.endswith(('.', '?', '!')) else '.'}"


def facts_table(facts: Iterable[tuple[RenderableType, ...]]) -> Table:
    """Return names and values, a row each."""
    table = plain_table(Column(style="dim", no_wrap=True), folded(""), header=False)
    for row in facts:
        table.add_row(*row)
    return table


def plain_table(*columns: Column | str, header: bool = True, title: str | None = None) -> Table:
    form = {"box": None, "padding": (0, 2, 0, 0), "title_justify": "left"}
    return Table(*columns, show_header=header, title=title, **form)  # type: ignore[arg-type]


def right(name: str) -> Column:
    return Column(name, justify="right")


def folded(name: str) -> Column:
    return Column(name, overflow="fold")


def literal(text: str) -> Text:
    """Return words of a site as they stand: no markup, nothing a terminal would act upon."""
    return Text(printable(text))


KIND_STYLES = {
    "title": "bold magenta",
    "topic": "bold green",
    "related-links": "bold blue",
    "navigation": "blue",
    "advertisement": "red",
    "copyright": "yellow",
    "image": "cyan",
    "noise-links": "red",
    "small": "dim",
    "comments": "magenta",
}
"""How each kind of block is written."""


def kind_of(kind: str) -> tuple[str, str]:
    """Return how the kind of a block is written: its word and its style."""
    return kind or "body", KIND_STYLES.get(kind, "default")


def revisit_tables(revisits: Revisits) -> RenderableType:
    parts: list[RenderableType] = [Text(f"\nRevisits of {printable(revisits.archive)}", "bold")]
    if revisits.visited or not revisits.problem:
        parts.append(_revisit_numbers(revisits))
    if revisits.reasons:
        parts += [Text("\nFailed visits", "bold"), reason_table(revisits.reasons)]
    if revisits.problem or revisits.ending:
        why = revisits.problem or "what was not visited is still due"
        ending = printable(f"Stopped ({revisits.ending or 'store_error'}). {sentence(why)}")
        parts.append(Text(f"\n{ending}", "bold"))
    elif not revisits.due:
        parts.append(Text("\nNothing is due.", "bold"))
    if revisits.next_visit is not None and not revisits.problem:
        parts.append(literal(next_due(revisits.next_visit)))
    return Group(*parts)


def next_due(when: float) -> str:
    """Return the sentence that says when a page is due next, and how to be sooner."""
    return as_called(
        f"The next page is due at {as_text(when)}; `scrapy crawl revisit -a due=all` visits all"
        " now, -a due=URL one."
    )


def _revisit_numbers(revisits: Revisits) -> RenderableType:
    facts = {
        "due": str(revisits.due),
        "visited": str(revisits.visited),
        "new versions": str(revisits.new),
        "unchanged": f"{revisits.unchanged}, {revisits.not_modified} of them by HTTP 304",
        "gone": str(revisits.gone),
        "bodies": f"{size_of(revisits.raw_bytes)}, {size_of(revisits.new_bytes)} of it new",
    }
    return facts_table(facts.items())


def collected_tables(collected: Collected) -> RenderableType:
    kept, rate = counted(collected.kept, "file"), ""
    if collected.seconds >= 1 and collected.kept:
        each = size_of(round(collected.kept_bytes / collected.seconds))
        rate = f" in {collected.seconds:.0f} s ({each}/s)"
    parts: list[RenderableType] = [
        Text(f"\nMedia in {collected.place}", "bold"),
        Text(f"{kept} downloaded ({size_of(collected.kept_bytes)}){rate}"),
        *collection_tables(collected.summary),
    ]
    if collected.problem or collected.ending:
        why = sentence(collected.problem) if collected.problem else ""
        how = f"Stopped ({collected.ending}); run the same command to continue."
        parts.append(Text(f"\n{how} {why}".rstrip(), "bold"))
    return Group(*parts)


def collection_tables(summary: Media) -> list[RenderableType]:
    parts: list[RenderableType] = [facts_table(_numbers(summary))]
    if summary.reasons:
        reasons = Counter({reason: count for reason, count in summary.reasons.items() if reason})
        parts += [literal(""), Text("Not downloaded", "bold"), reason_table(reasons)]
    return parts


def _numbers(summary: Media) -> Iterator[tuple[str, ...]]:
    for kind in sorted(summary.held):
        yield kind, f"{summary.held[kind]:,} files", size_of(summary.held_bytes[kind])
    total, addresses = sum(summary.held.values()), summary.count(State.HELD)
    yield "held", f"{total:,} files", size_of(sum(summary.held_bytes.values()))
    if addresses != total:
        yield "", f"at {addresses:,} addresses"
    for state in (State.WAITING, State.TAKEN, State.FAILED, State.SKIPPED):
        if summary.count(state):
            yield str(state), f"{summary.count(state):,} addresses"
