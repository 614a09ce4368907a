"""Pipelines of this project, named in `spiders/settings.py`; put yours here, ours in `mmcrawl/`:
blocks are cut (50), pages archived (100), judged (900), columns added (950); other items pass."""

from mmcrawl.pipelines.archive import ArchivePipeline
from mmcrawl.pipelines.pages import BlocksPipeline, MediaPipeline, MetadataPipeline

__all__ = ["ArchivePipeline", "BlocksPipeline", "MediaPipeline", "MetadataPipeline"]
