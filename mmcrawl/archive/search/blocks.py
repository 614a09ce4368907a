"""Text and media of the blocks of versions, read by several processes if there are many.

The text of a block depends on nothing around it: equal bytes in the same encoding are one document,
on whatever page they were found first. Text outside all blocks, such as a label behind a list, is
indexed too. Media often stand between blocks, such as a player below its heading; they belong to
the preceding block.

A page without stored blocks is cut now, which takes most of the time of an update. The processes do
not read the archive: they receive bodies and return blocks, in the order requested.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import StoredBlock, leaves
from mmcrawl.archive.processes import in_processes
from mmcrawl.archive.search.index import IndexedBlock, ReadVersion
from mmcrawl.archive.search.query import media_bit
from mmcrawl.blocks.content.parts import SOFT_HYPHEN
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.tree import PageTree, read_tree
from mmcrawl.page.parse import page_of

_MANY = 32  # versions from which on starting processes is worth it
_ANYWHERE = "http://localhost/"  # of what kind media are does not depend on where the page is
_ELEMENT = re.compile(rb"<[a-zA-Z]")


def block_text(tree: PageTree) -> str:
    """Return the visible text of a part of a page, line by line."""
    _part_boxes(tree)
    return "\n".join(PageLines.of(tree, Measures(tree)).texts).replace(SOFT_HYPHEN, "")


def _part_boxes(tree: PageTree) -> None:
    """Put a space between texts that no white space parts, and that are drawn apart all the same.

    Buttons are boxes. Of two elements side by side, as ``<span>Politik</span><span>Wissen</span>``,
    it is not known how they are drawn: they are menus where a capital stands behind a small letter,
    and parts of a word elsewhere. A word that begins in a text and ends in an element is one.
    """
    runs = tree.runs.tolist()
    buttons = tree.innermost(tree.having(("button",))).tolist()
    for (before, text), (run, behind) in pairwise(zip(runs, tree.texts, strict=True)):
        is_beside = tree.after[tree.parents[before]] <= run and tree.parents[run] > before
        is_menu = is_beside and text[-1:].islower() and behind[:1].isupper()
        if is_menu or buttons[before] != buttons[run]:
            tree.apart[run] = 1


def areas_around(blocks: Sequence[StoredBlock], size: int) -> list[list[tuple[int, int]]]:
    """Return for each block the byte ranges outside of blocks whose media are its own.

    What stands before all blocks, as the head of the page, goes to the first that is a title, else
    to the first of the page's topic, else to the first.
    """
    if not blocks:
        return []
    starts = [*(block.start for block in blocks[1:]), size]
    areas = [[(block.end, start)] for block, start in zip(blocks, starts, strict=True)]
    kinds = [block.kind for block in blocks]
    first = next((kinds.index(kind) for kind in ("title", "topic") if kind in kinds), 0)
    areas[first].insert(0, (0, blocks[0].start))
    return areas


def indexed_blocks(
    body: bytes, encoding: str, blocks: Sequence[StoredBlock], known: Collection[str]
) -> list[IndexedBlock]:
    """Read the blocks of a page, of which none is inside another.

    Those whose digests are known need not be read; `text` and `inside` of these say nothing.
    """
    found = []
    for block, areas in zip(blocks, areas_around(blocks, len(body)), strict=True):
        text, inside, around = None, 0, 0
        if block.digest not in known:
            text, inside = _contents(body[block.start : block.end], encoding)
            text = text or block.topic
        for start, end in areas:
            if _ELEMENT.search(body, start, end):
                around |= _contents(body[start:end], encoding).media
        found.append(IndexedBlock(block.digest, block.kind, block.topic, text, inside, around))
    for block in outside_of(blocks, body, encoding):
        is_known = block.digest in known
        text = None if is_known else _contents(body[block.start : block.end], encoding).text
        found.append(IndexedBlock(block.digest, "", "", text, 0, 0))
    return found


def outside_of(blocks: Sequence[StoredBlock], body: bytes, encoding: str) -> Iterator[StoredBlock]:
    """Yield what stands outside of blocks and has a text, as blocks of no kind."""
    ends = [0, *(block.end for block in blocks)]
    starts = [*(block.start for block in blocks), len(body)]
    for start, end in zip(ends, starts, strict=True) if blocks else ():
        content = body[start:end]
        if content.strip() and _contents(content, encoding).text:
            yield StoredBlock(start, end, "", "", 1, "", sha256(content).hexdigest()[:16])


class _Contents(NamedTuple):
    """Of a part of a page: its text, the kinds of its media as bits."""

    text: str
    media: int


@lru_cache(maxsize=8_192)  # most parts recur in the next version
def _contents(content: bytes, encoding: str) -> _Contents:
    tree = read_tree(content, encoding=encoding)
    kinds = {resource.kind for resource in page_of(tree, _ANYWHERE).media}
    return _Contents(block_text(tree), sum(map(media_bit, kinds)))


# ---------------------------------------------------------------- versions


class PageToRead(NamedTuple):
    """A page for a process to read; `known` are digests of blocks that need not be."""

    page: ArchivedPage
    known: frozenset[str]


def read_versions(
    pages: Iterable[PageToRead | ReadVersion], count: int, processes: int
) -> Generator[ReadVersion, None, None]:
    """Yield what was read of each version, in order; `count` says how many these are about."""
    if processes < 2 or count < _MANY:
        yield from map(_finished, pages)
        return
    for _, read in in_processes(_finished, pages, min(processes, count)):
        yield read


def _finished(page: PageToRead | ReadVersion) -> ReadVersion:
    if isinstance(page, ReadVersion):
        return page
    version, body = page.page.version, page.page.body
    found = indexed_blocks(body, version.encoding, leaves(page.page.blocks), page.known)
    return ReadVersion(version.language, version.encoding, found)
