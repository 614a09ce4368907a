"""What a person sees of an archive: how kinds of blocks are written, and what revisits came to."""

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from mmcrawl.archive.model import as_text
from mmcrawl.commands.terminal.crawl import facts_table, literal, reason_table, sentence
from mmcrawl.text.writing import as_called, printable, size_of

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
    "comments": "magenta",
}
"""How each kind of block is written."""


def kind_of(kind: str) -> tuple[str, str]:
    """Return how the kind of a block is written: its word and its style."""
    return kind or "body", KIND_STYLES.get(kind, "default")


if TYPE_CHECKING:
    from mmcrawl.spiders.revisit import Revisits


def revisit_tables(revisits: "Revisits") -> RenderableType:
    parts: list[RenderableType] = [Text(f"\nRevisits of {printable(revisits.archive)}", "bold")]
    if revisits.visited or not revisits.problem:
        parts.append(_revisit_numbers(revisits))
    if revisits.reasons:
        parts += [Text("\nFailed visits", "bold"), reason_table(revisits.reasons)]
    if revisits.problem or revisits.ending:
        why = revisits.problem or "what was not visited is still due"
        ending = printable(f"Stopped ({revisits.ending or 'store_error'}). {sentence(why)}")
        parts.append(Text(f"\n{ending}", "bold"))
    elif not revisits.due:
        parts.append(Text("\nNothing is due.", "bold"))
    if revisits.next_visit is not None and not revisits.problem:
        parts.append(literal(next_due(revisits.next_visit)))
    return Group(*parts)


def next_due(when: float) -> str:
    """Return the sentence that says when a page is due next, and how to be sooner."""
    return as_called(
        f"The next page is due at {as_text(when)}; `scrapy crawl revisit -a due=all` visits all"
        " now, -a due=URL one."
    )


def _revisit_numbers(revisits: "Revisits") -> RenderableType:
    facts = {
        "due": str(revisits.due),
        "visited": str(revisits.visited),
        "new versions": str(revisits.new),
        "unchanged": f"{revisits.unchanged}, {revisits.not_modified} of them by HTTP 304",
        "gone": str(revisits.gone),
        "bodies": f"{size_of(revisits.raw_bytes)}, {size_of(revisits.new_bytes)} of it new",
    }
    return facts_table(facts.items())
