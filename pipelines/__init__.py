"""Pipelines of this project, named in `spiders/settings.py`; put yours here, ours in `mmcrawl/`:
pages get blocks (50), are archived (100), judged (900), get columns (950); other items pass."""

from mmcrawl.pipelines.archive import ArchivePipeline
from mmcrawl.pipelines.pages import BlocksPipeline, MediaPipeline, MetadataPipeline

__all__ = ["ArchivePipeline", "BlocksPipeline", "MediaPipeline", "MetadataPipeline"]
