"""What each block of a page is (Wang & Zhu 2012, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mmcrawl.blocks.kind_rules import judge
from mmcrawl.blocks.measures import Measures
from mmcrawl.blocks.page_blocks import PageBlocks
from mmcrawl.blocks.tree import PageTree

__all__ = ["KINDS", "BlockKind", "block_kinds"]

KINDS = (
    "title",
    "topic",
    "related-links",
    "navigation",
    "advertisement",
    "copyright",
    "image",
    "noise-links",
    "small",
)


@dataclass(frozen=True, slots=True)
class BlockKind:
    """The kind of a block, how surely, and what it was found from."""

    name: str
    score: float
    features: Mapping[str, float]


def block_kinds(
    tree: PageTree, measures: Measures, blocks: Sequence[range], url: str | None = None
) -> list[BlockKind]:
    """Return the kind of each block, given as ranges of nodes, in order and not overlapping.

    Args:
        tree, measures: The page.
        blocks: The blocks, by any method; together they need not be the whole page.
        url: Of the page: tells links within the site from those that leave it.
    """
    among = PageBlocks(tree, measures, blocks, url)
    return [
        BlockKind(name, score, features)
        for (name, score), features in zip(judge(among), among.features.rows(), strict=True)
    ]
