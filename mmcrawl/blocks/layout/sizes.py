"""How large the elements of a page are, in CSS pixels, without rendering it.

What is declared counts: ``width`` and ``height`` as attributes or in the element's own ``style``,
percentages being those of the parent. What is not declared is estimated: a box is as wide as its
parent, the cells of a row share what is left of it, text is set in characters of
:data:`CHARACTER_WIDTH` in lines of :data:`LINE_HEIGHT`, an image of unknown size is a small square,
boxes stand below each other and cells side by side. Style sheets are not read. Good enough to tell
a spacer from a column, not to draw a page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from math import ceil

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import BLOCK_TAGS
from mmcrawl.page.html.tree import PageTree

PAGE_WIDTH = 1000.0
CHARACTER_WIDTH = 8.0
LINE_HEIGHT = 20.0
IMAGE_SIDE = 60.0
"""Width and height of an image, player or control that declares none."""

_LARGEST = 20_000.0
_NO_SIZE = 0.0, 0.0
_UNDECLARED = "", ""
_PLACED = frozenset(
    """
    img image svg canvas video audio object embed applet iframe frame input select textarea button
    """.split()
)
CELLS = frozenset("td th".split())
_UNITS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0}
_LENGTH = re.compile(r"\s*+(\d{1,6}(?:\.\d{1,6})?)\s*+(px|pt|em|rem|%)?\s*+(?:;|!|\Z)")
_STYLE = re.compile(
    r"(?:^|;)\s*+(width|height)\s*+:\s*+(\d{1,6}(?:\.\d{1,6})?\s*+(?:px|pt|em|rem|%)?)\s*+(?=;|!|\Z)"
)


def node_sizes(tree: PageTree, measures: Measures) -> tuple[list[float], list[float]]:
    """Return widths and heights of all nodes in CSS pixels, 0 if hidden; inline: of the line."""
    sizes = NodeSizes(tree, measures)
    return sizes.widths, sizes.heights


def declared_size(
    tree: PageTree, node: int, around: tuple[float, float] = (0.0, 0.0)
) -> tuple[float, float]:
    """Return the width and height that an element declares, else 0; percentages of `around`."""
    return _size(_declared_in(tree.attributes(node)), around)


def _declared_in(attributes: Mapping[str, str]) -> tuple[str, str]:
    width, height = attributes.get("width", ""), attributes.get("height", "")
    if not (style := attributes.get("style")):
        return width, height
    found = {"width": width, "height": height, **dict(_STYLE.findall(style.lower()))}
    return found["width"], found["height"]


def _size(declared: tuple[str, str], around: tuple[float, float]) -> tuple[float, float]:
    width, height = declared
    return _pixels(width, around[0]), _pixels(height, around[1])


def _pixels(length: str, around: float) -> float:
    match = _LENGTH.match(length) if length else None
    if match is None:
        return 0.0
    factor = around / 100 if match[2] == "%" else _UNITS[match[2] or ""]
    return min(float(match[1]) * factor, _LARGEST)


class NodeSizes:
    """Sizes of all nodes: widths from the outside inwards; heights, if asked for, from inside."""

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self._tree = tree
        self._hidden = measures.hidden
        self._drawn = measures.drawn
        self._chars: list[int] = (measures.chars[1:] - measures.chars[:-1]).tolist()
        self._declared = {tag: _declared_in(tag.attributes) for tag in set(self._drawn)}
        self.widths = [0.0] * len(tree)
        self._own_heights = [0.0] * len(tree)  # as declared
        self.widths[0] = PAGE_WIDTH
        self._place()

    def _place(self) -> None:
        """Find the widths, and the heights that are declared."""
        tree, widths, heights = self._tree, self.widths, self._own_heights
        tags, parents, hidden, chars = tree.tags, tree.parents, self._hidden, self._chars
        for node in range(1, len(tree)):
            tag = tags[node]
            if hidden[node] and tag not in _PLACED:
                continue
            around = widths[parents[node]]
            if tag == TEXT:
                width = chars[node] * CHARACTER_WIDTH
                widths[node] = width if width < around else around
                continue
            if tag in CELLS and widths[node]:
                continue  # placed with its row
            width, height = self._size(node, (around, heights[parents[node]]))
            default = min(IMAGE_SIDE, around) if tag in _PLACED else around
            widths[node], heights[node] = width or default, height
            if tag == "tr":
                self._place_cells(node)

    def _place_cells(self, row: int) -> None:
        """Put the cells of a row side by side; those that declare no width share the rest."""
        tree, around = self._tree, (self.widths[row], self._own_heights[row])
        cells = [cell for cell in tree.children(row) if tree.tags[cell] in CELLS]
        declared = [self._size(cell, around) for cell in cells]
        open_cells = sum(not width for width, _ in declared)
        rest = max(around[0] - sum(width for width, _ in declared), 0.0) / max(open_cells, 1)
        for cell, (width, height) in zip(cells, declared, strict=True):
            self.widths[cell], self._own_heights[cell] = width or rest, height

    def _size(self, node: int, around: tuple[float, float]) -> tuple[float, float]:
        known = self._declared[self._drawn[node]]
        return _size(known, around) if known != _UNDECLARED else _NO_SIZE

    @cached_property
    def heights(self) -> list[float]:
        """Of each node, as declared or as what it holds stands below each other."""
        tree, widths, heights = self._tree, self.widths, self._own_heights
        tags, parents, hidden, chars = tree.tags, tree.parents, self._hidden, self._chars
        boxes = [0.0] * len(tree)  # height of the boxes in an element
        lines = [0.0] * len(tree)  # area of what stands in lines in it
        for node in range(len(tree) - 1, 0, -1):
            tag, parent = tags[node], parents[node]
            if tag == TEXT:
                area = chars[node] * CHARACTER_WIDTH * LINE_HEIGHT
                heights[node] = _text_height(area, widths[parent])
                lines[parent] += area
                continue
            is_placed = tag in _PLACED
            if hidden[node] and not is_placed:
                continue
            height = heights[node]
            if not height:
                height = boxes[node] + _text_height(lines[node], widths[node])
                if is_placed and height < IMAGE_SIDE:
                    height = IMAGE_SIDE
                heights[node] = height
            if tag in CELLS:
                boxes[parent] = max(boxes[parent], height)
            elif tag in BLOCK_TAGS or boxes[node]:
                boxes[parent] += height
            else:
                lines[parent] += lines[node] or (widths[node] * height if is_placed else 0.0)
        heights[0] = boxes[0] + _text_height(lines[0], widths[0])
        return heights


def _text_height(area: float, width: float) -> float:
    if not area or not width:
        return 0.0
    # A column is as wide as a pixel at least: halved a thousand times, a width is next to nothing.
    return ceil(area / (width if width > 1.0 else 1.0) / LINE_HEIGHT) * LINE_HEIGHT
