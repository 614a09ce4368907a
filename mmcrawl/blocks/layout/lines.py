"""The lines of a page, what stands between two breaks of its text; and the text of its parts.

A line is a run of text within one block-level element, without a ``<br>``: a paragraph, a heading,
an item of a list, a cell, a link of a menu. Text of hidden elements (scripts, forms' options, …)
is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate

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


LONGEST_LINK_TEXT = 300
"""Characters that are read of a link's text."""


class PageText:
    """The visible text of any part of a page, white space collapsed.

    Inline elements do not part words; lines are parted by a space. The runs of text are read once,
    each with the space before it: the text of a part is that of its runs, put together.

    Args:
        tree, measures: The page.

    >>> from mmcrawl.blocks.tree import read_tree
    >>> tree = read_tree(b"<p><b>H</b>ello <i>you</i><p>there")
    >>> PageText(tree, Measures(tree)).of(range(len(tree)))
    'Hello you there'
    """

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self._tree = tree
        self._runs: list[int] = []
        self._texts: list[str] = []  # of each run, with a space before it where there is one
        line_of = _line_numbers(tree, measures)
        line, space = 0, False
        for node, text in tree.texts.items():
            if measures.hidden[node]:
                continue
            raw = tree.raw_text(node)
            space = space or line_of[node] != line or node in tree.spaced or raw[:1].isspace()
            line = line_of[node]
            if text:
                self._runs.append(node)
                self._texts.append(f" {text}" if space else text)
                space = False
            space = space or raw[-1:].isspace()

    def of(self, nodes: range) -> str:
        """Return the text of some nodes."""
        first = bisect_left(self._runs, nodes.start)
        after = bisect_left(self._runs, nodes.stop, first)
        return "".join(self._texts[first:after]).strip()

    def of_link(self, link: int, stop: int) -> str:
        """Return the text of a link as far as it stands before the node `stop`.

        Links may stand in each other, as when a table parts them. Each is read as far as
        :data:`LONGEST_LINK_TEXT`: all the links of a page take time proportional to the page.
        """
        position = bisect_left(self._runs, link + 1)
        end = bisect_left(self._runs, min(self._tree.after[link], stop), position)
        pieces: list[str] = []
        chars = 0
        while position < end and chars <= LONGEST_LINK_TEXT:
            pieces.append(self._texts[position])
            chars += len(pieces[-1])
            position += 1
        return "".join(pieces).strip()[:LONGEST_LINK_TEXT].rstrip()


def _line_numbers(tree: PageTree, measures: Measures) -> list[int]:
    """Return numbers of which two runs of text have the same if they stand in one line."""
    breaks = bytearray(len(tree) + 1)
    for node in measures.elements(_BREAKS):
        breaks[node] = breaks[tree.after[node]] = 1
    return list(accumulate(breaks))
