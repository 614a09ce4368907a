"""What the blocks of a version say."""

from __future__ import annotations

from collections.abc import Iterable

from mmcrawl.archive.comparison import Side
from mmcrawl.archive.model import StoredBlock
from mmcrawl.blocks.partition import Partition
from mmcrawl.blocks.partitioners.base import Cut
from mmcrawl.blocks.tree import read_tree


def block_texts(
    side: Side, blocks: Iterable[StoredBlock], *, longest: int = 4_000
) -> dict[tuple[int, int], str]:
    """Return the visible text of some blocks, by where they are; of what is no page none.

    Args:
        side: A version with its bytes.
        blocks: Of it, none inside of another.
        longest: Characters of a block's text that are given.
    """
    version = side.version
    places = sorted((block.start, block.end) for block in blocks)
    if not places or not version.method:
        return {}
    tree = read_tree(side.body, encoding=version.encoding)
    cuts = [Cut(0, start, end) for start, end in places]
    page = Partition(tree, cuts, method=version.method, level=version.level)
    return {(block.start, block.end): block.text[:longest] for block in page.roots}
