"""Pipelines of this project, named in `spiders/settings.py`; put yours here, ours in `mmcrawl/`:
blocks are cut (50), pages archived (100), judged (900), columns added (950); other items pass."""

from mmcrawl.pipelines.archive import ArchivePipeline
from mmcrawl.pipelines.blocks import BlocksPipeline
from mmcrawl.pipelines.media import MediaPipeline
from mmcrawl.pipelines.metadata import MetadataPipeline

__all__ = ["ArchivePipeline", "BlocksPipeline", "MediaPipeline", "MetadataPipeline"]
