"""ypm: a page in five parts, by position and aspect, and these parted at separators.

After Y. Chen, W.-Y. Ma and H.-J. Zhang, "Detecting Web Page Structure for Adaptive Viewing on Small
Form Factor Devices", WWW 2003, and Y. Chen, X. Xie, W.-Y. Ma and H.-J. Zhang, "Adapting Web Pages
for Small-Screen Devices", IEEE Internet Computing 9(1), 2005: first the high-level blocks, then, in
each of them, the units between explicit and implicit separators.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mmcrawl.blocks.layout.areas import PageAreas
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.runs import Run, content_runs, shown_nodes
from mmcrawl.blocks.layout.sizes import LINE_HEIGHT, PAGE_WIDTH, declared_size, node_sizes
from mmcrawl.blocks.partitioners.base import Cut, number
from mmcrawl.blocks.tags import BLOCK_TAGS
from mmcrawl.blocks.tree import PageTree

_CELLS = frozenset("td th".split())


def node_places(
    tree: PageTree, widths: Sequence[float], heights: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return how far from the left and from the top of the page each node begins, in CSS pixels.

    Elements stand below each other in the order of the text, and at the left of what they stand
    in; the cells of a row stand side by side. What fills less than a line takes no height.

    Args:
        tree: The page.
        widths, heights: Of its nodes (see :func:`~mmcrawl.blocks.layout.sizes.node_sizes`).
    """
    count = len(tree)
    lefts, tops = [0.0] * count, [0.0] * count
    across, below = [0.0] * count, [0.0] * count  # how far the children so far fill an element
    tags, parents = tree.tags, tree.parents
    for node in range(1, count):
        tag, parent = tags[node], parents[node]
        lefts[node], tops[node] = lefts[parent], tops[parent]
        if tag in _CELLS:
            lefts[node] += across[parent]
            across[parent] += widths[node]
            continue
        tops[node] += below[parent]
        if heights[node] > LINE_HEIGHT or tag in BLOCK_TAGS:
            below[parent] += heights[node]
    return lefts, tops


_BODY, _HEADER, _FOOTER, _LEFT, _RIGHT = range(5)

_DIVIDED = frozenset(
    """
    html body div table tbody thead tfoot tr td th center form section article main aside header
    footer nav frameset noframes
    """.split()
)
_PLACED = _DIVIDED | frozenset("ul ol dl dir menu fieldset".split())
"""The elements that may be a part; a single paragraph at the top or the bottom is none."""

_WHOLE = BLOCK_TAGS - _DIVIDED

_AT_THE_SIDE = frozenset({"side", "navigation"})
_NAMED = {"head": _HEADER, "foot": _FOOTER}

_BORDER = re.compile(r"\bborder(?:-(?:top|right|bottom|left))?\s*:\s*(?!\s|0|none|hidden)")
_THIN = 8.0  # pixels that a line, or a picture that stands for one, is wide or high at most
_DRAWN = frozenset("img table td div".split())


