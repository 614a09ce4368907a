"""A page cut into blocks: byte ranges of the page as received, each with a kind and a topic.

:func:`partition` cuts a page by one of several methods. They differ only in where they cut; what
archives, labels, ranks and searches works on the blocks of any of them. :func:`page_content`
extracts the content: headline, main text, comments, related links, and facts (authors, dates, site,
licence).
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.blocks.content.content import PageContent, page_content
    from mmcrawl.blocks.dates import (
        Dated,
        date_in_address,
        dates_in,
        month_comes_first,
        read_date,
    )
    from mmcrawl.blocks.drawing import KIND_COLOURS, draw, safe_copy
    from mmcrawl.blocks.facts import PageFacts
    from mmcrawl.blocks.kind_model import (
        ELSE,
        FEATURES,
        OWN,
        KindModel,
        kind_features,
        kind_model,
        learnt_kinds,
    )
    from mmcrawl.blocks.kinds import KINDS, PAPER_KINDS, BlockKind, block_kinds
    from mmcrawl.blocks.link_kinds import BEST_FIRST, link_kinds
    from mmcrawl.blocks.merging import MergedPage, merge_blocks
    from mmcrawl.blocks.metadata_rules import MetadataRules, ReceivedText
    from mmcrawl.blocks.page_blocks import PageBlocks
    from mmcrawl.blocks.partition import (
        Block,
        BlockLink,
        Partition,
        partition,
        partition_json,
        partition_record,
    )
    from mmcrawl.blocks.partitioners.base import (
        DEFAULT_LEVEL,
        DEFAULT_METHOD,
        MAX_LEVEL,
        Cut,
        Partitioner,
    )
    from mmcrawl.blocks.partitioners.registry import partitioner_names
    from mmcrawl.blocks.phrases import extract, has_words, trim, words_of
    from mmcrawl.blocks.selecting import LONGEST_SELECTOR, ElementSelector
    from mmcrawl.blocks.topics import PageTopics, TopicRules
    from mmcrawl.page.html.building import ROOT, TEXT
    from mmcrawl.page.html.tags import START_TAG, TOKEN, VOID
    from mmcrawl.page.html.tree import PageTree, codec_name, markup_view, read_tree

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
