"""What is known of a block by itself: where it is, what it holds, what its tags say.

Wang & Zhu 2012, section 2.2.2. Nothing is rendered: a page is taken to be :data:`PAGE_WIDTH` wide
and to be filled with its text from top to bottom, so that the place of a block is its place in the
order of the text. Widths are those that tables and boxes declare; the cells of a row stand side by
side.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from urllib.parse import urlsplit

from mmcrawl.blocks.layout.areas import PageAreas
from mmcrawl.blocks.layout.headlines import Headlines
from mmcrawl.blocks.layout.lines import PageText
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.sizes import PAGE_WIDTH
from mmcrawl.page.tree import PageTree

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

_PICTURE_HEIGHT = 60.0  # of one that declares no size
_LARGEST = 4000.0

FEATURES = (
    "x",
    "y",
    "width",
    "height",
    "relative_x",
    "relative_y",
    "relative_width",
    "relative_height",
    "window_y",
    "window_height",
    "images",
    "image_area",
    "links",
    "text_chars",
    "link_chars",
    "inputs",
    "forms",
    "headings",
)
"""Names of the features: x and y are of the centre; lengths are pixels, shares of the page's width
and height, or shares of the height of a window."""

_LENGTH = re.compile(r"\s*(\d{1,5}(?:\.\d+)?)\s*(px|%|$)")
_CSS_WIDTH = re.compile(r"(?:^|[;\s])width\s*:([^;]*)")


def is_topic_page(measures: Measures, link_text_ratio: float) -> bool:
    """Whether a page is there for its text, not for its links (section 2.2.3, step 4).

    Args:
        measures: Of the page.
        link_text_ratio: Characters of link text for each character of other text, below which it
            is a topic page.
    """
    link_chars = int(measures.link_chars[-1])
    return link_chars < link_text_ratio * (int(measures.chars[-1]) - link_chars)


class PageFeatures:
    """What is known of a page, whichever way it is cut into blocks. What is not asked is not found.

    Args:
        tree, measures: The page.
        url: Of the page, or None.

    Attributes:
        url, host: "" if it is not known.
        chars, link_chars: As the page's :class:`Measures` have them.
    """

    def __init__(self, tree: PageTree, measures: Measures, url: str | None = None) -> None:
        self.tree = tree
        self.measures = measures
        self.url = url or ""
        self.host = host_of(url) if url else ""
        self.chars: list[int] = measures.chars.tolist()
        self.link_chars: list[int] = measures.link_chars.tolist()
        self._elements: dict[str, Sequence[int]] = {}
        self._places: dict[int, tuple[float, float]] = {0: (0.0, PAGE_WIDTH)}

    @cached_property
    def texts(self) -> PageText:
        """The visible text."""
        return PageText(self.tree, self.measures)

    @cached_property
    def areas(self) -> PageAreas:
        """What the parts of the page are for."""
        return PageAreas(self.tree, self.measures)

    @cached_property
    def headlines(self) -> Headlines:
        """What is a heading."""
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

    def place(self, node: int) -> tuple[float, float]:
        """Return where an element begins, from the left, and how wide it is."""
        known, parents = self._places, self.tree.parents
        above: list[int] = []
        while node not in known:
            above.append(node)
            node = parents[node]
        for below in reversed(above):
            known[below] = self._place_in(below, known[node])
            node = below
        return known[node]

    def _place_in(self, node: int, around: tuple[float, float]) -> tuple[float, float]:
        left, width = around
        tag = self.tree.tags[node]
        if tag in ("td", "th"):
            if node not in self._places:
                self._place_cells(self.tree.parents[node], around)
            return self._places[node]
        if tag not in ("table", "div", "section", "main", "aside", "article"):
            return around
        own = self._declared_width(node, width)
        return (left, min(own, width)) if own else around

    def _place_cells(self, row: int, around: tuple[float, float]) -> None:
        """Put the cells of a row side by side, those without a declared width sharing the rest."""
        left, width = around
        cells = [i for i in self.tree.children(row) if self.tree.tags[i] in ("td", "th")]
        declared = [self._declared_width(cell, width) for cell in cells]
        rest = max(width - sum(declared), 0.0) / max(declared.count(0.0), 1)
        for cell, own in zip(cells, declared, strict=True):
            self._places[cell] = (left, own or rest)
            left += own or rest

    def image_area(self, node: int) -> float:
        """Return the square pixels of an image."""
        attributes = self.tree.attributes(node)
        height = pixels(attributes.get("height", ""), PAGE_WIDTH) or _PICTURE_HEIGHT
        return height * (pixels(attributes.get("width", ""), PAGE_WIDTH) or height)

    def _declared_width(self, node: int, around: float) -> float:
        attributes = self.tree.attributes(node)
        if found := _CSS_WIDTH.search(attributes.get("style", "").lower()):
            return pixels(found[1], around)
        return pixels(attributes.get("width", ""), around)


def block_features(page: PageFeatures, nodes: range) -> Mapping[str, float]:
    """Return the features of a block by name.

    Args:
        page: The page.
        nodes: What the block holds.
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
    values = (
        x,
        y,
        width,
        height,
        x / PAGE_WIDTH,
        y / page_height,
        width / PAGE_WIDTH,
        min(height / page_height, 1.0),
        y / WINDOW_HEIGHT,
        height / WINDOW_HEIGHT,
        images,
        image_area,
        links,
        chars - link_chars,
        link_chars,
        inputs,
        forms,
        headings,
    )
    return dict(zip(FEATURES, map(float, values), strict=True))


def host_of(url: str) -> str:
    """Return the host that a URL names, or ""."""
    try:
        return urlsplit(url.strip()).hostname or ""
    except ValueError:
        return ""


def pixels(length: str, around: float) -> float:
    """Return a length as declared, in pixels; 0 where it declares none that is understood.

    >>> pixels("25%", 800.0), pixels("30px", 800.0), pixels("2em", 800.0)
    (200.0, 30.0, 0.0)
    """
    match = _LENGTH.match(length)
    if match is None:
        return 0.0
    number = float(match[1])
    return number * around / 100 if match[2] == "%" else min(number, _LARGEST)
