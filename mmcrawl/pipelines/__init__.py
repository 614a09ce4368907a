"""Item pipelines: every page gets its blocks, is archived, and is judged.

`BlocksPipeline` adds the blocks of a page, `ArchivePipeline` stores it, `MediaPipeline` (900) runs
the topic test: pipelines before it see every page, those after it, and feeds, only relevant ones.
`mmcrawl.engine.components` fixes this order. A page that the archive refuses ends in error, and a
slow archive slows the crawl: nothing is dropped.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.pipelines.archive import PageSemaphore
    from mmcrawl.pipelines.pages import MetadataPipeline
