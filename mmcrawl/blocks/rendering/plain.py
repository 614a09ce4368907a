"""A document as plain text: paragraphs, lists with marks, tables with tabs, formulas in TeX."""

from __future__ import annotations

from collections.abc import Sequence

from mmcrawl.blocks.rendering.parts import (
    Block,
    Break,
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
    Styled,
    Table,
)

_MARKS = {"superscript": "^", "subscript": "_"}


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
            rows = ["\t".join(_one_line(cell.inlines) for cell in row) for row in block.rows]
            return "\n".join([_inlines(block.caption), *rows] if block.caption else rows)


def _one_line(inlines: Sequence[Inline]) -> str:
    return " ".join(_inlines(inlines).split())


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
            return _MARKS.get(part.style, "") + "".join(map(_inline, part.inlines))
