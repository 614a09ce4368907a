"""Merges a page's blocks: into its topic text, and the links that belong to it.

Wang & Zhu 2012, section 3, steps 1 to 5: a finely cut page has many small blocks. Those of one text
are merged, navigation is kept apart, and noise is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mmcrawl.blocks.partition import Block, Partition


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Blocks that belong to one text."""

    blocks: tuple[Block, ...]  # in order; the first is the title block, if the text has one

    @property
    def title(self) -> str:
        """The text of its title block, or ""."""
        first = self.blocks[0]
        return first.text if first.kind == "title" else ""

    @property
    def text(self) -> str:
        """The text of its blocks, the title's included, one line for each."""
        return "\n".join(filter(None, (block.text for block in self.blocks)))


@dataclass(frozen=True, slots=True, eq=False)
class MergedPage:
    """The rest of a page without its noise."""

    contents: tuple[Content, ...]  # the merged blocks, in order
    related_links: tuple[Block, ...]  # blocks with links to pages on the page's topic
    navigation: tuple[Block, ...]  # blocks with links through the site

    @property
    def topic_blocks(self) -> Iterator[Block]:
        """All blocks with content of the page, in order."""
        return (block for content in self.contents for block in content.blocks)


def merge_blocks(partition: Partition) -> MergedPage:
    """Merge the blocks of a page by their kinds.

    A title closes the block that is being gathered and opens the next one; topic, small and
    picture blocks join it; blocks of links are kept apart; advertisements, notices of rights and
    links that are noise are dropped; the end of the page closes the last one.

    Small and picture blocks with no title or topic block among them are no text, and dropped.
    """
    contents: list[Content] = []
    gathered: list[Block] = []
    related: list[Block] = []
    navigation: list[Block] = []
    for block in partition.blocks:
        match block.kind:
            case "title":
                contents += _closed(gathered)
                gathered = [block]
            case "topic" | "small" | "image":
                gathered.append(block)
            case "related-links":
                related.append(block)
            case "navigation":
                navigation.append(block)
    contents += _closed(gathered)
    return MergedPage(tuple(contents), tuple(related), tuple(navigation))


def _closed(gathered: list[Block]) -> list[Content]:
    if any(block.kind in ("title", "topic") for block in gathered):
        return [Content(tuple(gathered))]
    return []
