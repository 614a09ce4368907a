"""What a person sees of an archive: lists, versions with their blocks, numbers, what is due.

The difference of two versions as a person sees it: block by block, words inside of a block.

What a search of the archive found, as a person sees it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mmcrawl.archive.model import (
    ArchiveStats,
    BlockChange,
    CheckReport,
    Difference,
    StoredBlock,
    Version,
    Visit,
    WordChange,
    as_text,
)
from mmcrawl.archive.revisits import Due
from mmcrawl.archive.search.hits import Hit
from mmcrawl.archive.search.searching import Results
from mmcrawl.blocks.drawing import printable, short_path
from mmcrawl.terminal.crawl import literal, sentence, size_of
from mmcrawl.terminal.program import as_called

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
}
"""How each kind of block is written."""

_MOST_HOSTS = 20
_MOST_REASONS = 8
_TOPIC = 90
_HEADERS = ("etag", "last-modified", "location", "server")


@dataclass(frozen=True, slots=True)
class Revisits:
    """What a run of visits came to.

    Attributes:
        archive: How it is called.
        due: URLs that were due.
        visited: Visits that are in the archive now.
        new, unchanged: What they found; `not_modified` of the latter were answered with 304.
        gone: Those answered with 404 or 410.
        raw_bytes, new_bytes: Of the bodies, and of those what the archive did not hold.
        reasons: Why others could not be had.
        ending: Why it stopped early, "" if it did not; `problem` says it in a sentence.
    """

    archive: str
    due: int
    visited: int
    new: int
    unchanged: int
    not_modified: int
    gone: int
    raw_bytes: int
    new_bytes: int
    reasons: Counter[str]
    ending: str
    problem: str


def url_line(url: str, visits: Sequence[Visit]) -> Text:
    """Return a line of a list of URLs."""
    versions = sum(visit.changed for visit in visits)
    last = as_text(visits[-1].time) if visits else ""
    return Text.assemble(
        f"{versions:>5} {len(visits):>6}  ", (f"{last:<23}", "dim"), "  ", literal(url)
    )


def version_lines(versions: Sequence[Version], visits: Sequence[Visit]) -> Iterator[Text]:
    """Yield the versions of a URL, each with the number of visits that found it, under a head."""
    found = Counter(visit.version for visit in visits)
    yield _row(
        "vers.", "visits", "time", "status", "size", "cut by", "digest", "type", style="bold"
    )
    for version in versions:
        yield _row(
            str(version.number),
            str(found[version.number]),
            as_text(version.time),
            str(version.status),
            f"{version.size:,}",
            f"{version.method} {version.level}" if version.method else "–",
            version.digest[:12],
            version.content_type or version.header("content-type"),
        )


def _row(*cells: str, style: str = "") -> Text:
    number, visits, time, status, size, cut_by, digest, kind = cells
    line = Text(f"{number:>5} {visits:>6}  {time:<23} {status:>6} {size:>11}  ", style)
    return line.append(f"{cut_by:<9}  {digest:<12}  ", "dim").append_text(literal(kind))


def version_view(
    version: Version, blocks: Sequence[StoredBlock], next_level: str
) -> RenderableType:
    """Return the facts of a version and its blocks."""
    facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    facts.add_column(style="dim")
    facts.add_column(overflow="fold")
    facts.add_row("version", f"{version.number} of {as_text(version.time)}")
    facts.add_row("status", literal(f"{version.status} {version.reason}"))
    facts.add_row("type", literal(version.content_type or version.header("content-type")))
    facts.add_row("size", f"{version.size:,} bytes, SHA-256 {version.digest}")
    facts.add_row("language", literal(f"{version.language or 'not declared'}; {version.encoding}"))
    for name in _HEADERS:
        if value := version.header(name):
            facts.add_row(name, literal(value))
    if version.method:
        facts.add_row("cut by", f"{version.method}, level {version.level}: {len(blocks)} blocks")
        facts.add_row("next time", next_level)
    return Group(Text(printable(version.url), "bold"), facts, Text(""), *map(block_line, blocks))


def block_line(block: StoredBlock) -> Text:
    """Return a line for a block, moved in as deep as it lies."""
    line = Text("  " * (block.level - 1))
    line.append(block.kind or "body", KIND_STYLES.get(block.kind, ""))
    line.append(f"  {printable(block.topic, _TOPIC)}")
    line.append(f"  {block.start}–{block.end} {short_path(block.path)} {block.digest}", "dim")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def stats_tables(stats: ArchiveStats) -> RenderableType:
    """Return the numbers of an archive, and its hosts."""
    totals = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value in (
        ("URLs", f"{stats.urls:,}"),
        ("versions", f"{stats.versions:,}"),
        ("visits", f"{stats.visits:,}"),
        ("blocks", _blocks(stats)),
        ("distinct chunks", f"{stats.chunks:,}"),
        ("bodies as received", size_of(stats.raw_bytes)),
        ("distinct chunks of them", size_of(stats.chunk_bytes)),
        ("the archive takes", f"{size_of(stats.stored_bytes)}, one byte for {stats.ratio:.1f}"),
    ):
        totals.add_row(name, value)
    hosts = Table(box=box.SIMPLE_HEAD)
    hosts.add_column("host", overflow="fold")
    for column in ("URLs", "versions", "bytes"):
        hosts.add_column(column, justify="right")
    ordered = sorted(stats.hosts.items(), key=lambda item: (-item[1].raw_bytes, item[0]))
    for host, numbers in ordered[:_MOST_HOSTS]:
        hosts.add_row(
            literal(host), str(numbers.urls), str(numbers.versions), size_of(numbers.raw_bytes)
        )
    if len(ordered) > _MOST_HOSTS:
        hosts.add_row(f"… and {len(ordered) - _MOST_HOSTS} more", "", "", "")
    return Group(totals, hosts) if ordered else totals


def _blocks(stats: ArchiveStats) -> str:
    if not stats.uncut:
        return f"{stats.blocks:,}"
    pages = "1 page" if stats.uncut == 1 else f"{stats.uncut:,} pages"
    known = f"{stats.blocks:,}, and those of {pages}" if stats.blocks else f"those of {pages}"
    return as_called(f"{known} that are cut on demand; `scrapy archive pack` keeps and counts them")


def check_text(report: CheckReport) -> RenderableType:
    """Return what a check found."""
    lines = [
        Text(
            f"{report.urls:,} URLs, {report.versions:,} versions rebuilt and compared,"
            f" {report.packs:,} packs, {report.chunks:,} chunks"
        )
    ]
    for fault in report.faults:
        style, state = ("yellow", "repaired: ") if fault.repaired else ("bold red", "")
        lines.append(Text.assemble((state, style), (printable(fault.what), style)))
    harmless = "harmless; --repair removes them" if report.clean else "harmless"
    for count, what in ((report.leftovers, harmless), (report.removed, "removed")):
        if count:
            leftovers = "1 leftover" if count == 1 else f"{count} leftovers"
            lines.append(Text(f"{leftovers} of interrupted writes: {what}", "dim"))
    end = ("nothing is wrong", "bold green") if report.clean else ("damaged", "bold red")
    return Group(*lines, Text(*end))


def due_lines(found: Iterable[Due], now: float) -> Iterator[Text]:
    """Yield the visits that are due, each with its reason in a line below, under a head."""
    yield Text(f"{'due since':>9}  {'last visit':<23}  {'changes a day':>13}  page", "bold")
    for item in found:
        rate = "" if item.rate is None else f"{item.rate:.2g}"
        since, last = _ago(now - item.next_visit), as_text(item.last_visit)
        yield Text.assemble(f"{since:>9}  ", (f"{last:<23}", "dim"), f"  {rate:>13}  ").append_text(
            literal(item.url)
        )
        yield Text(f"{'':>9}  {item.why}", "dim")


def revisit_tables(revisits: Revisits) -> RenderableType:
    """Return the tables that `scrapy crawl revisit` ends with."""
    parts: list[RenderableType] = [Text(f"\nRevisits of {printable(revisits.archive)}", "bold")]
    if revisits.visited or not revisits.problem:
        parts.append(_revisit_numbers(revisits))
    if revisits.reasons:
        reasons = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        reasons.add_column(justify="right")
        for reason, count in revisits.reasons.most_common(_MOST_REASONS):
            reasons.add_row(str(count), literal(reason))
        if len(revisits.reasons) > _MOST_REASONS:
            reasons.add_row("", f"… and {len(revisits.reasons) - _MOST_REASONS} more")
        parts += [Text("\nNot had", "bold"), reasons]
    if revisits.problem or revisits.ending:
        why = revisits.problem or "what was not visited is still due"
        ending = printable(f"Stopped ({revisits.ending or 'store_error'}). {sentence(why)}")
        parts.append(Text(f"\n{ending}", "bold"))
    elif not revisits.due:
        parts.append(Text("\nNothing is due.", "bold"))
    return Group(*parts)


def _revisit_numbers(revisits: Revisits) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row("due", str(revisits.due))
    table.add_row("visited", str(revisits.visited))
    table.add_row("new versions", str(revisits.new))
    table.add_row("unchanged", f"{revisits.unchanged}, {revisits.not_modified} of them by HTTP 304")
    table.add_row("gone", str(revisits.gone))
    table.add_row(
        "bodies", f"{size_of(revisits.raw_bytes)}, {size_of(revisits.new_bytes)} of it new"
    )
    return table


def _ago(seconds: float) -> str:
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return "now"


_SIGNS = {
    "kept": (" ", "dim"),
    "moved": ("↕", "cyan"),
    "changed": ("~", "yellow"),
    "added": ("+", "green"),
    "removed": ("-", "red"),
}
_WORDS = {"same": "", "removed": "red strike", "added": "green"}
_AROUND = 40  # characters of unchanged text that are shown beside a change
_BLOCK_TOPIC = 80


def difference_view(difference: Difference, *, everything: bool = False) -> RenderableType:
    """Return what became of each block; of those that were kept only how many, unless wished."""
    old, new = difference.old, difference.new
    lines: list[RenderableType] = [
        Text(printable(new.url), "bold"),
        Text(
            f"version {old.number} of {as_text(old.time)} → version {new.number} of"
            f" {as_text(new.time)}"
        ),
        Text(""),
    ]
    for change in difference.blocks:
        if everything or change.change != "kept":
            lines += _block_lines(change)
    counts = ", ".join(f"{count} {name}" for name in _SIGNS if (count := difference.count(name)))
    lines += [Text(""), Text(f"blocks: {counts or 'none'}", "bold")]
    if difference.same:
        lines.append(Text("the same, byte for byte", "bold green"))
    elif difference.layout_changed:
        lines.append(Text("the layout between the blocks changed as well"))
    return Group(*lines)


def _block_lines(change: BlockChange) -> list[RenderableType]:
    sign, style = _SIGNS[change.change]
    block = change.new or change.old
    if block is None:
        return []
    head = Text.assemble(
        (f"{sign} ", style), (change.kind or "body", KIND_STYLES.get(change.kind, ""))
    )
    head.append(f"  {printable(block.topic, _BLOCK_TOPIC)}", style)
    head.append(f"  {short_path(block.path)}", "dim")
    head.no_wrap, head.overflow = True, "ellipsis"
    if change.change != "changed":
        return [head]
    if not change.words:
        return [head, Text("    only markup differs", "dim")]
    return [head, _words(change.words)]


def _words(words: Sequence[WordChange]) -> Text:
    """Return the text of a changed block, unchanged stretches shortened."""
    text = Text("    ")
    for index, word in enumerate(words):
        shown = printable(word.text)
        if word.change == "same" and len(shown) > 2 * _AROUND:
            before = shown[:_AROUND] + " " if index else ""
            after = " " + shown[-_AROUND:] if index + 1 < len(words) else ""
            shown = f"{before}…{after}"
        sign = {"removed": "[-", "added": "{+"}.get(word.change, "")
        end = {"removed": "-]", "added": "+}"}.get(word.change, "")
        text.append(f"{sign}{shown}{end}", _WORDS[word.change])
        text.append(" ")
    return text


_HIT_TOPIC = 80


def hits_view(results: Results) -> RenderableType:
    """Return the pages that were found, each by its best block."""
    lines: list[RenderableType] = []
    for hit in results.hits:
        lines += [*_hit_lines(hit), Text("")]
    shown = f", of which {len(results.hits)} are shown" if len(results.hits) < results.total else ""
    pages = "1 page" if results.total == 1 else f"{results.total} pages"
    lines.append(Text(f"{pages} found{shown}", "bold"))
    return Group(*lines)


def _hit_lines(hit: Hit) -> list[Text]:
    head = Text.assemble((printable(hit.url), "bold"))
    head.overflow = "fold"
    about = Text.assemble(
        (hit.kind or "body", KIND_STYLES.get(hit.kind, "")),
        f"  {printable(hit.topic, _HIT_TOPIC)}",
    )
    about.no_wrap, about.overflow = True, "ellipsis"
    seen = as_text(hit.first_time)
    if hit.version != hit.first_version:
        seen += f" to {as_text(hit.time)}"
    more = f"; {hit.blocks - 1} more blocks" if hit.blocks > 1 else ""
    return [head, about, _snippet(hit), Text(f"seen {seen}{more}", "dim")]


def _snippet(hit: Hit) -> Text:
    """Return the text of the hit with the words that match in colour."""
    snippet = hit.snippet
    text = Text("    ")
    end = 0
    for start, stop in snippet.marks:
        text.append(_clean(snippet.text[end:start]))
        text.append(_clean(snippet.text[start:stop]), "bold yellow")
        end = stop
    text.append(_clean(snippet.text[end:]))
    return text


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
