"""Spiders: thin, they turn a response into an item and requests, and nothing more.

`focused.py` (begin there) crawls for a topic: each response is parsed and cut into blocks in a
separate process and yielded as one item; links and outcomes go to the frontier by the middlewares
of :mod:`mmcrawl.engine`. `revisit.py` visits archived pages that are due. `collect.py` downloads
the media that a crawl found. Their arguments are checked by the models in :mod:`mmcrawl.crawl`.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.spiders.collect import CollectSpider
    from mmcrawl.spiders.focused import FocusedSpider, PageReading
    from mmcrawl.spiders.revisit import Revisits, RevisitSpider

__all__ = ["FocusedSpider", "RevisitSpider"]
