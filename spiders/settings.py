"""Settings of the project in this folder: mmcrawl's, and the spiders that stand here too."""

from mmcrawl.settings import *  # noqa: F403 - settings are all that it holds

SPIDER_MODULES = ["mmcrawl.spiders", "spiders"]
NEWSPIDER_MODULE = "spiders"
