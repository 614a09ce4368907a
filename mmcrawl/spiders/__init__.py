"""Spiders: thin, they turn a response into a page and nothing more."""

from mmcrawl.spiders.focused import FocusedSpider
from mmcrawl.spiders.revisit import RevisitSpider

__all__ = ["FocusedSpider", "RevisitSpider"]
