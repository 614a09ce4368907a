"""A page's content as plain dictionaries and lists, and these as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mmcrawl.blocks.facts.facts import PageFacts
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


def content_record(
    document: Document, facts: PageFacts, *, text: str, comments: Sequence[str], url: str | None
) -> dict[str, Any]:
    """Return title, facts, text, comments and the blocks of a document.

    A block has a ``kind`` (heading, paragraph, code, quote, list, table). What stands in a line is
    a list of texts and of dictionaries with one of ``link``, ``formula``, ``image``, ``break`` or
    the name of a style.
    """
    return {
        "url": url,
        "title": document.title,
        **asdict(facts),
        "text": text,
        "comments": list(comments),
        "blocks": [_block(block) for block in document.blocks],
    }


def as_json(record: dict[str, Any]) -> str:
    """Return a record as one JSON document."""
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Heading():
            return {"kind": "heading", "level": block.level, "inlines": _inlines(block.inlines)}
        case Paragraph():
            return {"kind": "paragraph", "inlines": _inlines(block.inlines)}
        case CodeBlock():
            return {"kind": "code", "language": block.language, "text": block.text}
        case Quote():
            return {"kind": "quote", "blocks": [_block(one) for one in block.blocks]}
        case Items():
            items = [[_block(one) for one in item] for item in block.items]
            return {"kind": "list", "ordered": block.ordered, "start": block.start, "items": items}
        case Table():
            return {"kind": "table", "caption": _inlines(block.caption), "rows": _rows(block)}


def _rows(table: Table) -> list[list[dict[str, Any]]]:
    return [
        [
            {
                "header": cell.header,
                "columns": cell.columns,
                "rows": cell.rows,
                "inlines": _inlines(cell.inlines),
            }
            for cell in row
        ]
        for row in table.rows
    ]


def _inlines(inlines: Sequence[Inline]) -> list[Any]:
    return [_inline(part) for part in inlines]


def _inline(part: Inline) -> Any:
    match part:
        case str():
            return part
        case Break():
            return {"break": True}
        case Formula():
            return {"formula": part.tex, "display": part.display}
        case Image():
            return {"image": part.address, "text": part.text}
        case Link():
            return {"link": part.address, "inlines": _inlines(part.inlines)}
        case Styled():
            return {part.style: _inlines(part.inlines)}
