"""Item pipelines: every page is archived, cut into blocks if requested, and judged."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.pipelines.archive import PageSemaphore
    from mmcrawl.pipelines.pages import MetadataPipeline