class Ypm:
    """Cuts a page into header, footer, left and right side bar, and body, and these into units.

    The papers ask a browser where each element is. Here nothing is rendered: places are estimated
    from the order of the text and the declared sizes (:mod:`~mmcrawl.blocks.layout.sizes`); and
    since today's sizes are declared in style sheets that are not at hand, an element whose tag,
    role, class or id says that it is a head, a foot, a side bar or a menu
    (:mod:`~mmcrawl.blocks.layout.areas`) is taken to be where it says. A side bar or menu is at the
    left or at the right by the half of the page's text that it stands in.

    An element that lies in a part as a whole is of that part; else its children are looked at, if
    it is no paragraph, list or heading; what is of no part is of the body. A part may be several
    blocks, where others lie in between. That is level 1.

    Level 2 parts each of these. Explicit separators are rules (``hr``), borders, and pictures,
    cells and boxes too thin for content. Implicit ones are the blanks that a page leaves between
    things that differ: in an element higher than a unit, a child that has another tag or class than
    the one before it begins a new unit, and so does one that is higher than a unit itself; a run of
    children that look alike and are low is one unit.

    Args:
        edge: Pixels from the top, or the bottom, within which an element is of the header, or the
            footer. Flat ones may reach further: for height / width = r, by 40 / (20 r + 1) pixels.
            On a short page it is a quarter of the height.
        side: Share of the page's width that a side bar takes at most.
        unit: Pixels; what is no higher than this, a small screen, is not parted implicitly.

    Raises:
        ValueError: an option is no number, or out of range.
    """

    def __init__(
        self, *, edge: float | str = 160.0, side: float | str = 0.3, unit: float | str = 240.0
    ) -> None:
        self.edge = number("edge", edge, float, 0)
        self.side = number("side", side, float, 0)
        if self.side > 0.5:
            raise ValueError(f"side must be from 0 to 0.5, not {side}")
        self.unit = number("unit", unit, float, 0)

    def __call__(self, tree: PageTree, level: int) -> list[Cut]:
        """Return the parts of a page, in the order of its bytes; from level 2 on with units."""
        page = _Page(tree, Measures(tree))
        runs = self._runs(page)
        if level < 2:
            return [Cut(run.node, run.start, run.end) for run in runs]
        units = self._units(page, runs)
        return [
            Cut(run.node, run.start, run.end, tuple(inside) if len(inside) > 1 else ())
            for run, inside in zip(runs, units, strict=True)
        ]

    def kept(self, tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
        """Return the nodes of topic text, and those of related links: the body, for both.

        Units part what is kept and do not change it: the papers drop none of them.
        """
        runs = self._runs(_Page(tree, measures))
        nodes = [run.nodes for run in runs if run.owner == _BODY]
        return nodes, nodes

    def _runs(self, page: _Page) -> list[Run]:
        regions = self._regions(page)
        return content_runs(page.tree, page.shown, [regions[piece] for piece in page.shown])

    def _units(self, page: _Page, runs: list[Run]) -> list[list[Cut]]:
        """Return the units of each part; what is too thin for content is in none."""
        ends = [run.nodes.stop for run in runs]
        starts = sorted({0, *ends, *self._separators(page)})
        owners = [-1 if page.is_thin(node) else bisect_right(starts, node) for node in page.shown]
        found: list[list[Cut]] = [[] for _ in runs]
        for unit in content_runs(page.tree, page.shown, owners):
            if unit.owner >= 0:
                part = found[bisect_right(ends, unit.nodes.start)]
                part.append(Cut(unit.node, unit.start, unit.end))
        return found

    def _regions(self, page: _Page) -> list[int]:
        """Return the index of the part that each node is in."""
        tree = page.tree
        regions = [_BODY] * len(tree)
        node = 1
        while node < len(tree):
            tag, after = tree.tags[node], tree.after[node]
            region = self._region(page, node) if tag in _PLACED else _BODY
            if region == _BODY and tag not in _WHOLE:
                node += 1
                continue
            regions[node:after] = [region] * (after - node)
            node = after
        return regions

    def _region(self, page: _Page, node: int) -> int:
        width, height, page_height = page.widths[node], page.heights[node], page.heights[0]
        if height == 0 or width == 0:
            return _BODY
        named = self._named(page, node)
        if named != _BODY:
            return named
        edge = min(self.edge + 40 / (20 * height / width + 1), page_height / 4)
        if page.tops[node] + height <= edge:
            return _HEADER
        if page.tops[node] >= page_height - edge:
            return _FOOTER
        if page.lefts[node] + width <= self.side * PAGE_WIDTH:
            return _LEFT
        return _RIGHT if page.lefts[node] >= (1 - self.side) * PAGE_WIDTH else _BODY

    def _named(self, page: _Page, node: int) -> int:
        area = page.areas.of(node)
        if area in _AT_THE_SIDE:
            return _LEFT if page.is_in_first_half(node) else _RIGHT
        return _NAMED.get(area, _BODY)

    def _separators(self, page: _Page) -> Iterator[int]:
        """Yield the nodes that a unit may begin with."""
        tree, heights = page.tree, page.heights
        tags, after = tree.tags, tree.after
        for node, tag in enumerate(tags):
            if tag == "hr" or page.is_thin(node) or page.has_border(node):
                yield from (node, after[node])
            if heights[node] <= self.unit or tag in _WHOLE:
                continue
            children = [child for child in tree.children(node) if tags[child] in BLOCK_TAGS]
            for before, child in pairwise(children):
                if page.look(before) != page.look(child) or heights[child] > self.unit:
                    yield from (after[before], child)


class _Page:
    """Where on a page each node is, how large, and what it looks like as far as it says."""

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self.tree = tree
        self._chars = measures.chars
        self.areas = PageAreas(tree, measures)
        self.shown = shown_nodes(tree, measures)
        self.widths, self.heights = node_sizes(tree, measures)
        self.lefts, self.tops = node_places(tree, self.widths, self.heights)

    def is_in_first_half(self, node: int) -> bool:
        return 2 * int(self._chars[node]) < int(self._chars[-1])

    def is_thin(self, node: int) -> bool:
        """Whether an element is drawn as a line: it declares to be no wider or higher."""
        if self.tree.tags[node] not in _DRAWN:
            return False
        return any(0 < length <= _THIN for length in declared_size(self.tree, node))

    def has_border(self, node: int) -> bool:
        """Whether a table or box declares a border of its own."""
        if self.tree.tags[node] not in _DIVIDED:
            return False
        attributes = self.tree.attributes(node)
        if _BORDER.search(attributes.get("style", "").lower()):
            return True
        return self.tree.tags[node] == "table" and attributes.get("border", "0").strip() != "0"

    def look(self, node: int) -> tuple[str, str]:
        return self.tree.tags[node], self.tree.attributes(node).get("class", "")
