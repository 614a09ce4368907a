"""The text and the media of the blocks of versions, read in several processes if there are many.

For the text nothing around a block counts: the same bytes in the same encoding are the same
document, whatever page they are found on first. Text that stands outside of all blocks, as a label
behind a list, is found too. Media often stand between blocks, as a player below
its heading: they belong to the block before them.

A page that was not cut into blocks yet is cut now, which takes most of the time of an update. The
processes read no archive: they are given bodies, and give back blocks, in the order asked for.
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
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.rendering.parts import SOFT_HYPHEN
from mmcrawl.page.parse import page_of
from mmcrawl.page.tree import PageTree, read_tree

_MANY = 32  # versions from which on starting processes is worth it
_ANYWHERE = "http://localhost/"  # of what kind media are does not depend on where the page is
_ELEMENT = re.compile(rb"<[a-zA-Z]")


def block_text(tree: PageTree) -> str:
    """Return the visible text of a part of a page, line by line."""
    _part_boxes(tree)
    return "\n".join(PageLines.of(tree, Measures(tree)).texts).replace(SOFT_HYPHEN, "")


def option_text(tree: PageTree) -> str:
    """Return the options of the forms in a part of a page, and labels of these, line by line.

    They are no visible text: of a list that is closed one is seen, and a list of countries says
    nothing of its page. Who looks for a word that stands there only, wants to find it all the same.
    """
    if "option" not in tree.tags:
        return ""
    options = tree.innermost(tree.having(("option",))).tolist()
    unseen = tree.innermost(tree.having(("datalist", "template", "script", "noscript"))).tolist()
    said: dict[int, list[str]] = {}
    for node, text in zip(tree.runs.tolist(), tree.texts, strict=True):
        if options[node] > 0 and unseen[node] <= 0:
            said.setdefault(options[node], []).append(text)
    for node in tree.mentioning(b"label"):
        if tree.tags[node] in ("option", "optgroup") and unseen[node] <= 0:
            said.setdefault(node, []).insert(0, tree.attributes(node).get("label", "") + " ")
    lines = (" ".join("".join(said[node]).split()) for node in sorted(said))
    return "\n".join(filter(None, lines))


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


def indexed_blocks(
    body: bytes, encoding: str, blocks: Sequence[StoredBlock], known: Collection[str]
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
        text, options, inside, around = None, "", 0, 0
        if block.digest not in known:
            text, options, inside = _contents(body[block.start : block.end], encoding)
            text = text or block.topic
        for start, end in areas:
            if _ELEMENT.search(body, start, end):
                around |= _contents(body[start:end], encoding).media
        found.append(
            IndexedBlock(block.digest, block.kind, block.topic, text, options, inside, around)
        )
    for block in outside_of(blocks, body, encoding):
        text, options = None, ""
        if block.digest not in known:
            text, options, _ = _contents(body[block.start : block.end], encoding)
        found.append(IndexedBlock(block.digest, "", "", text, options, 0, 0))
    return found


def outside_of(blocks: Sequence[StoredBlock], body: bytes, encoding: str) -> Iterator[StoredBlock]:
    """Yield what stands outside of blocks and has a text or options, as blocks of no kind.

    Args:
        blocks: Of a page, none inside of another.
        body, encoding: The page.
    """
    ends = [0, *(block.end for block in blocks)]
    starts = [*(block.start for block in blocks), len(body)]
    for start, end in zip(ends, starts, strict=True) if blocks else ():
        content = body[start:end]
        if content.strip() and any(_contents(content, encoding)[:2]):
            yield StoredBlock(start, end, "", "", 1, "", sha256(content).hexdigest()[:16])


class _Contents(NamedTuple):
    """Of a part of a page: its text, the options of its forms, the kinds of its media as bits."""

    text: str
    options: str
    media: int


@lru_cache(maxsize=8_192)  # most parts recur in the next version
def _contents(content: bytes, encoding: str) -> _Contents:
    tree = read_tree(content, encoding=encoding)
    kinds = {resource.kind for resource in page_of(tree, _ANYWHERE).media}
    return _Contents(block_text(tree), option_text(tree), sum(map(media_bit, kinds)))


# ---------------------------------------------------------------- versions


class PageToRead(NamedTuple):
    """A page for a process to read; `known` are digests of blocks that need not be."""

    page: ArchivedPage
    known: frozenset[str]


def read_versions(
    pages: Iterable[PageToRead | ReadVersion], count: int, processes: int
) -> Generator[ReadVersion, None, None]:
    """Yield what was read of each version, in order.

    Args:
        pages: What is to be read, and what needs not be.
        count: How many these are about.
        processes: How many to use at most; 1 reads in this one.
    """
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
