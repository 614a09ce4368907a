"""The methods that cut a page into blocks, one module each."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, MAX_LEVEL, Cut
    from mmcrawl.blocks.partitioners.bwap import RULES, BlockRules, Bwap
    from mmcrawl.blocks.partitioners.quark import TAG_CLASSES, Quark
    from mmcrawl.blocks.partitioners.registry import Method, make_method, make_partitioner
    from mmcrawl.blocks.partitioners.spcola import Spcola
