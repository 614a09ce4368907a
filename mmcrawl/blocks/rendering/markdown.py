"""A document as Markdown (CommonMark, with tables of GitHub and formulas between dollar signs)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmcrawl.blocks.rendering.parts import (
    Block,
    Break,
    Cell,
    CodeBlock,
    Document,
    Formula,
    Heading,
    Image,
    Inline,
    Items,
    Link,
    Paragraph,
    Quote,
    Style,
    Styled,
    Table,
)

_SPECIAL = re.compile(r"([\\`*\[\]<]|(?<!\w)_|_(?!\w))")
_SPECIAL_BESIDE_FORMULAS = re.compile(rf"{_SPECIAL.pattern[:-1]}|\$)")
_AT_START = re.compile(r"^(#{1,6}\s|[-+>]\s|\d{1,9}[.)]\s|={3,}|-{3,})")
_MARKS: dict[Style, tuple[str, str]] = {
    "strong": ("**", "**"), "emphasis": ("*", "*"), "deleted": ("~~", "~~"),
    "superscript": ("<sup>", "</sup>"), "subscript": ("<sub>", "</sub>"),
}  # fmt: skip
_TICKS = re.compile("`+")
_WIDEST = 50  # columns that a cell spans


def markdown(document: Document) -> str:
    """Return a document as Markdown; its title is a heading of the first level."""
    writer = _Writer(_SPECIAL)
    text = writer.written(document)
    if writer.has_formulas and "$" in text:  # a dollar sign of a price would begin one
        text = _Writer(_SPECIAL_BESIDE_FORMULAS).written(document)
    return text


class _Writer:
    """Writes one document.

    Args:
        special: What is put behind a backslash in texts.

    Attributes:
        has_formulas: Whether a formula has been written.
    """

    def __init__(self, special: re.Pattern[str]) -> None:
        self._special = special
        self.has_formulas = False

    def written(self, document: Document) -> str:
        parts = [f"# {self._escaped(document.title)}"] if document.title else []
        parts += self._blocks(document.blocks)
        return "\n\n".join(parts) + "\n" if parts else ""

    def _blocks(self, blocks: Sequence[Block]) -> list[str]:
        return [text for text in map(self._block, blocks) if text]

    def _block(self, block: Block) -> str:
        match block:
            case Heading():
                line = self._inlines(block.inlines).replace("\\\n", " ")
                text = f"{'#' * block.level} {line}" if line else ""
            case Paragraph(inlines=[Formula(tex=tex)]):
                self.has_formulas = True
                text = f"$$\n{tex}\n$$"
            case Paragraph():
                text = _AT_START.sub(r"\\\1", self._inlines(block.inlines))
            case CodeBlock():
                fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(block.text)), default=0))
                text = f"{fence}{block.language}\n{block.text}\n{fence}"
            case Quote():
                inside = "\n\n".join(self._blocks(block.blocks))
                text = "\n".join(f"> {line}".rstrip() for line in inside.splitlines())
            case Items():
                text = self._items(block)
            case Table():
                text = self._table(block)
        return text

    def _items(self, block: Items) -> str:
        lines = []
        for number, item in enumerate(block.items, block.start):
            mark = f"{number}. " if block.ordered else "- "
            single = all(isinstance(part, (Paragraph, Items)) for part in item) and len(item) <= 2
            inside = ("\n" if single else "\n\n").join(self._blocks(item))
            lines.append(mark + inside.replace("\n", "\n" + " " * len(mark)))
        return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines())

    def _table(self, table: Table) -> str:
        """Return a table; empty cells follow, and stand below, what spans several.

        The first row is its head.
        """
        below: dict[int, int] = {}  # by column, rows that a cell above still spans
        rows = [self._row(row, below) for row in table.rows]
        width = max(map(len, rows))
        rows = [row + [""] * (width - len(row)) for row in rows]
        if not any(cell.header for cell in table.rows[0]):
            rows.insert(0, [""] * width)
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|" + " --- |" * width)
        caption = [self._inlines(table.caption), ""] if table.caption else []
        return "\n".join([*caption, *lines])

    def _row(self, row: Sequence[Cell], below: dict[int, int]) -> list[str]:
        cells: list[str] = []
        spanned = {column for column, left in below.items() if left}
        below.update((column, below[column] - 1) for column in spanned)
        for cell in row:
            while len(cells) in spanned:
                cells.append("")
            wide = min(cell.columns, _WIDEST)
            if cell.rows > 1:
                below.update(dict.fromkeys(range(len(cells), len(cells) + wide), cell.rows - 1))
            text = self._inlines(cell.inlines).replace("\\\n", "<br>").replace("|", "\\|")
            cells += [text.replace("\n", " ")] + [""] * (wide - 1)
        return cells

    def _inlines(self, inlines: Sequence[Inline]) -> str:
        return "".join(map(self._inline, inlines)).strip()

    def _inline(self, part: Inline) -> str:
        match part:
            case str():
                return self._escaped(part)
            case Break():
                return "\\\n"
            case Formula():
                self.has_formulas = True
                mark = "$$" if part.display else "$"
                return f"{mark}{part.tex}{mark}"
            case Image():
                return f"![{self._escaped(part.text)}]({_address(part.address)})"
            case Link():
                inside = "".join(map(self._inline, part.inlines))
                text = inside.strip().replace("\\\n", " ")
                return _around(inside, f"[{text}]({_address(part.address)})") if text else inside
            case Styled():
                return self._styled(part)

    def _styled(self, part: Styled) -> str:
        if part.style == "code":
            text = "".join(one for one in part.inlines if isinstance(one, str))
            if text != "" and all(isinstance(one, str) for one in part.inlines):
                ticks = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
                room = " " if "`" in text[:1] + text[-1:] else ""
                return f"{ticks}{room}{text}{room}{ticks}"
            return "".join(map(self._inline, part.inlines))
        inside = "".join(map(self._inline, part.inlines))
        opening, closing = _MARKS[part.style]
        return _around(inside, f"{opening}{inside.strip()}{closing}") if inside.strip() else inside

    def _escaped(self, text: str) -> str:
        return self._special.sub(r"\\\1", text)


def _around(inside: str, text: str) -> str:
    """Return a text with the white space at the ends of another: marks stand next to words."""
    before = inside[: len(inside) - len(inside.lstrip())]
    behind = inside[len(inside.rstrip()) :]
    return before + text + behind


def _address(address: str) -> str:
    return address.replace("(", "%28").replace(")", "%29").replace(" ", "%20").replace("<", "%3C")
