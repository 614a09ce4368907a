"""What a person sees of a collection: a line while it grows, tables when it is done."""

from collections import Counter
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mmcrawl.collecting.index import Summary
from mmcrawl.collecting.model import State
from mmcrawl.terminal.crawl import literal, reason_table, sentence, size_of


@dataclass(frozen=True, slots=True)
class Collected:
    """What a run of collecting came to.

    Attributes:
        place: how the collection is called.
        kept, kept_bytes: files that came in this run.
        seconds: it took.
        summary: where the collection stands now.
        ending: why it stopped early, "" if it did not; `problem` says it in a sentence.
    """

    place: str
    kept: int
    kept_bytes: int
    seconds: float
    summary: Summary
    ending: str = ""
    problem: str = ""


def progress_line(kept: int, kept_bytes: int, under_way: int, bytes_under_way: int) -> str:
    """Return the progress as a line of a log."""
    return (
        f"{kept} media kept ({size_of(kept_bytes)}), {under_way} on their way"
        f" ({size_of(bytes_under_way)} of them came)"
    )


def collected_tables(collected: Collected) -> RenderableType:
    """Return the tables that collecting ends with."""
    rate = ""
    if collected.seconds >= 1 and collected.kept:
        each = size_of(round(collected.kept_bytes / collected.seconds))
        rate = f" in {collected.seconds:.0f} s ({each}/s)"
    parts: list[RenderableType] = [
        Text(f"\nMedia in {collected.place}", "bold"),
        Text(f"{collected.kept} came, {size_of(collected.kept_bytes)}{rate}"),
        *collection_tables(collected.summary),
    ]
    if collected.problem or collected.ending:
        why = sentence(collected.problem) if collected.problem else ""
        how = f"Stopped ({collected.ending}); run the same command to go on."
        parts.append(Text(f"\n{how} {why}".rstrip(), "bold"))
    return Group(*parts)


def collection_tables(summary: Summary) -> list[RenderableType]:
    """Return where a collection stands."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for kind in sorted(summary.held):
        table.add_row(kind, f"{summary.held[kind]:,} files", size_of(summary.held_bytes[kind]))
    total = sum(summary.held.values())
    table.add_row("held", f"{total:,} files", size_of(sum(summary.held_bytes.values())))
    addresses = summary.count(State.HELD)
    if addresses != total:
        table.add_row("", f"at {addresses:,} addresses", "")
    for state in (State.WAITING, State.TAKEN, State.FAILED, State.SKIPPED):
        if summary.count(state):
            table.add_row(str(state), f"{summary.count(state):,} addresses", "")
    parts: list[RenderableType] = [table]
    if summary.reasons:
        reasons = Counter({reason: count for reason, count in summary.reasons.items() if reason})
        parts += [literal(""), Text("Not had", "bold"), reason_table(reasons)]
    return parts
