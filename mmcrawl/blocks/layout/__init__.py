"""What elements and lines of a page look like, estimated from the markup: nothing is rendered."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.blocks.layout.block_words import (
        TopicWords,
        area_of_names,
        begins_with,
        holds,
        lists_of,
    )
    from mmcrawl.blocks.layout.features import Headlines, PageFeatures, is_topic_page
    from mmcrawl.blocks.layout.lines import LONGEST_LINK_TEXT, PageLines, PageText
    from mmcrawl.blocks.layout.measures import Measures, drawn_tags, shown_nodes
    from mmcrawl.blocks.layout.sizes import (
        CHARACTER_WIDTH,
        IMAGE_SIDE,
        LINE_HEIGHT,
        PAGE_WIDTH,
        node_sizes,
    )
    from mmcrawl.blocks.layout.styles import RULES_PER_KEY, Sheets, Style, node_styles
