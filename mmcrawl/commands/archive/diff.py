"""`scrapy archive diff`: what changed from one version to another."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text
from scrapy.exceptions import UsageError

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.comparing.change_kinds import shown_kinds, word_changes
from mmcrawl.archive.comparing.changes import BlockChange, Difference, WordChange
from mmcrawl.archive.comparing.comparison import difference
from mmcrawl.archive.model import as_text
from mmcrawl.blocks.drawing import short_path
from mmcrawl.commands.archive.listing import version_record
from mmcrawl.commands.archive.subcommand import JSON, KINDS, Option, Options, Subcommand, as_json
from mmcrawl.commands.values import whole
from mmcrawl.errors import StoreError
from mmcrawl.terminal.archive import KIND_STYLES
from mmcrawl.text.writing import printable

_SIGNS = {
    "kept": (" ", "dim"),
    "moved": ("↕", "cyan"),
    "changed": ("~", "yellow"),
    "recut": ("=", "dim"),
    "added": ("+", "green"),
    "removed": ("-", "red"),
}
_NAMES = {"recut": "cut otherwise"}
_WORDS = {"same": "", "removed": "red strike", "added": "green", "moved": "cyan"}
_MARKS = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}"), "moved": ("↕", "↕")}
_VERDICTS = {
    "same": "the same, byte for byte",
    "encoding": "encoding changed from {old} to {new}, text the same",
    "markup": "only markup differs, text the same",
    "layout": "layout changed, text the same",
}
_AROUND = 40  # characters of unchanged text that are shown beside a change
_BLOCK_TOPIC = 80
ALL = Option("--all", "unchanged blocks and advertisements too", False)


def _run(archive: Archive, options: Options, console: Console) -> int:
    url = options.args[0]
    if numbers := _numbers(options):
        old, new = (archive.version(url, number) for number in numbers)
    else:
        versions = archive.versions(url) or [archive.get(url)]
        if len(versions) < 2:
            raise StoreError(f"{url} has one version only; there is nothing to compare it with")
        old, new = versions[-2:]
    pages = archive.page(old), archive.page(new)
    compared = shown = difference(*pages)
    if wanted := options[KINDS]:
        changed = {change.kind for change in word_changes(compared)}
        kinds = shown_kinds(*pages, wanted, changed)
        blocks = tuple(block for block in compared.blocks if block.kind in kinds)
        shown = replace(compared, blocks=blocks)
    elif not options[ALL]:
        shown = compared.without()
    if options[JSON]:
        print(as_json(_record(compared, shown)))
    else:
        console.print(_view(compared, shown, everything=options[ALL]))
    return 0


def _numbers(options: Options) -> list[int]:
    """Return the versions that are compared; none for the last two."""
    if len(options.args) == 2:
        raise UsageError("give two versions of the page, V1 V2, or none for the last two")
    return [whole(text, "version") for text in options.args[1:]]


def _record(difference: Difference, shown: Difference) -> dict[str, Any]:
    return {
        "old": version_record(difference.old),
        "new": version_record(difference.new),
        "same": difference.same,
        "verdict": difference.verdict,
        "summary": difference.summary(),
        "encoding_changed": difference.encoding_changed,
        "layout_changed": difference.layout_changed,
        "layout_words": [asdict(word) for word in difference.layout_words],
        "blocks": [
            asdict(block) | {"kind": block.kind, "markup_only": block.markup_only}
            for block in shown.blocks
        ],
    }


def _view(difference: Difference, shown: Difference, *, everything: bool) -> RenderableType:
    """Return what became of a page, and of each block that is shown.

    Of what is the same in all but markup there is no line a block, unless `everything` is wished.
    """
    old, new = difference.old, difference.new
    lines: list[RenderableType] = [
        Text(printable(new.url), "bold"),
        Text(
            f"version {old.number} of {as_text(old.time)} → version {new.number} of"
            f" {as_text(new.time)}"
        ),
        *_summary(difference),
        Text(""),
    ]
    for change in shown.blocks:
        quiet = change.markup_only or change.change in ("kept", "recut")
        if everything or not quiet:
            lines += _block_lines(change)
    if difference.layout_words:
        lines += [Text("~ text beside the blocks", "yellow"), shown_words(difference.layout_words)]
    return Group(*lines)


def _summary(difference: Difference) -> list[Text]:
    """Return one line of what the page as a whole is, and one of its blocks by change and kind."""
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
        lines.append(Text("the text beside the blocks changed as well"))
    elif difference.layout_changed and difference.verdict == "content":
        lines.append(Text("the layout between the blocks changed as well, in markup only"))
    return lines


def _kinds(kinds: Mapping[str, int]) -> str:
    return ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in kinds.items())


def _block_lines(change: BlockChange) -> list[RenderableType]:
    sign, style = _SIGNS[change.change]
    head = Text.assemble(
        (f"{sign} ", style), (change.kind or "body", KIND_STYLES.get(change.kind, ""))
    )
    head.append(f"  {printable(change.block.topic, _BLOCK_TOPIC)}", style)
    head.append(f"  {short_path(change.block.path)}", "dim")
    head.no_wrap, head.overflow = True, "ellipsis"
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


DIFF = Subcommand(
    "diff",
    _run,
    "what changed from one version to another",
    "URL [V1 V2] [--kinds KINDS|--all]",
    (1, 3),
    check=_numbers,
    options=(KINDS, ALL, JSON),
)
