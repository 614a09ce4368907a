"""One crawl without Scrapy, from checked arguments to a job that continues where it stopped.

:class:`FocusedParams` checks the user's arguments; :class:`CrawlSetup` holds what a crawl is made
of apart from its store; :class:`CrawlJob` (`job.py`, begin there) is the crawl. The fetcher asks it
for the `next` link, has a page judged, and reports the page or the failure. The report passes
through `intake.py`: which links are admitted, what is new, which scores the scorer gives.

A page, its links, the findings and all changed scores become durable in one commit, so a killed
crawl loses only the pages since the last commit, and fetches them again. A job keeps its arguments;
continuing it with others is refused. `history.py` reads back what happened, and `why.py` explains
why a link was fetched when it was.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.crawl.candidates import Candidate, Candidates, CheckedSeed, Source, open_source
    from mmcrawl.crawl.history import looked_at
    from mmcrawl.crawl.job import CrawlJob
    from mmcrawl.crawl.listed import place_of
    from mmcrawl.crawl.params import DEMO_TOPIC, FocusedParams, read_rules, rules_text
    from mmcrawl.crawl.protocol import FetchedPage, PageReport, Reporter, Totals
    from mmcrawl.crawl.reading import PageReader, ReadPage, ReceivedPage, read_page
    from mmcrawl.crawl.seeds import Seed, read_seeds
    from mmcrawl.crawl.setup import CrawlSetup
    from mmcrawl.crawl.spider_params import ArchiveParams, CollectParams, as_time, parse_kinds
    from mmcrawl.crawl.spider_params import explain as explain_arguments
    from mmcrawl.crawl.why import explain as explain_link
