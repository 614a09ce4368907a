"""What is known of a block: where it is, what it holds, what its tags say.

Wang & Zhu 2012, section 2.2.2. Nothing is rendered: a page is taken to be :data:`PAGE_WIDTH` wide
and to be filled with its text from top to bottom, so that the place of a block is its place in the
order of the text. Widths are those that tables and boxes declare; the cells of a row stand side by
side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.areas import PageAreas
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tree import PageTree

PAGE_WIDTH = 1000.0
"""Pixels."""

WINDOW_HEIGHT = 768.0
"""Pixels of a page that a reader sees at once."""

CHARACTER_AREA = 200.0
"""Square pixels that a character takes, with its share of the space between lines."""

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


class BlockFeatures:
    """The features of the blocks of a page, one array for each.

    Args:
        tree, measures: The page.
        blocks: Ranges of nodes, in order.
        areas: What the page's parts are for; says which element each block is.
    """

    def __init__(
        self, tree: PageTree, measures: Measures, blocks: Sequence[range], areas: PageAreas
    ) -> None:
        self._tree = tree
        self._first = np.array([block.start for block in blocks], dtype=np.int64)
        self._after = np.array([max(b.stop, b.start) for b in blocks], dtype=np.int64)
        self.elements = [areas.element(block) for block in blocks]
        """The element that each block is, or stands in."""
        chars = self._held(measures.chars)
        self.link_chars = self._held(measures.link_chars)
        self.text_chars = chars - self.link_chars
        counts = measures.counts
        self.links = self._held(counts["links"])
        self.images = self._held(counts["images"])
        self.flash = self._held(counts["flash"])
        self.inputs = self._held(counts["inputs"])
        self.forms = self._held(counts["forms"])
        self.headings = self._held(counts["headings"])
        self.image_area = self._image_areas(blocks)
        self._places: dict[int, tuple[float, float]] = {0: (0.0, PAGE_WIDTH)}
        places = np.array([self._place(node) for node in self.elements]).reshape(-1, 2)
        self.width = np.maximum(places[:, 1], 1.0)
        self.x = places[:, 0] + self.width / 2
        self.height = (chars * CHARACTER_AREA + self.image_area) / self.width
        before = measures.chars[self._first] * CHARACTER_AREA / PAGE_WIDTH
        self.y = before + chars * CHARACTER_AREA / PAGE_WIDTH / 2
        self._page_height = max(float(measures.chars[-1]) * CHARACTER_AREA / PAGE_WIDTH, 1.0)

    def rows(self) -> list[Mapping[str, float]]:
        """Return the features of each block by name."""
        columns = (
            self.x,
            self.y,
            self.width,
            self.height,
            self.x / PAGE_WIDTH,
            self.y / self._page_height,
            self.width / PAGE_WIDTH,
            np.minimum(self.height / self._page_height, 1.0),
            self.y / WINDOW_HEIGHT,
            self.height / WINDOW_HEIGHT,
            self.images,
            self.image_area,
            self.links,
            self.text_chars,
            self.link_chars,
            self.inputs,
            self.forms,
            self.headings,
        )
        table = np.stack([column.astype(np.float64) for column in columns], axis=1)
        return [dict(zip(FEATURES, row, strict=True)) for row in table.tolist()]

    def _held(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        return sums[self._after] - sums[self._first]

    def _image_areas(self, blocks: Sequence[range]) -> NDArray[np.float64]:
        areas = np.zeros(len(blocks))
        tags = self._tree.tags
        for index in np.flatnonzero(self.images).tolist():
            block = blocks[index]
            areas[index] = sum(self._image_area(i) for i in block if tags[i] in ("img", "image"))
        return areas

    def _image_area(self, node: int) -> float:
        attributes = self._tree.attributes(node)
        height = pixels(attributes.get("height", ""), PAGE_WIDTH) or _PICTURE_HEIGHT
        return height * (pixels(attributes.get("width", ""), PAGE_WIDTH) or height)

    def _place(self, node: int) -> tuple[float, float]:
        """Return where an element begins, from the left, and how wide it is."""
        known, parents = self._places, self._tree.parents
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
        tag = self._tree.tags[node]
        if tag in ("td", "th"):
            if node not in self._places:
                self._place_cells(self._tree.parents[node], around)
            return self._places[node]
        if tag not in ("table", "div", "section", "main", "aside", "article"):
            return around
        own = self._declared_width(node, width)
        return (left, min(own, width)) if own else around

    def _place_cells(self, row: int, around: tuple[float, float]) -> None:
        """Put the cells of a row side by side, those without a declared width sharing the rest."""
        left, width = around
        cells = [i for i in self._tree.children(row) if self._tree.tags[i] in ("td", "th")]
        declared = [self._declared_width(cell, width) for cell in cells]
        rest = max(width - sum(declared), 0.0) / max(declared.count(0.0), 1)
        for cell, own in zip(cells, declared, strict=True):
            self._places[cell] = (left, own or rest)
            left += own or rest

    def _declared_width(self, node: int, around: float) -> float:
        attributes = self._tree.attributes(node)
        if found := _CSS_WIDTH.search(attributes.get("style", "").lower()):
            return pixels(found[1], around)
        return pixels(attributes.get("width", ""), around)


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
