"""The item pipelines of this project: those of mmcrawl, and yours beside them."""

from mmcrawl.pipelines.archive import ArchivePipeline
from mmcrawl.pipelines.blocks import BlocksPipeline
from mmcrawl.pipelines.media import MediaPipeline

__all__ = ["ArchivePipeline", "BlocksPipeline", "MediaPipeline"]
