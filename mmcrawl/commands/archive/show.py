"""`scrapy archive show`, `rebuild` and `block`: one version or block; `due`: what `scrapy crawl
revisit` would visit, and why.
"""

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from math import inf
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.format.blocks import layout_digest, layout_of
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.levels import LevelManager
from mmcrawl.archive.lives import BlockLife, BlockPage, StoredAnew
from mmcrawl.archive.model import StoredBlock, Version, as_date, as_text, leaves
from mmcrawl.archive.revisits import Due, in_order, schedule
from mmcrawl.blocks.drawing import short_path
from mmcrawl.commands.archive.answers import (
    cut_off,
    each_answer,
    of_which,
    print_line,
    print_problems,
    write_body,
)
from mmcrawl.commands.archive.listing import version_record
from mmcrawl.commands.base import as_json
from mmcrawl.commands.terminal.tables import facts_table, kind_of, literal, next_due
from mmcrawl.commands.terminal.telling import complain
from mmcrawl.errors import StoreError
from mmcrawl.text.writing import counted, printable

_TOPIC = 90
_WORDS = 60
_HEADERS = ("etag", "last-modified", "location", "server")

_HEAD = f"{'due since':>9}  {'last visit':<23}  {'changes a day':>13}  page"


def _version_of(options: Namespace, archive: Archive) -> Version:
    """Return the version that --version or --at selects."""
    if options.version is not None:
        return archive.version(options.args[0], options.version)
    return archive.get(options.args[0], options.at)


def check_version(options: Namespace) -> None:
    """Refuse two ways to say which version is meant."""
    if options.at is not None and options.version is not None:
        raise ValueError("give either --at or --version")


def version(archive: Archive, options: Namespace, console: Console) -> int:
    chosen = _version_of(options, archive)
    page = archive.page(chosen)
    anew = next(each for each in archive.anew(chosen.url) if each.version == chosen.number)
    if options.json:
        record = version_record(chosen, page.blocks, anew=anew)
        print(as_json(record | _pieces_record(page, anew) if options.blocks else record))
        return 0
    problems = []
    try:
        reason = LevelManager(archive).choose(chosen.url).reason
    except StoreError as error:
        problems.append(str(error))
        reason = "not known"
    lines = _pieces(page, anew) if options.blocks else map(_block_line, page.blocks)
    heading = Text(printable(chosen.url), "bold")
    facts = facts_table(_facts(page, anew, reason))
    console.print(Group(heading, facts, Text(""), *lines))
    return print_problems(problems)


def _facts(
    page: ArchivedPage, anew: StoredAnew, next_level: str
) -> Iterator[tuple[str, RenderableType]]:
    version = page.version
    yield "version", f"{version.number} of {as_text(version.time)}"
    yield "status", literal(f"{version.status} {version.reason}")
    yield "type", literal(version.content_type or version.header("content-type"))
    yield "size", f"{version.size:,} bytes, SHA-256 {version.digest}"
    yield "language", literal(f"{version.language or 'not declared'}; {version.encoding}")
    for name in _HEADERS:
        if value := version.header(name):
            yield name, literal(value)
    if version.method:
        yield "cut by", f"{version.method}, level {version.level}: {len(page.blocks)} blocks"
        yield "layout", layout_digest(page.body, page.blocks)
        yield "next time", next_level
    if anew.blocks is not None:
        yield "new", _new(anew)


def _new(anew: StoredAnew) -> str:
    """Return what was new in a version, in the paper's terms."""
    layout = ", and the layout" if anew.new_layout else ""
    return f"{len(anew.new)} of {anew.blocks} blocks, {anew.new_bytes:,} bytes{layout}"


def _pieces(page: ArchivedPage, anew: StoredAnew) -> Iterator[Text]:
    """Yield layout and blocks of a page in order: the layout between is all that is no block."""
    blocks = page.blocks
    layout = iter(layout_of(blocks, len(page.body)))
    innermost = set(map(id, leaves(blocks)))
    for index, block in enumerate(blocks):
        if id(block) in innermost:
            yield from _layout_lines(page, *next(layout))
        yield _whole_line(page, block, is_new=index in anew.new)
    yield from _layout_lines(page, *next(layout))


def _layout_lines(page: ArchivedPage, start: int, end: int) -> Iterator[Text]:
    if start < end:
        source = page.body[start : min(end, start + 4 * _WORDS)]
        words = source.decode(page.version.encoding or "latin-1", "replace")
        yield cut_off(Text(f"  layout {start}–{end}  {printable(words, _WORDS)}", "dim"))


def _whole_line(page: ArchivedPage, block: StoredBlock, *, is_new: bool) -> Text:
    line = Text("+ " if is_new else "  ", "green")
    line.append(f"{block.digest} {block.start}–{block.end}  ", "default")
    line.append(*kind_of(block.kind))
    line.append(f"  level {block.level} {short_path(block.path)}  ", "dim")
    line.append(f"{printable(block.topic, _WORDS)}", "bold default")
    line.append(f"  {printable(page.text(block), _WORDS)}", "default")
    return cut_off(line)


