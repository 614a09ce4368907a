"""`scrapy archive diff`: what changed from one version to another."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import BlockChange, Difference, WordChange, as_text
from mmcrawl.blocks.drawing import printable, short_path
from mmcrawl.commands.archive.subcommand import Options, Subcommand, as_json
from mmcrawl.commands.archive.versions import version_record
from mmcrawl.errors import StoreError
from mmcrawl.terminal.archive import KIND_STYLES

_NOISE = ("advertisement",)
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


def _run(archive: Archive, options: Options, console: Console) -> int:
    url = options.args[0]
    if options.numbers:
        old, new = (archive.version(url, number) for number in options.numbers)
    else:
        versions = archive.versions(url) or [archive.get(url)]
        if len(versions) < 2:
            raise StoreError(f"{url} has one version only; there is nothing to compare it with")
        old, new = versions[-2:]
    difference = archive.diff(old, new)
    if options.kinds:
        blocks = tuple(block for block in difference.blocks if block.kind in options.kinds)
        difference = replace(difference, blocks=blocks)
    elif not options.all:
        difference = difference.without(_NOISE)
    if options.json:
        print(as_json(_record(difference)))
    else:
        console.print(_view(difference, everything=options.all))
    return 0


def _record(difference: Difference) -> dict[str, Any]:
    return {
        "old": version_record(difference.old),
        "new": version_record(difference.new),
        "same": difference.same,
        "layout_changed": difference.layout_changed,
        "blocks": [asdict(block) | {"kind": block.kind} for block in difference.blocks],
    }


def _view(difference: Difference, *, everything: bool = False) -> RenderableType:
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
    return [head, shown_words(change.words)]


def shown_words(words: Sequence[WordChange]) -> Text:
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


DIFF = Subcommand(
    name="diff",
    run=_run,
    what="what changed from one version to another",
    arguments="URL [V1 V2] [--kinds KINDS|--all]",
    least=1,
    most=3,
    options="kinds all json",
)
