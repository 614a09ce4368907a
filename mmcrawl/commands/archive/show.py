"""`scrapy archive show` and `rebuild`: facts and blocks of a version, and its bytes."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text
from scrapy.exceptions import UsageError

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.format.blocks import layout_digest, layout_of
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.levels import LevelManager
from mmcrawl.archive.lives import StoredAnew
from mmcrawl.archive.model import StoredBlock, as_text, leaves
from mmcrawl.blocks.drawing import printable, short_path
from mmcrawl.commands.archive.subcommand import (
    AT,
    BODY,
    JSON,
    OVERWRITE,
    VERSION,
    Option,
    Options,
    Subcommand,
    as_json,
    check_version,
    write_body,
)
from mmcrawl.commands.archive.versions import version_record
from mmcrawl.terminal.archive import KIND_STYLES
from mmcrawl.terminal.crawl import facts_table, literal
from mmcrawl.terminal.targets import new_file

OUTPUT = Option("-o", "where to, - for standard output", "", "FILE", is_target=True)

_TOPIC = 90
_WORDS = 60
_HEADERS = ("etag", "last-modified", "location", "server")
BLOCKS = Option("--blocks", "the layout too, and what each block says and is", False)


def _show(archive: Archive, options: Options, console: Console) -> int:
    version = options.found(archive)
    if options[BODY]:
        write_body(archive.rebuild(version).body, "-")
        return 0
    page = archive.page(version)
    anew = next(each for each in archive.anew(version.url) if each.version == version.number)
    if options[JSON]:
        record = version_record(version, page.blocks, anew=anew)
        print(as_json(record | _pieces_record(page, anew) if options[BLOCKS] else record))
        return 0
    choice = LevelManager(archive).choose(version.url)
    lines = _pieces(page, anew) if options[BLOCKS] else map(_block_line, page.blocks)
    heading = Text(printable(version.url), "bold")
    facts = facts_table(_facts(page, anew, choice.reason))
    console.print(Group(heading, facts, Text(""), *lines))
    return 0


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
    yield "new", _new(anew)


def _new(anew: StoredAnew) -> str:
    """Return what was stored anew for a version, in the paper's terms and in the store's."""
    written = f"{anew.chunk_bytes:,} bytes written in chunks before compression"
    if anew.blocks is None:
        return written
    layout = ", and the layout" if anew.new_layout else ""
    return f"{len(anew.new)} of {anew.blocks} blocks, {anew.new_bytes:,} bytes{layout}; {written}"


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
        yield _cut_off(Text(f"  layout {start}–{end}  {printable(words, _WORDS)}", "dim"))


def _whole_line(page: ArchivedPage, block: StoredBlock, *, is_new: bool) -> Text:
    line = Text("+ " if is_new else "  ", "green")
    line.append(f"{block.digest} {block.start}–{block.end}  ", "default")
    line.append(block.kind or "body", KIND_STYLES.get(block.kind, "default"))
    line.append(f"  level {block.level} {short_path(block.path)}  ", "dim")
    line.append(f"{printable(block.topic, _WORDS)}", "bold default")
    line.append(f"  {printable(page.text(block), _WORDS)}", "default")
    return _cut_off(line)


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
    line.append(block.kind or "body", KIND_STYLES.get(block.kind, ""))
    line.append(f"  {printable(block.topic, _TOPIC)}")
    line.append(f"  {block.start}–{block.end} {short_path(block.path)} {block.digest}", "dim")
    return _cut_off(line)


def _cut_off(line: Text) -> Text:
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


SHOW = Subcommand(
    "show",
    _show,
    "facts and blocks of a version",
    "URL [--at TIME|--version N] [--blocks|--body]",
    (1, 1),
    check=check_version,
    options=(AT, VERSION, BLOCKS, BODY, JSON),
)


def _check_rebuild(options: Options) -> None:
    check_version(options)
    if not options[OUTPUT]:
        raise UsageError("say where to with -o FILE, or -o - for standard output")
    new_file(options[OUTPUT], "-o", overwrite=options[OVERWRITE])


def _rebuild(archive: Archive, options: Options, console: Console) -> int:
    version = options.found(archive)
    write_body(archive.rebuild(version).body, options[OUTPUT])
    if options[OUTPUT] != "-":
        console.print(
            Text(
                f"{options[OUTPUT]}: version {version.number} of {as_text(version.time)},"
                f" {version.size:,} bytes, SHA-256 as when it was stored"
            ),
            soft_wrap=True,
        )
    return 0


REBUILD = Subcommand(
    "rebuild",
    _rebuild,
    "write a version, byte for byte",
    "URL [--at TIME|--version N] -o FILE",
    (1, 1),
    check=_check_rebuild,
    options=(AT, VERSION, OUTPUT, OVERWRITE),
)