def _pieces_record(page: ArchivedPage, anew: StoredAnew) -> dict[str, Any]:
    pieces = [{"start": s, "end": e} for s, e in layout_of(page.blocks, len(page.body))]
    blocks = [
        asdict(block) | {"new": index in anew.new, "text": printable(page.text(block), _WORDS)}
        for index, block in enumerate(page.blocks)
    ]
    digest = layout_digest(page.body, page.blocks)
    return {"layout": {"digest": digest, "pieces": pieces}, "blocks": blocks}


def _block_line(block: StoredBlock) -> Text:
    line = Text("  " * (block.level - 1))
    line.append(*kind_of(block.kind))
    line.append(f"  {printable(block.topic, _TOPIC)}")
    line.append(f"  {block.start}–{block.end} {short_path(block.path)} {block.digest}", "dim")
    return cut_off(line)


def check_rebuild(options: Namespace) -> None:
    check_version(options)
    if not options.output:
        raise ValueError("say where to with -o FILE, or -o - for standard output")


def rebuild(archive: Archive, options: Namespace, console: Console) -> int:
    chosen = _version_of(options, archive)
    write_body(archive.rebuild(chosen).body, options.output)
    if options.output != "-":
        console.print(
            Text(
                f"{options.output}: version {chosen.number} of {as_text(chosen.time)},"
                f" {chosen.size:,} bytes, SHA-256 as when it was stored"
            ),
            soft_wrap=True,
        )
    return 0


# -- block ----------------------------------------------------------------------------------------


_BLOCK_WORDS = 200


def block(archive: Archive, options: Namespace, console: Console) -> int:
    life = archive.block(options.args[0])
    last = life.pages[0]
    page = archive.page(archive.version(last.url, last.versions[-1]))
    if options.text:
        console.print(literal(page.text(last.block)), soft_wrap=True)
    elif options.json:
        print(as_json(_life_record(life, page)))
    else:
        for line in _lines(life, page):
            print_line(console, line)
        if life.unsegmented:
            complain(
                "archive",
                f"{life.unsegmented} pages were not looked at: `scrapy archive seal` cuts them",
            )
    return 0


def _life_record(life: BlockLife, page: ArchivedPage) -> dict[str, Any]:
    pages = [_page_record(each) for each in life.pages]
    text = page.text(life.pages[0].block)
    return asdict(life) | {"hosts": life.hosts, "text": text, "pages": pages}


def _page_record(page: BlockPage) -> dict[str, Any]:
    return asdict(page) | {
        name: as_date(getattr(page, name)) for name in ("since", "until", "gone")
    }


def _lines(life: BlockLife, page: ArchivedPage) -> Iterator[Text]:
    block = life.pages[0].block
    head = Text(life.digest, "bold")
    for kind in life.kinds:
        head.append("  ").append(*kind_of(kind))
    yield head.append(f"  {life.size:,} bytes", "default")
    if block.topic:
        yield Text(f"topic  {printable(block.topic)}")
    yield Text(f"text   {printable(page.text(block), _BLOCK_WORDS)}")
    since = min(each.since for each in life.pages)
    until = max(each.until for each in life.pages)
    yield Text(
        f"on {counted(len(life.pages), 'page')} of {counted(life.hosts, 'site')}, in"
        f" {counted(life.versions, 'version')}, from {as_text(since)} to {as_text(until)}"
    )
    for each in life.pages:
        yield literal(each.url)
        gone = f"gone {as_text(each.gone)}" if each.gone is not None else "still there"
        yield Text(
            f"  versions {_runs(each.versions)}; {as_text(each.since)} to {as_text(each.until)},"
            f" {gone}; {short_path(each.block.path)}"
        )


def _runs(numbers: Sequence[int]) -> str:
    """Return numbers in order as people write them.

    >>> _runs([1, 2, 3, 5])
    '1–3, 5'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)


def due(archive: Archive, options: Namespace, console: Console) -> int:
    now = time.time() if options.at is None else options.at
    found, later = [], inf
    for one in schedule(archive, now, options.config.revisits):
        if one.next_visit <= now:
            found.append(one)
        else:
            later = min(later, one.next_visit)
    found = in_order(found)
    shown = found[: options.limit]
    each_answer(options, console, shown, _record, partial(due_lines, now=now), head=_HEAD)
    if not options.json:
        more = of_which(len(shown), len(found))
        console.print(Text(f"{len(found)} due at {as_text(now)}{more}", "bold"))
        if later < inf:
            print_line(console, next_due(later))
    return 0


def _record(one: Due) -> dict[str, Any]:
    return {
        "url": one.url,
        "last_visit": as_date(one.last_visit),
        "next_visit": as_date(one.next_visit),
        "changes_per_day": one.rate,
        "why": one.why,
    }


def due_lines(one: Due, now: float) -> Iterator[Text]:
    """Yield a visit that is due, and its reason in a line below."""
    rate = "" if one.rate is None else f"{one.rate:.2g}"
    since, last = _ago(now - one.next_visit), as_text(one.last_visit)
    line = Text.assemble(f"{since:>9}  ", (f"{last:<23}", "dim"), f"  {rate:>13}  ")
    yield line.append_text(literal(one.url))
    yield Text(f"{'':>9}  {one.why}", "dim")


def _ago(seconds: float) -> str:
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return "now"
