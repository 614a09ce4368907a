"""`scrapy archive list`, `versions` and `stats`: pages, their versions, how much is archived."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.comparing.change_kinds import shown_kinds, word_changes
from mmcrawl.archive.comparing.changes import BlockChange, Difference, WordChange
from mmcrawl.archive.comparing.comparison import difference
from mmcrawl.archive.lives import StoredAnew
from mmcrawl.archive.model import ArchiveStats, StoredBlock, Version, Visit, as_date, as_text
from mmcrawl.blocks.drawing import short_path
from mmcrawl.commands.archive.answers import (
    answer,
    cut_off,
    each_answer,
    print_line,
    print_problems,
)
from mmcrawl.commands.base import as_json, whole
from mmcrawl.commands.terminal.tables import facts_table, folded, kind_of, literal, right
from mmcrawl.errors import StoreError
from mmcrawl.text.writing import as_called, counted, printable, size_of

_MOST_HOSTS = 20
_HEAD = f"{'vers.':>5} {'visits':>6}  {'last visit':<23}  URL"


def pages(archive: Archive, options: Namespace, console: Console) -> int:
    which = options.args[0] if options.args else ""
    prefix = which if "://" in which else None
    host = which.lower() if which and prefix is None else None
    found = ((url, archive.visits(url)) for url in archive.urls(host, prefix))
    if not each_answer(options, console, found, _record, _lines, head=_HEAD) and which:
        what = f"URL that begins with {which}" if prefix else f"page of host {which}"
        raise StoreError(f"the archive has no {what}; `scrapy archive stats` shows the hosts")
    return 0


def _record(page: tuple[str, Sequence[Visit]]) -> dict[str, Any]:
    url, visits = page
    return {
        "url": url,
        "versions": sum(visit.changed for visit in visits),
        "visits": len(visits),
        "first_visit": as_date(visits[0].time) if visits else None,
        "last_visit": as_date(visits[-1].time) if visits else None,
    }


def _lines(page: tuple[str, Sequence[Visit]]) -> Iterator[Text]:
    record = _record(page)
    last = as_text(page[1][-1].time) if page[1] else ""
    yield Text.assemble(
        f"{record['versions']:>5} {record['visits']:>6}  ",
        (f"{last:<23}  ", "dim"),
        literal(record["url"]),
    )


def stats(archive: Archive, options: Namespace, console: Console) -> int:
    found = archive.stats()
    record = asdict(found) | {"ratio": round(found.ratio, 3)}
    return answer(options, console, record, _tables(found))


def _tables(stats: ArchiveStats) -> RenderableType:
    facts = {
        "URLs": f"{stats.urls:,}",
        "versions": f"{stats.versions:,}",
        "visits": f"{stats.visits:,}",
        "blocks": _blocks(stats),
        "layouts": _found_again(stats.layouts, stats.distinct_layouts),
        "bodies as received": size_of(stats.raw_bytes),
        "distinct bodies": size_of(stats.kept_bytes),
        "the archive takes": f"{size_of(stats.stored_bytes)}, one byte for {stats.ratio:.1f}",
    }
    totals = facts_table(facts.items())
    columns = map(right, ("URLs", "versions", "bytes"))
    hosts = Table(folded("host"), *columns, box=box.SIMPLE_HEAD)
    ordered = sorted(stats.hosts.items(), key=lambda item: (-item[1].raw_bytes, item[0]))
    for host, numbers in ordered[:_MOST_HOSTS]:
        hosts.add_row(
            literal(host), str(numbers.urls), str(numbers.versions), size_of(numbers.raw_bytes)
        )
    if len(ordered) > _MOST_HOSTS:
        hosts.add_row(f"… and {len(ordered) - _MOST_HOSTS} more", "", "", "")
    return Group(totals, hosts) if ordered else totals


def _blocks(stats: ArchiveStats) -> str:
    kept = _found_again(stats.blocks, stats.distinct_blocks)
    if not stats.unsegmented:
        return kept
    pages = counted(stats.unsegmented, "page")
    known = f"{kept}, and those of {pages}" if stats.blocks else f"those of {pages}"
    return as_called(f"{known} that are cut on demand; `scrapy archive seal` keeps and counts them")


def _found_again(count: int, distinct: int) -> str:
    if not count:
        return "0"
    return f"{count:,}, of which {distinct:,} distinct: {1 - distinct / count:.1%} found again"


# -- versions -------------------------------------------------------------------------------------


def versions(archive: Archive, options: Namespace, console: Console) -> int:
    failures: list[str] = []
    found = archive.versions(options.args[0], failures.append)
    if not found and not failures:
        archive.get(options.args[0])  # which says why there is none
    visits = archive.visits(options.args[0])
    anew = {each.version: each for each in archive.anew(options.args[0])}
    if options.json:
        count = Counter(visit.version for visit in visits)
        for each in found:
            record = version_record(each, anew=anew.get(each.number), visits=count[each.number])
            print(as_json(record))
    else:
        for line in version_lines(found, visits, anew):
            print_line(console, line)
    return print_problems(failures)


def version_record(
    version: Version,
    blocks: Sequence[StoredBlock] | None = None,
    visits: int | None = None,
    anew: StoredAnew | None = None,
) -> dict[str, Any]:
    """Return a version, with those of the rest that are given."""
    record = asdict(version) | {"date": as_date(version.time)}
    record["headers"] = [list(header) for header in version.headers]
    if visits is not None:
        record["visits"] = visits
    if anew is not None:
        record["anew"] = {
            "blocks": anew.blocks,
            "new_blocks": None if anew.blocks is None else len(anew.new),
            "new_bytes": None if anew.blocks is None else anew.new_bytes,
            "new_layout": anew.new_layout,
        }
    if blocks is not None:
        record["blocks"] = [asdict(block) for block in blocks]
    return record


def version_lines(
    versions: Sequence[Version], visits: Sequence[Visit], anew: Mapping[int, StoredAnew]
) -> Iterator[Text]:
    """Yield a table of a URL's versions: visits, and what was new in each."""
    found = Counter(visit.version for visit in visits)
    yield _row(
        *("vers.", "visits", "time", "status", "size", "new blocks", "bytes"),
        *("cut by", "digest", "type"),
        style="bold",
    )
    for version in versions:
        yield _row(
            str(version.number),
            str(found[version.number]),
            as_text(version.time),
            str(version.status),
            f"{version.size:,}",
            *_new(anew.get(version.number)),
            f"{version.method} {version.level}" if version.method else "–",
            version.digest[:12],
            version.content_type or version.header("content-type"),
        )


