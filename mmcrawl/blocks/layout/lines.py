"""The lines of a page, what stands between two breaks of its text; and the texts of its links.

A line is a run of text within one block-level element, without a ``<br>``: a paragraph, a heading,
an item of a list, a cell, a link of a menu. Text of hidden elements (scripts, forms' options, …)
is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tags import BLOCK_TAGS
from mmcrawl.blocks.tree import PageTree

_BREAKS = BLOCK_TAGS | {"br"}


@dataclass(slots=True)
class PageLines:
    """The lines of a page in document order, in parallel lists.

    Attributes:
        texts: Their visible text, white space collapsed, never empty.
        firsts, afters: The first node of each, and the node behind its last run of text.
        containers: The block-level element each stands in.
        breaks: How many ``<br>`` stand before each, since the line before.
        container_of: Of each node of the page, the block-level element it stands in.
    """

    texts: list[str] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    afters: list[int] = field(default_factory=list)
    containers: list[int] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    container_of: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of(cls, tree: PageTree, measures: Measures) -> PageLines:
        """Cut the visible text of a page into lines."""
        page = cls(container_of=[0] * len(tree))
        tags, parents, hidden, spaced = tree.tags, tree.parents, measures.hidden, tree.spaced
        containers = page.container_of
        pieces: list[str] = []
        first = after = container = breaks = breaks_before = 0
        for node in range(1, len(tree)):
            tag = tags[node]
            if tag == TEXT:
                containers[node] = around = containers[parents[node]]
                if hidden[node]:
                    continue
                if pieces and around != container:
                    page._add(pieces, first, after, container, breaks_before)
                    pieces = []
                if not pieces:
                    first, container, breaks_before, breaks = node, around, breaks, 0
                elif node in spaced:
                    pieces.append(" ")
                pieces.append(tree.raw_text(node))
                after = node + 1
            elif tag in _BREAKS:
                if pieces:
                    page._add(pieces, first, after, container, breaks_before)
                    pieces = []
                if tag == "br":
                    containers[node] = containers[parents[node]]
                    breaks += 1
                else:
                    containers[node] = node
                    breaks = 0
            else:
                containers[node] = containers[parents[node]]
        if pieces:
            page._add(pieces, first, after, container, breaks_before)
        return page

    def _add(self, pieces: list[str], first: int, after: int, container: int, breaks: int) -> None:
        text = " ".join("".join(pieces).split())
        if text:
            self.texts.append(text)
            self.firsts.append(first)
            self.afters.append(after)
            self.containers.append(container)
            self.breaks.append(breaks)


def joined_text(tree: PageTree, runs: Iterable[int]) -> str:
    """Return the text of runs, given in order, white space collapsed.

    Inline elements do not part words; lines are parted by a space. Each element is passed once,
    however deep it stands.

    >>> from mmcrawl.blocks.tree import read_tree
    >>> tree = read_tree(b"<p><b>H</b>ello <i>you</i><p>there")
    >>> joined_text(tree, (node for node, tag in enumerate(tree.tags) if tag == TEXT))
    'Hello you there'
    """
    pieces: list[str] = []
    before = -1
    for node in runs:
        if before >= 0 and (node in tree.spaced or is_break(tree, before, node)):
            pieces.append(" ")
        pieces.append(tree.raw_text(node))
        before = node
    return " ".join("".join(pieces).split())


def is_break(tree: PageTree, before: int, run: int) -> bool:
    """Whether a line ends, or another begins, between two runs of text."""
    tags, parents, after = tree.tags, tree.parents, tree.after
    if any(tags[node] in _BREAKS for node in range(before + 1, run)):
        return True
    node = parents[before]
    while after[node] <= run:
        if tags[node] in _BREAKS:
            return True
        node = parents[node]
    return False


LONGEST_LINK_TEXT = 300
"""Characters that are read of a link's text."""


class LinkTexts:
    """The visible texts of links, white space collapsed, joined as lines are.

    Links may stand in each other, as when a table parts them. Each is read as far as
    :data:`LONGEST_LINK_TEXT`, from a list of the page's visible runs that is made once: all the
    links of a page take time proportional to the page.

    Args:
        tree, measures: The page.
    """

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self._tree = tree
        self._hidden = measures.hidden
        self._runs: list[int] = []
        self._texts: list[str] = []  # of each run, with a space before it where there is one
        self._read_runs()

    def of(self, link: int, stop: int) -> str:
        """Return the text of a link as far as it stands before the node `stop`."""
        position = bisect_left(self._runs, link + 1)
        end = bisect_left(self._runs, min(self._tree.after[link], stop), position)
        pieces: list[str] = []
        chars = 0
        while position < end and chars <= LONGEST_LINK_TEXT:
            pieces.append(self._texts[position])
            chars += len(pieces[-1])
            position += 1
        return "".join(pieces).strip()[:LONGEST_LINK_TEXT].rstrip()

    def _read_runs(self) -> None:
        tree = self._tree
        before, space = -1, False
        for node, tag in enumerate(tree.tags):
            if tag != TEXT or self._hidden[node]:
                continue
            raw = tree.raw_text(node)
            space = space or node in tree.spaced or raw[:1].isspace()
            space = space or (before >= 0 and is_break(tree, before, node))
            if text := tree.text(node):
                self._runs.append(node)
                self._texts.append(f" {text}" if space else text)
                space = False
            space = space or raw[-1:].isspace()
            before = node
