"""Views of shared crawls: their workers, what they found, their links as one table."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.cluster.views.found import FoundMedia
    from mmcrawl.cluster.views.looking import copy_to, opened_to_look
    from mmcrawl.cluster.views.observing import CrawlView, JobView, Observer, WorkerView
