"""The spiders of this project: those of mmcrawl, and yours beside them (`scrapy genspider`)."""

from mmcrawl.spiders.focused import FocusedSpider
from mmcrawl.spiders.revisit import RevisitSpider

__all__ = ["FocusedSpider", "RevisitSpider"]
