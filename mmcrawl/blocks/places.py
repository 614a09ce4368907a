"""Where the elements of a page stand, estimated from their sizes: nothing is rendered."""

from __future__ import annotations

from collections.abc import Sequence

from mmcrawl.blocks.sizes import LINE_HEIGHT
from mmcrawl.blocks.tags import BLOCK_TAGS
from mmcrawl.blocks.tree import PageTree
from mmcrawl.page.names import names

__all__ = ["node_places"]

_CELLS = names("td th")


def node_places(
    tree: PageTree, widths: Sequence[float], heights: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return how far from the left and from the top of the page each node begins, in CSS pixels.

    Elements stand below each other in the order of the text, and at the left of what they stand
    in; the cells of a row stand side by side. What fills less than a line takes no height.

    Args:
        tree: The page.
        widths, heights: Of its nodes (see :func:`~mmcrawl.blocks.sizes.node_sizes`).
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
