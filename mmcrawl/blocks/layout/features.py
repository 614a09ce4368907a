"""The features of a single block: its place, its contents, its tags, its area and headings.

Wang & Zhu 2012, section 2.2.2. Nothing is rendered: a page is assumed to be :data:`PAGE_WIDTH` wide
and filled with its text from top to bottom, so the place of a block is its place in the order of
the text. Widths are those that tables and boxes declare; the cells of a row stand side by side.
Areas are told by tags, roles, classes and ids. The most important content is in the middle, which
is the smallest element with most of the text outside bars, boxes and feet.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import takewhile
from types import MappingProxyType

import numpy as np

from mmcrawl.blocks.layout.block_words import AREAS, area_of_names
from mmcrawl.blocks.layout.lines import PageText
from mmcrawl.blocks.layout.measures import Measures, Sums
from mmcrawl.blocks.layout.sizes import CELLS, IMAGE_SIDE, PAGE_WIDTH, NodeSizes, declared_size
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

WINDOW_HEIGHT = 768.0
"""Pixels of a page that a reader sees at once."""

CHARACTER_AREA = 200.0
"""Square pixels that a character takes, with its share of the space between lines."""

COUNTED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "links": frozenset("a area".split()),
        "anchors": frozenset("a".split()),
        "images": frozenset("img image".split()),
        "flash": frozenset("object embed applet".split()),
        "inputs": frozenset("input select textarea button".split()),
        "forms": frozenset("form".split()),
        "headings": frozenset("h1 h2 h3 h4 h5 h6".split()),
    }
)
"""Sorts of elements that are counted, with their tags."""


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
        """Return the area that tag and role name, and that of class and id, "" if the same."""
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
        """Return the smallest element with most of the weight of blocks that may be content."""
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


def is_topic_page(measures: Measures, link_text_ratio: float) -> bool:
    """Whether link text per other text is below a ratio (section 2.2.3, step 4)."""
    link_chars = int(measures.link_chars[-1])
    return link_chars < link_text_ratio * (int(measures.chars[-1]) - link_chars)


class PageFeatures:
    """The features of a page, however it is cut into blocks; each is computed on demand.

    Attributes:
        url: "" if it is not known.
        chars, link_chars: As the page's :class:`Measures` have them.
    """

    def __init__(self, tree: PageTree, measures: Measures, url: str | None = None) -> None:
        self.tree = tree
        self.measures = measures
        self.url = url or ""
        self.chars: list[int] = measures.chars.tolist()
        self.link_chars: list[int] = measures.link_chars.tolist()
        self._elements: dict[str, Sequence[int]] = {}

    @cached_property
    def texts(self) -> PageText:
        """The visible text."""
        return PageText(self.tree, self.measures)

    @cached_property
    def areas(self) -> PageAreas:
        """The functions of the page's parts."""
        return PageAreas(self.tree, self.measures)

    @cached_property
    def headlines(self) -> Headlines:
        """The headings."""
        return Headlines(self.tree, self.measures)

    def all(self, name: str) -> Sequence[int]:
        """Return the elements of a sort (:data:`COUNTED`) on the page, in order."""
        elements = self._elements.get(name)
        if elements is None:
            elements = self._elements[name] = self.tree.elements(*COUNTED[name])
        return elements

    def among(self, name: str, nodes: range) -> Sequence[int]:
        """Return the elements of a sort (:data:`COUNTED`) that are among some nodes, in order."""
        elements = self.all(name)
        first = bisect_left(elements, nodes.start)
        return elements[first : bisect_left(elements, nodes.stop, first)]

    @cached_property
    def _sizes(self) -> NodeSizes:
        return NodeSizes(self.tree, self.measures)

    def place(self, node: int) -> tuple[float, float]:
        """Return where an element begins, from the left, and how wide it is."""
        tags, widths = self.tree.tags, self._sizes.widths
        left, width = 0.0, widths[node]
        while node > 0:
            parent = self.tree.parents[node]
            if tags[node] in CELLS:
                before = iter(self.tree.children(parent))
                left += sum(widths[one] for one in takewhile(node.__gt__, before))
            node = parent
        return left, width

    def image_area(self, node: int) -> float:
        """Return the square pixels of an image."""
        width, height = declared_size(self.tree, node, (PAGE_WIDTH, PAGE_WIDTH))
        height = height or IMAGE_SIDE
        return height * (width or height)


def block_features(page: PageFeatures, nodes: range) -> Mapping[str, float]:
    """Return the features of a block by name.

    x and y are those of its centre; lengths are pixels, shares of the page's width and height, or
    shares of the height of a window.
    """
    first, after = nodes.start, nodes.stop
    chars, link_chars = (sums[after] - sums[first] for sums in (page.chars, page.link_chars))
    left, width = page.place(page.areas.element(nodes))
    width = max(width, 1.0)
    x = left + width / 2
    image_area = sum(map(page.image_area, page.among("images", nodes)))
    height = (chars * CHARACTER_AREA + image_area) / width
    before = page.chars[first] * CHARACTER_AREA / PAGE_WIDTH
    y = before + chars * CHARACTER_AREA / PAGE_WIDTH / 2
    page_height = max(float(page.chars[-1]) * CHARACTER_AREA / PAGE_WIDTH, 1.0)
    images, links, inputs, forms, headings = (
        len(page.among(sort, nodes)) for sort in ("images", "links", "inputs", "forms", "headings")
    )
    values = {
        "x": x,
        "y": y,
        "width": width,
        "height": height,
        "relative_x": x / PAGE_WIDTH,
        "relative_y": y / page_height,
        "relative_width": width / PAGE_WIDTH,
        "relative_height": min(height / page_height, 1.0),
        "window_y": y / WINDOW_HEIGHT,
        "window_height": height / WINDOW_HEIGHT,
        "images": images,
        "image_area": image_area,
        "links": links,
        "text_chars": chars - link_chars,
        "link_chars": link_chars,
        "inputs": inputs,
        "forms": forms,
        "headings": headings,
    }
    return {name: float(value) for name, value in values.items()}
