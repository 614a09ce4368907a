"""A page cut into blocks: byte ranges of the page as received, each with a kind and a topic.

:func:`partition` cuts a page by one of several methods. They differ only in where they cut; what
is archived, labelled, ranked and searched works over the blocks of any of them.
:func:`page_content` gives what a page says: headline, main text, comments, related links, and facts
(authors, dates, site, licence).
"""

from typing import TYPE_CHECKING, Any

from mmcrawl.blocks.content.content import PageContent, page_content
from mmcrawl.blocks.link_kinds import link_kinds
from mmcrawl.blocks.merging import MergedPage, merge_blocks
from mmcrawl.blocks.partition import Block, BlockLink, Partition, partition
from mmcrawl.blocks.partitioners.base import (
    DEFAULT_LEVEL,
    DEFAULT_METHOD,
    MAX_LEVEL,
    Cut,
    Partitioner,
)
from mmcrawl.blocks.partitioners.registry import partitioner_names
from mmcrawl.blocks.tree import PageTree, read_tree

if TYPE_CHECKING:
    from mmcrawl.blocks.facts.dates import Dated
    from mmcrawl.blocks.facts.facts import PageFacts

__all__ = [
    "DEFAULT_LEVEL",
    "DEFAULT_METHOD",
    "MAX_LEVEL",
    "Block",
    "BlockLink",
    "Cut",
    "Dated",
    "MergedPage",
    "PageContent",
    "PageFacts",
    "PageTree",
    "Partition",
    "Partitioner",
    "link_kinds",
    "merge_blocks",
    "page_content",
    "partition",
    "partitioner_names",
    "read_tree",
]


def __getattr__(name: str) -> Any:
    """Load the types of facts when they are asked for."""
    if name not in ("Dated", "PageFacts"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mmcrawl.blocks.facts import dates, facts

    return dates.Dated if name == "Dated" else facts.PageFacts
