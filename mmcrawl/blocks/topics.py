"""What a block is about, in a few words (Song et al. 2008, section 2.2)."""

from __future__ import annotations

from mmcrawl.blocks.tree import PageTree

__all__ = ["block_topic"]


def block_topic(tree: PageTree, nodes: range) -> str:
    """Return the topic of the text in a range of nodes."""
    raise NotImplementedError
