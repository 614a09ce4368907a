"""The text and the media of a block, read from its own bytes.

For the text nothing around a block counts: the same bytes in the same encoding are the same
document, whatever page they are found on first. Media often stand between blocks, as a player below
its heading: they belong to the block before them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mmcrawl.archive.model import StoredBlock
from mmcrawl.archive.search_query import MEDIA
from mmcrawl.archive.search_words import Token, tokens
from mmcrawl.blocks.lines import PageLines
from mmcrawl.blocks.measures import Measures
from mmcrawl.blocks.tree import read_tree
from mmcrawl.page import MediaResource, parse_page

__all__ = ["Snippet", "areas_around", "block_text", "media_in", "media_mask", "snippet_of"]

_BASE = re.compile(rb"<base\s[^>]{1,2000}>", re.IGNORECASE)
_SNIPPET = 240  # characters
_LEAD = 60  # of them, before the first mark


@dataclass(frozen=True, slots=True)
class Snippet:
    """Some of the text of a block.

    Attributes:
        text: Plain; ``…`` stands where it goes on.
        marks: (start, end) of what matches, in order, not overlapping.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def block_text(content: bytes, encoding: str, topic: str) -> str:
    """Return the visible text of a block, line by line; of images alone, the topic."""
    tree = read_tree(content, encoding=encoding)
    return "\n".join(PageLines.of(tree, Measures(tree)).texts) or topic


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


def media_mask(media: tuple[MediaResource, ...]) -> int:
    """Return the kinds of media as bits."""
    return sum(1 << MEDIA.index(kind) for kind in {resource.kind for resource in media})


def snippet_of(text: str, words: frozenset[str]) -> Snippet:
    """Return where most of the words occur close together, marked; else the beginning."""
    lines = " · ".join(text.split("\n"))
    found = [token for token in tokens(lines) if token.word in words]
    start, end = _window(lines, found)
    before, after = "…" if start else "", "…" if end < len(lines) else ""
    shift = len(before) - start
    marks: list[tuple[int, int]] = []
    free = start
    for token in found:
        if free <= token.start and token.end <= end:
            marks.append((token.start + shift, token.end + shift))
            free = token.end
    return Snippet(before + lines[start:end] + after, tuple(marks))


def _window(text: str, found: list[Token]) -> tuple[int, int]:
    """Return the range with the most distinct words, of several the first."""
    if len(text) <= _SNIPPET:
        return 0, len(text)
    best, most = 0, 0
    inside: dict[str, int] = {}
    after = 0
    for token in found:
        while after < len(found) and found[after].end <= token.start + _SNIPPET - _LEAD:
            inside[found[after].word] = inside.get(found[after].word, 0) + 1
            after += 1
        if len(inside) > most:
            best, most = token.start, len(inside)
        left = inside.get(token.word, 1) - 1
        inside[token.word] = left
        if not left:
            del inside[token.word]
    start = max(0, min(best - _LEAD, len(text) - _SNIPPET))
    if start:
        start = _to_word(text, start, best)
    return start, min(len(text), start + _SNIPPET)


def _to_word(text: str, start: int, limit: int) -> int:
    """Move a beginning behind the next space, if there is one soon."""
    space = text.find(" ", start, min(limit, start + _LEAD // 2))
    return space + 1 if space >= 0 else start
