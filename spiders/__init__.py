"""The spiders of this project: those of mmcrawl, and yours beside them (`scrapy genspider`)."""

from mmcrawl.spiders import FocusedSpider, RevisitSpider

__all__ = ["FocusedSpider", "RevisitSpider"]
