"""What Scrapy calls: the frontier as its scheduler, middlewares, download handlers, extensions.

`crawls.py` reads the settings into one :class:`Configuration` and opens the job. `scheduler.py`
(begin there) hands out the best waiting link of a host that is free (`hosts.py`), and `requests.py`
carries the link's id through retries and redirects. `answers.py` classifies responses,
`discovery.py` adds what sitemaps and feeds list. `commits.py` delays a commit until its pages are
stored. `components.py` lists all parts, which our spiders bring into any project.

Private addresses are refused on the resolved address, before connecting, for every kind of request
(`downloads.py`). `mmcrawl.commands.terminal` shows a crawl to its user.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.engine.answers import declared_type
    from mmcrawl.engine.commits import Commits
    from mmcrawl.engine.crawls import Configuration, make_job, with_stored_web
    from mmcrawl.engine.extensions import MediaCsvExporter
    from mmcrawl.engine.hosts import LIMIT, UnreachableHosts, reason_of
    from mmcrawl.engine.items import MediaPageItem, PageItem
    from mmcrawl.engine.metrics import Metrics
    from mmcrawl.engine.middlewares import BoundedCookieJar, CookiesMiddleware
    from mmcrawl.engine.requests import as_json, from_json
    from mmcrawl.engine.scheduler import FocusedScheduler
    from mmcrawl.engine.threads import Completions
    from mmcrawl.engine.window import Window
