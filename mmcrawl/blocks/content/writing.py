"""Writes a document as Markdown (CommonMark, with GitHub's tables, formulas in TeX), text or
JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from mmcrawl.blocks.content.parts import (
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
from mmcrawl.blocks.facts import PageFacts

_SPECIAL = re.compile(r"([\\`*\[\]<]|(?<!\w)_|_(?!\w))")
_SPECIAL_BESIDE_FORMULAS = re.compile(rf"{_SPECIAL.pattern[:-1]}|\$)")
_AT_START = re.compile(r"^(#{1,6}\s|[-+>]\s|\d{1,9}[.)]\s|={3,}|-{3,})")
_MARKS: dict[Style, tuple[str, str]] = {
    "strong": ("**", "**"), "emphasis": ("*", "*"), "deleted": ("~~", "~~"),
    "superscript": ("<sup>", "</sup>"), "subscript": ("<sub>", "</sub>"),
}  # fmt: skip
_TICKS = re.compile("`+")
_WIDEST = 50  # columns that a cell spans
_KINDS: dict[type, str] = {
    Heading: "heading", Paragraph: "paragraph", CodeBlock: "code", Quote: "quote", Items: "list",
    Table: "table",
}  # fmt: skip
_PLAIN_MARKS = {"superscript": "^", "subscript": "_"}


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
        """Return a table, its first row the head; empty cells stand for what spans several."""
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


# -- plain text -----------------------------------------------------------------------------------


def plain(document: Document) -> str:
    """Return a document as text, its title first, a blank line between two blocks."""
    parts = [document.title] if document.title else []
    parts += _blocks(document.blocks)
    return "\n\n".join(parts) + "\n" if parts else ""


def _blocks(blocks: Sequence[Block]) -> list[str]:
    return [text for text in map(_block, blocks) if text]


def _block(block: Block) -> str:
    match block:
        case Heading() | Paragraph():
            return _inlines(block.inlines)
        case CodeBlock():
            return block.text
        case Quote():
            return "\n\n".join(_blocks(block.blocks))
        case Items():
            lines = []
            for number, item in enumerate(block.items, block.start):
                mark = f"{number}. " if block.ordered else "- "
                lines.append(mark + "\n".join(_blocks(item)).replace("\n", "\n" + " " * len(mark)))
            return "\n".join(lines)
        case Table():
            rows = [
                "\t".join(" ".join(_inlines(cell.inlines).split()) for cell in row)
                for row in block.rows
            ]
            return "\n".join([_inlines(block.caption), *rows] if block.caption else rows)


def _inlines(inlines: Sequence[Inline]) -> str:
    return "".join(map(_inline, inlines)).strip()


def _inline(part: Inline) -> str:
    match part:
        case str():
            return part
        case Break():
            return "\n"
        case Formula():
            return f"$${part.tex}$$" if part.display else f"${part.tex}$"
        case Image():
            return ""
        case Link():
            return "".join(map(_inline, part.inlines))
        case Styled():
            return _PLAIN_MARKS.get(part.style, "") + "".join(map(_inline, part.inlines))


# -- JSON -----------------------------------------------------------------------------------------


def content_record(
    document: Document, facts: PageFacts, *, text: str, comments: Sequence[str], url: str | None
) -> dict[str, Any]:
    """Return title, facts, text, comments and the blocks of a document.

    A block has a ``kind`` (heading, paragraph, code, quote, list, table). What is in a line is
    a list of texts and of dictionaries with one of ``link``, ``formula``, ``image``, ``break`` or
    the name of a style.
    """
    return {
        "url": url,
        "title": document.title,
        **asdict(facts),
        "text": text,
        "comments": list(comments),
        "blocks": _record(document.blocks),
    }


def as_json(record: dict[str, Any]) -> str:
    """Return a record as one JSON document."""
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _record(part: Any) -> Any:
    found: Any
    match part:
        case str() | int():
            found = part
        case list():
            found = [_record(one) for one in part]
        case Break():
            found = {"break": True}
        case Formula():
            found = {"formula": part.tex, "display": part.display}
        case Image():
            found = {"image": part.address, "text": part.text}
        case Link():
            found = {"link": part.address, "inlines": _record(part.inlines)}
        case Styled():
            found = {part.style: _record(part.inlines)}
        case _:  # a block; or a cell of a table, which has no kind
            found = {"kind": _KINDS[type(part)]} if type(part) in _KINDS else {}
            found |= {one.name: _record(getattr(part, one.name)) for one in fields(part)}
    return found
