"""What Scrapy calls: scheduler, middlewares, extensions, items."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.engine.answers import declared_type
    from mmcrawl.engine.crawls import Configuration, make_job, with_stored_web
    from mmcrawl.engine.extensions import MediaCsvExporter
    from mmcrawl.engine.hosts import LIMIT, UnreachableHosts, reason_of
    from mmcrawl.engine.items import MediaPageItem, PageItem
    from mmcrawl.engine.metrics import Metrics
    from mmcrawl.engine.middlewares import BoundedCookieJar, CookiesMiddleware
    from mmcrawl.engine.requests import as_json, from_json
    from mmcrawl.engine.scheduler import FocusedScheduler
    from mmcrawl.engine.threads import News
    from mmcrawl.engine.window import Window
