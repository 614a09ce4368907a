"""What changed between two versions of a page: block by block, and in words."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.archive.comparing.comparison import difference
