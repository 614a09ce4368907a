"""`scrapy archive show`: facts and blocks of a version."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.levels import LevelManager
from mmcrawl.archive.model import StoredBlock, Version, as_text
from mmcrawl.blocks.drawing import printable, short_path
from mmcrawl.commands.archive.subcommand import Options, Subcommand, as_json, write_body
from mmcrawl.commands.archive.versions import version_record
from mmcrawl.terminal.archive import KIND_STYLES
from mmcrawl.terminal.crawl import literal

_TOPIC = 90
_HEADERS = ("etag", "last-modified", "location", "server")


def _run(archive: Archive, options: Options, console: Console) -> int:
    version = options.found(archive)
    if options.body:
        write_body(archive.rebuild(version).body, "-")
        return 0
    blocks = archive.blocks_of(version)
    if options.json:
        print(as_json(version_record(version, blocks)))
    else:
        choice = LevelManager(archive).choose(version.url)
        console.print(_view(version, blocks, choice.reason))
    return 0


def _view(version: Version, blocks: Sequence[StoredBlock], next_level: str) -> RenderableType:
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
    return Group(Text(printable(version.url), "bold"), facts, Text(""), *map(_block_line, blocks))


def _block_line(block: StoredBlock) -> Text:
    line = Text("  " * (block.level - 1))
    line.append(block.kind or "body", KIND_STYLES.get(block.kind, ""))
    line.append(f"  {printable(block.topic, _TOPIC)}")
    line.append(f"  {block.start}–{block.end} {short_path(block.path)} {block.digest}", "dim")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


SHOW = Subcommand(
    name="show",
    run=_run,
    what="facts and blocks of a version",
    arguments="URL [--at TIME|--version N] [--body]",
    least=1,
    most=1,
    options="at version body json",
)
