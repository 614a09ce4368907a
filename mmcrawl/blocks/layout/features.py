"""The features of a single block: its place, its contents, its tags.

Wang & Zhu 2012, section 2.2.2. Nothing is rendered: a page is assumed to be :data:`PAGE_WIDTH` wide
and filled with its text from top to bottom, so the place of a block is its place in the order of
the text. Widths are those that tables and boxes declare; the cells of a row stand side by side.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from types import MappingProxyType

from mmcrawl.blocks.layout.areas import PageAreas
from mmcrawl.blocks.layout.headlines import Headlines
from mmcrawl.blocks.layout.lines import PageText
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.sizes import CELLS, IMAGE_SIDE, PAGE_WIDTH, NodeSizes, declared_size
from mmcrawl.page.html.tree import PageTree

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
    """The features of a page, however it is cut into blocks; each is computed on demand.

    Args:
        tree, measures: The page.
        url: Of the page, or None.

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
