"""Pipelines of this project, named in `spiders/settings.py`; put yours here, ours in `mmcrawl/`:
pages are archived (100), judged (900), columns added (950); other items pass."""

from mmcrawl.pipelines.archive import ArchivePipeline
from mmcrawl.pipelines.pages import MediaPipeline, MetadataPipeline

__all__ = ["ArchivePipeline", "MediaPipeline", "MetadataPipeline"]
