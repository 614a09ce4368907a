"""The parts of a document: blocks, and what stands in their lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

SOFT_HYPHEN = "\xad"
"""Where a word may be separated; nothing that is read or looked for."""

Style = Literal["strong", "emphasis", "code", "deleted", "superscript", "subscript"]


@dataclass(slots=True)
class Styled:
    """A stretch of a line that looks different: bold, in italics, code, …"""

    style: Style
    inlines: list[Inline] = field(default_factory=list)


@dataclass(slots=True)
class Link:
    """A link; its address is absolute where that of the page is known."""

    address: str
    inlines: list[Inline] = field(default_factory=list)


@dataclass(slots=True)
class Formula:
    """A formula, in TeX without delimiters; `display` if it stands on a line of its own."""

    tex: str
    display: bool = False


@dataclass(slots=True)
class Image:
    """A picture: where it is, and what it shows."""

    address: str
    text: str = ""


@dataclass(slots=True)
class Break:
    """The end of a line inside a paragraph."""


Inline = str | Styled | Link | Formula | Image | Break


@dataclass(slots=True)
class Heading:
    """A heading; its level is 1 to 6."""

    level: int
    inlines: list[Inline] = field(default_factory=list)


@dataclass(slots=True)
class Paragraph:
    """Running text; also what is no more than a picture or a formula."""

    inlines: list[Inline] = field(default_factory=list)


@dataclass(slots=True)
class CodeBlock:
    """Preformatted text, with the name of its language, "" for none."""

    language: str
    text: str


@dataclass(slots=True)
class Quote:
    """A quotation."""

    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class Items:
    """A list."""

    ordered: bool
    start: int = 1
    items: list[list[Block]] = field(default_factory=list)


@dataclass(slots=True)
class Cell:
    """A cell of a table; what it spans is 1 or more."""

    header: bool
    columns: int = 1
    rows: int = 1
    inlines: list[Inline] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    """A table: its rows, each of cells, and its caption."""

    caption: list[Inline] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)

    def leave_out_empty_rows(self) -> None:
        """Leave out rows that hold nothing; a cell above spans one less for each."""
        filled: list[list[Cell]] = []
        spanning: list[tuple[int, Cell]] = []  # cells with the row behind the last each spans
        for number, row in enumerate(self.rows):
            spanning = [(end, cell) for end, cell in spanning if end > number]
            # An empty one from which a cell spans into the next keeps that one's columns in place.
            if any(cell.inlines or cell.rows > 1 for cell in row):
                filled.append(row)
                spanning += [(number + cell.rows, cell) for cell in row if cell.rows > 1]
            else:
                for _, cell in spanning:
                    cell.rows -= 1
        self.rows = filled


Block = Heading | Paragraph | CodeBlock | Quote | Items | Table


@dataclass(slots=True)
class Document:
    """The content of a page."""

    title: str  # its headline, which is not among the blocks
    blocks: list[Block]  # in order


Run = tuple[tuple[int, ...], Inline]
"""A stretch of a line, behind the inline elements around it, from the outermost on."""


def nested(runs: Sequence[Run], parts: Mapping[int, Styled | Link], depth: int = 0) -> list[Inline]:
    """Put runs of a line, in order, that have the same element around them into one part."""
    found: list[Inline] = []
    place = 0
    while place < len(runs):
        path, part = runs[place]
        if len(path) == depth:
            found.append(part)
            place += 1
            continue
        end = place
        while end < len(runs) and runs[end][0][depth : depth + 1] == (path[depth],):
            end += 1
        around, inside = parts[path[depth]], nested(runs[place:end], parts, depth + 1)
        if isinstance(around, Link):
            found.append(Link(around.address, inside))
        else:
            found.append(Styled(around.style, inside))
        place = end
    return found


def stripped(runs: list[Run]) -> list[Run]:
    """Return a line without breaks and white space at its end."""
    while runs and (isinstance(runs[-1][1], Break) or runs[-1][1] == " "):
        runs.pop()
    if runs and isinstance(last := runs[-1][1], str):
        runs[-1] = (runs[-1][0], last.rstrip())
    return runs


def plain_text(inlines: Sequence[Inline]) -> str:
    """Return the text of a line without markup."""
    pieces = []
    for part in inlines:
        match part:
            case str():
                pieces.append(part)
            case Formula():
                pieces.append(part.tex)
            case Styled() | Link():
                pieces.append(plain_text(part.inlines))
            case Break():
                pieces.append(" ")
            case Image():
                pass
    return "".join(pieces).strip()
