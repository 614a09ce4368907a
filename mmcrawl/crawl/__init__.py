"""One crawl without Scrapy, from checked arguments to a job that goes on where it stopped.

:class:`FocusedParams` checks what a user said; :class:`CrawlSetup` is what a crawl is made of apart
from its store; :class:`CrawlJob` (`job.py`, begin there) is the crawl. Whoever fetches asks it for
the `next` link, has a page judged, and reports the page or the failure. The report passes through
`intake.py`: which links are admitted, what is new, what the scorer says of them.

A page, its links, what was found and all changed scores become durable in one commit, so a crawl
that is killed loses no more than the pages since the last one, and fetches them again. A job keeps
its arguments: one that goes on with others is refused. `history.py` reads back what happened, and
`why.py` tells of one link why it was fetched when it was.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.crawl.candidates import Candidate, Candidates, CheckedSeed, Source, open_source
    from mmcrawl.crawl.history import looked_at
    from mmcrawl.crawl.job import CrawlJob
    from mmcrawl.crawl.listed import place_of
    from mmcrawl.crawl.params import DEMO_TOPIC, FocusedParams
    from mmcrawl.crawl.reading import PageReader, ReadPage, ReceivedPage, read_page
    from mmcrawl.crawl.reports import FetchedPage, PageReport, Reporter, Totals
    from mmcrawl.crawl.rules_file import read_rules, rules_text
    from mmcrawl.crawl.seeds import Seed, read_seeds
    from mmcrawl.crawl.setup import CrawlSetup
    from mmcrawl.crawl.spider_params import ArchiveParams, CollectParams, as_time, parse_kinds
    from mmcrawl.crawl.spider_params import explain as explain_arguments
    from mmcrawl.crawl.why import explain as explain_link
