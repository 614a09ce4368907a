"""What a person sees of a collection: a line while it grows, tables when it is done."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from mmcrawl.commands.terminal.crawl import facts_table, literal, reason_table, sentence
from mmcrawl.media.index import MediaFile, State, Summary
from mmcrawl.media.parts import Part
from mmcrawl.text.writing import counted, size_of

if TYPE_CHECKING:
    from mmcrawl.spiders.collect import Collected


def collected_tables(collected: "Collected") -> RenderableType:
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
        how = f"Stopped ({collected.ending}); run the same command to go on."
        parts.append(Text(f"\n{how} {why}".rstrip(), "bold"))
    return Group(*parts)


def collection_tables(summary: Summary) -> list[RenderableType]:
    parts: list[RenderableType] = [facts_table(_numbers(summary))]
    if summary.reasons:
        reasons = Counter({reason: count for reason, count in summary.reasons.items() if reason})
        parts += [literal(""), Text("Not downloaded", "bold"), reason_table(reasons)]
    return parts


def _numbers(summary: Summary) -> Iterator[tuple[str, ...]]:
    for kind in sorted(summary.held):
        yield kind, f"{summary.held[kind]:,} files", size_of(summary.held_bytes[kind])
    total, addresses = sum(summary.held.values()), summary.count(State.HELD)
    yield "held", f"{total:,} files", size_of(sum(summary.held_bytes.values()))
    if addresses != total:
        yield "", f"at {addresses:,} addresses"
    for state in (State.WAITING, State.TAKEN, State.FAILED, State.SKIPPED):
        if summary.count(state):
            yield str(state), f"{summary.count(state):,} addresses"


def tree_of_parts(file: MediaFile, parts: Iterable[Part]) -> Tree:
    """Return an animation with the files it needs, and which of them are missing."""
    tree = Tree(literal(file.url))
    _add_parts(tree, parts)
    return tree


def _add_parts(tree: Tree, parts: Iterable[Part]) -> None:
    for part in parts:
        line = literal(part.named.name).append(f"  {part.named.kind}, ")
        if part.is_there and part.file is not None:
            line.append(size_of(part.file.size))
        else:
            line.append(f"missing: {_why_missing(part)}", "red")
        _add_parts(tree.add(line), part.parts)


def _why_missing(part: Part) -> str:
    if not part.named.places:
        return "of another site"
    if part.file is None:
        return "not requested"
    return part.file.reason or "not fetched yet"
