"""The text and the media of a block, read from its own bytes.

For the text nothing around a block counts: the same bytes in the same encoding are the same
document, whatever page they are found on first. Media often stand between blocks, as a player below
its heading: they belong to the block before them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from mmcrawl.archive.model import StoredBlock
from mmcrawl.archive.search_query import MEDIA
from mmcrawl.blocks.lines import PageLines
from mmcrawl.blocks.measures import Measures
from mmcrawl.blocks.tree import read_tree
from mmcrawl.page import MediaResource, parse_page

__all__ = ["IndexedBlock", "areas_around", "block_text", "indexed_blocks", "media_in"]

_ANYWHERE = "http://localhost/"  # of what kind media are does not depend on where the page is
_ELEMENT = re.compile(rb"<[a-zA-Z]")
_BASE = re.compile(rb"<base\s[^>]{1,2000}>", re.IGNORECASE)


def block_text(content: bytes, encoding: str) -> str:
    """Return the visible text of a part of a page, line by line."""
    tree = read_tree(content, encoding=encoding)
    return "\n".join(PageLines.of(tree, Measures(tree)).texts)


def areas_around(blocks: Sequence[StoredBlock], size: int) -> list[list[tuple[int, int]]]:
    """Return for each block the byte ranges outside of blocks whose media are its own.

    What stands before all blocks, as the head of the page, goes to the first that is a title, else
    to the first of the page's topic, else to the first.

    Args:
        blocks: Of a page, none inside of another.
        size: Of the page in bytes.
    """
    if not blocks:
        return []
    starts = [*(block.start for block in blocks[1:]), size]
    areas = [[(block.end, start)] for block, start in zip(blocks, starts, strict=True)]
    kinds = [block.kind for block in blocks]
    first = next((kinds.index(kind) for kind in ("title", "topic") if kind in kinds), 0)
    areas[first].insert(0, (0, blocks[0].start))
    return areas


def media_in(
    content: bytes, encoding: str, url: str, page: bytes = b""
) -> tuple[MediaResource, ...]:
    """Return the media that a part of a page shows or links to.

    Args:
        content: The part.
        encoding: Python codec name.
        url: Of the page.
        page: The page, whose ``base`` element counts; without it, kinds are right, addresses may
            not be.
    """
    base = _BASE.search(page)
    before = base[0] if base is not None else b""
    return parse_page(before + content, url, f"text/html; charset={encoding}").media


class IndexedBlock(NamedTuple):
    """What the index is told of a block of a page.

    Attributes:
        digest: First 64 bits of the SHA-256 of its bytes.
        kind, topic: As StoredBlock.
        text: Visible text, line by line; of images alone, the topic. None if it was not read.
        inside, around: Kinds of media in its bytes, and of those that stand behind it, as bits.
    """

    digest: int
    kind: str
    topic: str
    text: str | None
    inside: int
    around: int


def indexed_blocks(
    body: bytes, encoding: str, blocks: Sequence[StoredBlock], known: Collection[int]
) -> list[IndexedBlock]:
    """Read the blocks of a page.

    Args:
        body: The page.
        encoding: Python codec name.
        blocks: None inside of another.
        known: Digests of blocks that need not be read; `text` and `inside` of these say nothing.
    """
    found = []
    for block, areas in zip(blocks, areas_around(blocks, len(body)), strict=True):
        digest, text, inside = int(block.digest, 16), None, 0
        if digest not in known:
            text, inside = _contents(body[block.start : block.end], encoding)
            text = text or block.topic
        around = 0
        for start, end in areas:
            if _ELEMENT.search(body, start, end):
                around |= _contents(body[start:end], encoding)[1]
        found.append(IndexedBlock(digest, block.kind, block.topic, text, inside, around))
    return found


@lru_cache(maxsize=8_192)  # most parts recur in the next version
def _contents(content: bytes, encoding: str) -> tuple[str, int]:
    """Return the text of a part of a page, and the kinds of its media as bits."""
    kinds = {resource.kind for resource in media_in(content, encoding, _ANYWHERE)}
    return block_text(content, encoding), sum(1 << MEDIA.index(kind) for kind in kinds)
