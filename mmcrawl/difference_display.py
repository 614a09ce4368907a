"""The difference of two versions as a person sees it: block by block, words inside of a block."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from mmcrawl.archive import BlockChange, Difference, WordChange
from mmcrawl.archive.times import as_text
from mmcrawl.archive_display import KIND_STYLES
from mmcrawl.blocks.drawing import printable, short_path

__all__ = ["difference_view"]

_SIGNS = {
    "kept": (" ", "dim"),
    "moved": ("↕", "cyan"),
    "changed": ("~", "yellow"),
    "added": ("+", "green"),
    "removed": ("-", "red"),
}
_WORDS = {"same": "", "removed": "red strike", "added": "green"}
_AROUND = 40  # characters of unchanged text that are shown beside a change
_TOPIC = 80


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
    head.append(f"  {printable(block.topic, _TOPIC)}", style)
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