def _new(anew: StoredAnew | None) -> tuple[str, str]:
    """Return the new blocks of a version, and their bytes."""
    if anew is None or anew.blocks is None:
        return "–", "–"
    layout = " +layout" if anew.new_layout else ""
    return f"{len(anew.new)} of {anew.blocks}{layout}", f"{anew.new_bytes:,}"


def _row(*cells: str, style: str = "") -> Text:
    number, visits, time, status, size, new, new_bytes, cut_by, digest, kind = cells
    line = Text(f"{number:>5} {visits:>6}  {time:<23} {status:>6} {size:>11}  ", style)
    line.append(f"{new:>18} {new_bytes:>9}  ")
    return line.append(f"{cut_by:<9}  {digest:<12}  ", "dim").append_text(literal(kind))


_SIGNS = {
    "kept": (" ", "dim"),
    "moved": ("↕", "cyan"),
    "changed": ("~", "yellow"),
    "recut": ("=", "dim"),
    "added": ("+", "green"),
    "removed": ("-", "red"),
}
_NAMES = {"recut": "partitioned differently"}
_WORDS = {"same": "", "removed": "red strike", "added": "green", "moved": "cyan"}
_MARKS = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}"), "moved": ("↕", "↕")}
_VERDICTS = {
    "same": "the same, byte for byte",
    "encoding": "encoding changed from {old} to {new}, text the same",
    "markup": "only markup differs, text the same",
    "layout": "layout changed, text the same",
    "links": "links or pictures changed, text the same",
}
_AROUND = 40  # characters of unchanged text that are shown beside a change
_BLOCK_TOPIC = 80


def diff(archive: Archive, options: Namespace, console: Console) -> int:
    url = options.args[0]
    failures: list[str] = []
    if chosen := numbers(options):
        old, new = (archive.version(url, number) for number in chosen)
    else:
        found = archive.versions(url, failures.append) or [archive.get(url)]
        if len(found) < 2:
            raise StoreError(f"{url} has only one version; there is nothing to compare")
        old, new = found[-2:]
    both = archive.page(old), archive.page(new)
    compared = shown = difference(*both)
    if wanted := options.kinds:
        changed = {change.kind for change in word_changes(compared)}
        kinds = shown_kinds(*both, wanted, changed)
        blocks = tuple(block for block in compared.blocks if block.kind in kinds)
        shown = replace(compared, blocks=blocks)
    elif not options.all:
        shown = compared.without()
    view = _diff_view(compared, shown, everything=options.all)
    answer(options, console, _diff_record(compared, shown), view)
    return print_problems(failures)


