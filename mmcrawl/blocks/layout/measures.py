"""How much of what stands in each element: text, link text, images, controls.

All is counted in one pass over the nodes of a page and kept as running sums, so that any subtree,
and any range of nodes, is measured by one subtraction.

Visible is all text that no element hides by its tag (script, style, template, …). Text hidden by
the attribute ``hidden`` or an inline ``display:none`` counts as visible: scripts often reveal it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.tags import HIDDEN
from mmcrawl.blocks.tree import PageTree

Sums = NDArray[np.int64]

_COUNTED: dict[str, frozenset[str]] = {
    "links": frozenset("a area".split()),
    "images": frozenset("img image".split()),
    "flash": frozenset("object embed applet".split()),
    "inputs": frozenset("input select textarea button".split()),
    "forms": frozenset("form".split()),
    "headings": frozenset("h1 h2 h3 h4 h5 h6".split()),
}


class Measures:
    """Running sums over the nodes of a page.

    Each array has one entry more than the page has nodes: ``sums[j] - sums[i]`` is what the nodes
    from i up to, not including, j hold. Characters are those of the text as read (entities
    resolved, white space collapsed), so that they do not depend on the encoding.
    """

    def __init__(self, tree: PageTree) -> None:
        self.tree = tree
        count = len(tree)
        self.hidden: list[bool] = [False] * count
        """Of each node: whether its text is none that a reader sees."""
        self.in_link: list[bool] = [False] * count
        """Of each node: whether it is a link or stands inside of one."""
        chars = self._visible_chars()
        self._hide_fallbacks(chars)
        self.chars: Sums = _running(chars)
        """Characters of visible text."""
        in_link = self.in_link
        self.link_chars: Sums = _running([c if in_link[i] else 0 for i, c in enumerate(chars)])
        """Characters of visible text inside links."""

    def _visible_chars(self) -> list[int]:
        tree, hidden, in_link = self.tree, self.hidden, self.in_link
        tags, parents = tree.tags, tree.parents
        chars = [0] * len(tree)
        for node in range(1, len(tree)):
            tag, parent = tags[node], parents[node]
            if hidden[parent] or tag in HIDDEN:
                hidden[node] = True
            if in_link[parent] or tag == "a":
                in_link[node] = True
            if tag == TEXT and not hidden[node]:
                chars[node] = len(tree.text(node))
        return chars

    def _hide_fallbacks(self, chars: list[int]) -> None:
        """Hide what is for readers without scripts, unless it is most of the page's text.

        Forums that are drawn by a script carry their whole thread in a noscript element.
        """
        after = self.tree.after
        runs: list[range] = []
        for node, tag in enumerate(self.tree.tags):
            inside = runs and node < runs[-1].stop  # of another one, and counted with it
            if tag == "noscript" and not self.hidden[node] and not inside:
                runs.append(range(node, after[node]))
        fallback = sum(sum(chars[run.start : run.stop]) for run in runs)
        if 2 * fallback > sum(chars):
            return
        for run in runs:
            self.hidden[run.start : run.stop] = [True] * len(run)
            chars[run.start : run.stop] = [0] * len(run)

    @cached_property
    def counts(self) -> dict[str, Sums]:
        """Running numbers of elements: links, images, flash, inputs, forms, headings."""
        tags = self.tree.tags
        return {
            name: _running([tag in counted for tag in tags]) for name, counted in _COUNTED.items()
        }

    def total(self, sums: Sums, node: int) -> int:
        """Return what a node and its subtree hold."""
        return int(sums[self.tree.after[node]] - sums[node])


def _running(values: list[int] | list[bool]) -> Sums:
    sums = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return sums
