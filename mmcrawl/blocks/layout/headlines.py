"""Headings of a page: by tag, by look, by the page's ``<title>``."""

from __future__ import annotations

import re
from functools import lru_cache

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import BLOCK_TAGS, HEADINGS
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.looks import PLAIN, STYLED_TAGS, look_of
from mmcrawl.text.words import unify

LONGEST_HEADING = 160
"""Characters."""

_BOLD = frozenset("b strong th".split())
_CLASS = re.compile(
    r"title(?![a-z])|(?<![a-z])(?:headline|heading|caption|biaoti|subject)(?![a-z])", re.I
)
_PARTS = re.compile(r"\s{1,99}[-|_–—·•»:/]{1,99}\s+|[|_–—·•»]|\s-|-\s|::")
_LOOKED_UP = 8  # elements around a text
_LONGEST_NAMES = 1_000  # characters of a class


class Headlines:
    """The headings of a page, with its ``<title>``, and how likely each is *the* headline."""

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self._tree = tree
        self._hidden = measures.hidden
        node = next(iter(tree.elements("title")), 0)
        self.title = " ".join(tree.raw_content(node).split())[:500] if node else ""
        self._bare_title = _bare(self.title)
        self._parts = [part for part in map(_bare, _PARTS.split(self.title)) if len(part) > 1]

    def level(self, nodes: range) -> int:
        """Return 1 to 6 for a block that is a heading ``h1`` to ``h6``, 7 if it looks so; or 0."""
        text_nodes = (i for i in nodes if self._tree.tags[i] == TEXT and not self._hidden[i])
        first = next(text_nodes, None)
        if first is None:
            return 0
        level = self._text_level(first, nodes)
        if not level:
            return 0
        return level if all(self._text_level(node, nodes) for node in text_nodes) else 0

    def agreement(self, text: str) -> float:
        """Return how much a text agrees with the page's title: 1 for all of one of its parts."""
        bare = _bare(text)
        if len(bare) < 2 or not self._bare_title:
            return 0.0
        if bare in self._parts or bare == self._bare_title:
            return 1.0
        if bare in self._bare_title or self._bare_title in bare:
            return 0.8
        return 0.7 if any(len(part) > 3 and part in bare for part in self._parts) else 0.0

    def _text_level(self, node: int, block: range) -> int:
        tree = self._tree
        chain: list[int] = []
        while len(chain) < _LOOKED_UP:
            node = tree.parents[node]
            if node <= 0 or tree.tags[node] == "body":
                break
            chain.append(node)
            if tree.tags[node] in HEADINGS:
                return int(tree.tags[node][1])
            if node < block.start and tree.tags[node] in BLOCK_TAGS:
                break
        return 7 if self._looks_so(chain) else 0

    def _looks_so(self, chain: list[int]) -> bool:
        look = PLAIN
        for node in reversed(chain):
            tag, attributes = self._tree.tags[node], self._tree.attributes(node)
            style = attributes.get("style", "")
            if tag in _BOLD or "bold" in style:
                return True
            if _names_heading(attributes.get("class", "")[:_LONGEST_NAMES]):
                return True
            if style or tag in STYLED_TAGS:
                look = look_of(tag, attributes, look)
        return look.size > PLAIN.size


@lru_cache(maxsize=8192)
def _names_heading(names: str) -> bool:
    return _CLASS.search(names) is not None


def _bare(text: str) -> str:
    return "".join(unify(text).split())
