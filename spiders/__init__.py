"""Spiders of this project: `focused` crawls, `revisit` comes again (in `mmcrawl/spiders/`);
put yours here (`scrapy genspider`). `settings.py` says what runs, `pipelines/` what gets items."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.spiders.focused import FocusedSpider
    from mmcrawl.spiders.revisit import RevisitSpider

__all__ = ["FocusedSpider", "RevisitSpider"]
