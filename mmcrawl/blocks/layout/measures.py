"""How much of what stands in each element: text, link text, images, controls.

All is counted in one pass over the nodes of a page and kept as running sums, so that any subtree,
and any range of nodes, is measured by one subtraction.

Visible is all text that no element hides by its tag (script, style, template, …), without furigana.
Text hidden by the attribute ``hidden`` or an inline ``display:none`` counts as visible: scripts
often reveal it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.drawn_tags import DrawnTag, drawn_tags
from mmcrawl.page.tags import HIDDEN
from mmcrawl.page.tree import PageTree

Sums = NDArray[np.int32]

_LEAST_THREAD = 500  # characters: many sentences, in any language


class Measures:
    """Running sums over the nodes of a page, and where its elements stand.

    Each array has one entry more than the page has nodes: ``sums[j] - sums[i]`` is what the nodes
    from i up to, not including, j hold. Characters are those of the text as read (entities
    resolved, white space collapsed), so that they do not depend on the encoding.
    """

    def __init__(self, tree: PageTree) -> None:
        self.tree = tree
        chars = np.zeros(len(tree), dtype=np.int32)
        chars[tree.runs] = tree.texts.lengths()
        hidden = self._hidden(chars)
        chars[hidden] = 0
        in_link = tree.inside(tree.having(("a",)))
        self.hidden: bytes = hidden.tobytes()
        """Of each node: 1 if its text is none that a reader sees, else 0."""
        self.in_link: bytes = in_link.tobytes()
        """Of each node: 1 if it is a link or stands inside of one, else 0."""
        self.chars: Sums = _running(chars)
        """Characters of visible text."""
        self.link_chars: Sums = _running(np.where(in_link, chars, 0))
        """Characters of visible text inside links."""

    @cached_property
    def drawn(self) -> Sequence[DrawnTag]:
        """The start tag of each node."""
        return drawn_tags(self.tree)

    def _hidden(self, chars: Sums) -> NDArray[np.bool_]:
        """Return of each node whether its text is hidden, given how many characters it has.

        What is for readers without scripts is, unless it is a text, and most of the page's. Forums
        that are drawn by a script carry their whole thread in a noscript element; the empty shell
        of an application, a sentence that asks for scripts.
        """
        tree = self.tree
        hidden = tree.inside(tree.having(HIDDEN))
        furigana = tree.having(("rt", "rp"))  # readings above characters: the text said twice
        if furigana.any():
            hidden |= tree.inside(furigana) & tree.inside(tree.having(("ruby",)))
        fallbacks = tree.having(("noscript",)) & ~hidden
        if not fallbacks.any():
            return hidden
        inside = tree.inside(fallbacks) & ~hidden
        visible = int(chars[~hidden].sum())
        fallback = int(chars[inside].sum())
        if fallback >= _LEAST_THREAD and 2 * fallback > visible:
            return hidden
        return hidden | inside

    def total(self, sums: Sums, node: int) -> int:
        """Return what a node and its subtree hold."""
        return int(sums[self.tree.after[node]] - sums[node])


def _running(values: NDArray[np.int32]) -> Sums:
    sums = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(values, out=sums[1:])
    return sums
