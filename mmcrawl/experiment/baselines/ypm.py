"""ypm: a page in five parts, by position and aspect.

After Y. Chen, W.-Y. Ma and H.-J. Zhang, "Detecting Web Page Structure for Adaptive Viewing on Small
Form Factor Devices", WWW 2003, and Y. Chen, X. Xie, W.-Y. Ma and H.-J. Zhang, "Adapting Web Pages
for Small-Screen Devices", IEEE Internet Computing 9(1), 2005. Their second
step, which divides each part at separators, keeps and removes nothing and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from mmcrawl.blocks.layout.areas import PageAreas
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.runs import content_runs, shown_nodes
from mmcrawl.blocks.layout.sizes import LINE_HEIGHT, PAGE_WIDTH, node_sizes
from mmcrawl.page.tags import BLOCK_TAGS
from mmcrawl.page.tree import PageTree

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


class Ypm:
    """Tells the header, footer, side bars and body of a page; the body is what it keeps.

    The papers ask a browser where each element is. Here nothing is rendered: places are estimated
    from the order of the text and the declared sizes (:mod:`~mmcrawl.blocks.layout.sizes`); and
    since today's sizes are declared in style sheets that are not at hand, an element whose tag,
    role, class or id says that it is a head, a foot, a side bar or a menu
    (:mod:`~mmcrawl.blocks.layout.areas`) is taken to be where it says. A side bar or menu is at the
    left or at the right by the half of the page's text that it stands in.

    An element that lies in a part as a whole is of that part; else its children are looked at, if
    it is no paragraph, list or heading; what is of no part is of the body.

    Args:
        edge: Pixels from the top, or the bottom, within which an element is of the header, or the
            footer. Flat ones may reach further: for height / width = r, by 40 / (20 r + 1) pixels.
            On a short page it is a quarter of the height.
        side: Share of the page's width that a side bar takes at most.
    """

    def __init__(self, *, edge: float = 160.0, side: float = 0.3) -> None:
        self.edge = edge
        self.side = side

    def __call__(self, tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
        """Return the nodes of topic text, and those of related links: the body, for both."""
        page = _Page(tree, measures)
        regions = self._regions(page)
        runs = content_runs(tree, page.shown, [regions[piece] for piece in page.shown])
        nodes = [run.nodes for run in runs if run.owner == _BODY]
        return nodes, nodes

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
