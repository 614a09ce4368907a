"""ypm: a page in five parts, by position and aspect.

After Y. Chen, W.-Y. Ma and H.-J. Zhang, "Detecting Web Page Structure for Adaptive Viewing on Small
Form Factor Devices", WWW 2003, and Y. Chen, X. Xie, W.-Y. Ma and H.-J. Zhang, "Adapting Web Pages
for Small-Screen Devices", IEEE Internet Computing 9(1), 2005: the high-level blocks. Their second
step, which splits these at explicit and implicit separators, is not done.
"""

from __future__ import annotations

from collections.abc import Sequence

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.runs import Run, content_runs, shown_nodes
from mmcrawl.blocks.layout.sizes import LINE_HEIGHT, PAGE_WIDTH, node_sizes
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


class Ypm:
    """Cuts a page into header, footer, left and right side bar, and body.

    The papers ask a browser where each element is. Here nothing is rendered: places are estimated
    from the order of the text and the declared sizes (:mod:`~mmcrawl.blocks.layout.sizes`). An
    ``aside`` that declares no width is a side bar, left or right by the half of the page's text
    that it stands in.

    An element that lies in a part as a whole is of that part; else its children are looked at, if
    it is no paragraph, list or heading; what is of no part is of the body. A part may be several
    blocks, where others lie in between. There are no levels.

    Args:
        edge: Pixels from the top, or the bottom, within which an element is of the header, or the
            footer. Flat ones may reach further: for height / width = r, by 40 / (20 r + 1) pixels.
            On a short page it is a quarter of the height.
        side: Share of the page's width that a side bar takes at most.

    Raises:
        ValueError: an option is no number, or out of range.
    """

    def __init__(self, *, edge: float | str = 160.0, side: float | str = 0.3) -> None:
        self.edge = number("edge", edge, float, 0)
        self.side = number("side", side, float, 0)
        if self.side > 0.5:
            raise ValueError(f"side must be from 0 to 0.5, not {side}")

    def __call__(self, tree: PageTree, level: int) -> list[Cut]:
        """Return the parts of a page, in the order of its bytes."""
        return [Cut(run.node, run.start, run.end) for run in self._runs(tree, Measures(tree))]

    def kept(self, tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
        """Return the nodes of topic text, and those of related links: the body, for both."""
        nodes = [run.nodes for run in self._runs(tree, measures) if run.owner == _BODY]
        return nodes, nodes

    def _runs(self, tree: PageTree, measures: Measures) -> list[Run]:
        regions = self._regions(tree, measures)
        pieces = shown_nodes(tree, measures)
        return content_runs(tree, pieces, [regions[piece] for piece in pieces])

    def _regions(self, tree: PageTree, measures: Measures) -> list[int]:
        """Return the index of the part that each node is in."""
        page = _Page(tree, measures)
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
        edge = min(self.edge + 40 / (20 * height / width + 1), page_height / 4)
        if page.tops[node] + height <= edge:
            return _HEADER
        if page.tops[node] >= page_height - edge:
            return _FOOTER
        return self._side(page, node)

    def _side(self, page: _Page, node: int) -> int:
        left, width = page.lefts[node], page.widths[node]
        if left + width <= self.side * PAGE_WIDTH:
            return _LEFT
        if left >= (1 - self.side) * PAGE_WIDTH:
            return _RIGHT
        if page.is_open_aside(node):
            return _LEFT if page.is_in_first_half(node) else _RIGHT
        return _BODY


class _Page:
    """Where on a page each node is, and how large."""

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self._tree = tree
        self._chars = measures.chars
        self.widths, self.heights = node_sizes(tree, measures)
        self.lefts, self.tops = node_places(tree, self.widths, self.heights)

    def is_open_aside(self, node: int) -> bool:
        """Whether an element is an ``aside`` as wide as what it stands in."""
        tree = self._tree
        return tree.tags[node] == "aside" and self.widths[node] == self.widths[tree.parents[node]]

    def is_in_first_half(self, node: int) -> bool:
        return 2 * int(self._chars[node]) < int(self._chars[-1])
