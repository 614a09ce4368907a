"""Spiders: thin, they turn a response into a page and nothing more."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.spiders.collect import CollectSpider
    from mmcrawl.spiders.focused import FocusedSpider, PageReading
    from mmcrawl.spiders.revisit import Revisits, RevisitSpider

__all__ = ["FocusedSpider", "RevisitSpider"]
