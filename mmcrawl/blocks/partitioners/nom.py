"""nom: no method at all, the whole page as one block."""

from __future__ import annotations

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.partitioners.base import Cut
from mmcrawl.blocks.tree import PageTree


class Nom:
    """Keeps all visible text and all links of a page (Wang & Zhu 2012, section 4: NOM).

    What other methods are measured against: it loses nothing, and removes nothing.
    """

    def __call__(self, tree: PageTree, level: int) -> list[Cut]:
        """Return the page as one block; none, if it is empty."""
        return [Cut(0, 0, len(tree.body))] if tree.body else []

    def kept(self, tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
        """Return the nodes of topic text and those of related links: all, and all."""
        page = range(len(tree))
        return [page], [page]
