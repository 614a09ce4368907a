"""Settings of the project in this folder: mmcrawl's, with the spiders and pipelines of the root."""

from mmcrawl.settings import *  # noqa: F403 - settings are all that it holds

SPIDER_MODULES = ["mmcrawl.spiders", "spiders"]
NEWSPIDER_MODULE = "spiders"
ITEM_PIPELINES = {
    "pipelines.BlocksPipeline": 50,
    "pipelines.ArchivePipeline": 100,
    "pipelines.MediaPipeline": 900,
    "pipelines.MetadataPipeline": 950,
}