def numbers(options: Namespace) -> list[int]:
    """Return the versions that are compared; none for the last two."""
    if len(options.args) == 2:
        raise ValueError("give two versions of the page, V1 V2, or none for the last two")
    return [whole(text) for text in options.args[1:]]


def _diff_record(difference: Difference, shown: Difference) -> dict[str, Any]:
    return {
        "old": version_record(difference.old),
        "new": version_record(difference.new),
        "same": difference.same,
        "verdict": difference.verdict,
        "summary": difference.summary(),
        "encoding_changed": difference.encoding_changed,
        "layout_changed": difference.layout_changed,
        "layout_words": [asdict(word) for word in difference.layout_words],
        "headlines": asdict(difference.headlines) if difference.headlines else None,
        "blocks": [
            asdict(block) | {"kind": block.kind, "markup_only": block.markup_only}
            for block in shown.blocks
        ],
    }


def _diff_view(difference: Difference, shown: Difference, *, everything: bool) -> RenderableType:
    """Return the changes of a page, and of blocks; with `everything` of mere markup too."""
    old, new = difference.old, difference.new
    lines: list[RenderableType] = [
        Text(printable(new.url), "bold"),
        Text(
            f"version {old.number} of {as_text(old.time)} → version {new.number} of"
            f" {as_text(new.time)}"
        ),
        *_headline_lines(difference),
        *_diff_summary(difference),
        Text(""),
    ]
    for change in shown.blocks:
        quiet = change.markup_only or change.change in ("kept", "recut")
        if everything or not quiet:
            lines += _block_lines(change)
    if difference.layout_words:
        lines += [Text("~ text outside the blocks", "yellow"), shown_words(difference.layout_words)]
    return Group(*lines)


def _headline_lines(difference: Difference) -> Iterator[Text]:
    """Yield the changes of a front page's headlines, before its many blocks."""
    headlines = difference.headlines
    if headlines is None:
        return
    counts = f"{len(headlines.gone)} gone, {len(headlines.new)} new, {len(headlines.moved)} moved"
    yield Text(f"headlines: {counts}", "bold")
    for name, texts in (
        ("removed", headlines.gone),
        ("added", headlines.new),
        ("moved", headlines.moved),
    ):
        sign, style = _SIGNS[name]
        yield from (cut_off(Text(f"{sign} {printable(text)}", style)) for text in texts)


def _diff_summary(difference: Difference) -> list[Text]:
    """Return a line for the page as a whole, and one for its blocks by change and kind."""
    lines = []
    verdict = _VERDICTS.get(difference.verdict, "")
    if difference.verdict == "content" and difference.encoding_changed:
        verdict = "encoding changed from {old} to {new}, text as well"
    if verdict:
        old, new = (version.encoding or "none" for version in (difference.old, difference.new))
        lines.append(Text(verdict.format(old=old, new=new), "bold green"))
    counts = ", ".join(
        f"{sum(kinds.values())} {_NAMES.get(change, change)}"
        + (f" ({_kinds(kinds)})" if change != "kept" else "")
        for change, kinds in difference.summary().items()
    )
    lines.append(Text(f"blocks: {counts or 'none'}", "bold"))
    if difference.layout_words:
        lines.append(Text("the text outside the blocks also changed"))
    elif difference.layout_changed and difference.verdict == "content":
        lines.append(Text("the markup between the blocks also changed"))
    return lines


def _kinds(kinds: Mapping[str, int]) -> str:
    return ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in kinds.items())


def _block_lines(change: BlockChange) -> list[RenderableType]:
    sign, style = _SIGNS[change.change]
    head = Text.assemble((f"{sign} ", style), kind_of(change.kind))
    head.append(f"  {printable(change.block.topic, _BLOCK_TOPIC)}", style)
    head.append(f"  {short_path(change.block.path)}", "dim")
    cut_off(head)
    if change.words:
        return [head, shown_words(change.words)]
    return [head, Text("    only markup differs", "dim")] if change.markup_only else [head]


def shown_words(words: Sequence[WordChange]) -> Text:
    """Return the text of a changed block, unchanged stretches shortened."""
    text = Text("    ")
    for index, word in enumerate(words):
        shown = printable(word.text)
        if word.change == "same" and len(shown) > 2 * _AROUND:
            before = shown[:_AROUND] + " " if index else ""
            after = " " + shown[-_AROUND:] if index + 1 < len(words) else ""
            shown = f"{before}…{after}"
        sign, end = _MARKS[word.change]
        text.append(f"{sign}{shown}{end}", _WORDS[word.change])
        text.append(" ")
    return text
