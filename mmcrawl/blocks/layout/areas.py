"""The function of a page's parts, by tags, roles, classes and ids, and where its middle is.

Wang & Zhu 2012, section 2.2.2: tags, and the place of a block on the page. The most important
content is in the middle. Nothing is rendered: the middle is the smallest element with most of
the text outside bars, boxes and feet.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from mmcrawl.blocks.layout.block_words import AREAS, area_of_names
from mmcrawl.blocks.layout.measures import Measures, Sums
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import HEADINGS
from mmcrawl.page.html.tree import PageTree

_TAGS = {
    "nav": "navigation",
    "aside": "side",
    "footer": "foot",
    "header": "head",
    "main": "content",
    "article": "content",
    "dialog": "navigation",
    "address": "foot",
    "noframes": "navigation",
    "noframe": "navigation",
}
_ROLES = {
    "navigation": "navigation",
    "search": "navigation",
    "menu": "navigation",
    "menubar": "navigation",
    "dialog": "navigation",
    "banner": "head",
    "contentinfo": "foot",
    "complementary": "side",
    "main": "content",
    "article": "content",
}
_CONTAINERS = frozenset(
    """
    div section article main aside header footer nav form fieldset center blockquote td th body html
    table dialog noscript
    """.split()
)
_rank = (*AREAS, "").index  # of an area; that of none is the last
_INSIDE_CONTENT_ONLY = frozenset({"content", "head"})
_BOXES_OF_ARTICLES = frozenset({"advertisement", "related"})
_BOXES_WITH_TEXT = frozenset({"advertisement", "comments", "foot", "head"})
_LONG_TEXT = 300  # characters outside of links that no menu, byline or list of tags has,
_MOSTLY_TEXT = 0.7  # where they are most of what it holds
_MOST = 0.5
_MIDDLE = 0.6  # of the text


class PageAreas:
    """The area each element of a page belongs to, computed as far as it is asked for.

    An element belongs to the area it names itself, else to that of the element around it. Inside
    of a bar, box or foot nothing is content; inside content a head is the content's own.
    A class or id does not count for an element with most of the page in it, nor, where it speaks of
    menus and the like, for one that is mostly long text.
    """

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self._tree = tree
        self._chars: list[int] = measures.chars.tolist()
        self._link_chars: list[int] = measures.link_chars.tolist()
        self._headings = tree.elements(*HEADINGS)
        self._known: dict[int, str] = {0: ""}
        self._named: dict[bytes, tuple[str, str]] = {}  # by start tag
        self._all: int = self._chars[-1]
        self._all_text: int = self._all - self._link_chars[-1]

    def of(self, node: int) -> str:
        """Return the area of a node, "" where nothing names one."""
        known, parents = self._known, self._tree.parents
        above: list[int] = []
        while node not in known:
            above.append(node)
            node = parents[node]
        area = known[node]
        for below in reversed(above):
            own = self._own(below)
            if own and not (own in _INSIDE_CONTENT_ONLY and area):
                area = own
            known[below] = area
        return area

    def _own(self, node: int) -> str:
        start_tag = self._tree.start_tag(node)
        known = self._named.get(start_tag)
        if known is None:
            known = self._named[start_tag] = self._names(node)
        by_tag, by_class = known
        return by_class if by_class and self._may_be(node, by_class) else by_tag

    def _names(self, node: int) -> tuple[str, str]:
        """Return the area that tag and role of an element name, and that its class and id do.

        The latter is "" where it says no more: of a nav that is a box for sharing, it does.
        """
        tag, attributes = self._tree.tags[node], self._tree.attributes(node)
        if tag in ("html", "body"):
            return "", ""
        by_tag = _ROLES.get(attributes.get("role", ""), _TAGS.get(tag, ""))
        # The id of a heading is derived from its words, whatever these are.
        key = "" if tag in HEADINGS else attributes.get("id", "")
        named = area_of_names(attributes.get("class", "")), area_of_names(key)
        by_class = min(named, key=_rank)
        if by_tag and _rank(by_tag) <= _rank(by_class):
            by_class = ""
        return by_tag, by_class

    def _may_be(self, node: int, area: str) -> bool:
        """Whether an element may be what its class or id says: bars are no articles."""
        if area == "content":
            return True
        if self._tree.tags[node] in ("main", "article") and area not in _BOXES_OF_ARTICLES:
            return False
        if area == "meta":
            heading = bisect_left(self._headings, node)
            if heading < bisect_left(self._headings, self._tree.after[node]):
                return False
        chars, text = self._held(node)
        if area not in _BOXES_WITH_TEXT and text > _LONG_TEXT and text > _MOSTLY_TEXT * chars:
            return False
        return chars <= _MOST * self._all or text <= _MOST * self._all_text

    def _held(self, node: int) -> tuple[int, int]:
        """Return the characters in an element, and those outside of links."""
        after = self._tree.after[node]
        chars = self._chars[after] - self._chars[node]
        return chars, chars - (self._link_chars[after] - self._link_chars[node])

    def text_in(self, node: int) -> int:
        """Return the characters in an element that stand outside of links."""
        return self._held(node)[1]

    def middle(self, blocks: Sequence[range], areas: Sequence[str], weights: Sums) -> int:
        """Return the smallest element with most of the weight of the blocks that may be content.

        Args:
            blocks: All blocks of the page, as ranges of nodes.
            areas: The area of each.
            weights: Running sums over the nodes: of what makes a part weigh.
        """
        counted = np.diff(weights)
        own = np.zeros(len(self._tree), dtype=counted.dtype)
        for block, area in zip(blocks, areas, strict=True):
            if area in ("", "content", "head"):
                own[block.start : block.stop] = counted[block.start : block.stop]
        sums = np.zeros(len(own) + 1, dtype=own.dtype)
        np.cumsum(own, out=sums[1:])
        total = int(sums[-1])
        if not total:
            return 0
        # An element with more than half of the weight holds the node in the middle of it.
        node = int(np.searchsorted(sums, total // 2 + 1)) - 1
        while node and sums[self._tree.after[node]] - sums[node] < _MIDDLE * total:
            node = self._tree.parents[node]
        while node and self._tree.tags[node] not in _CONTAINERS:
            node = self._tree.parents[node]
        return node

    def article(self, node: int) -> int:
        """Return the innermost element around a node that is named content, or the node."""
        around = node
        while around > 0:
            if self._own(around) == "content":
                return around
            around = self._tree.parents[around]
        return node

    def element(self, block: range) -> int:
        """Return the element that a block is, or that it is in."""
        if not block:
            return 0
        tree, node = self._tree, block.start
        if tree.after[node] < block.stop:
            return tree.parents[node]
        # A box with nothing but a box in it is that box.
        while node + 1 < block.stop and tree.after[node + 1] == tree.after[node]:
            if tree.tags[node + 1] == TEXT:
                break
            node += 1
        return node
