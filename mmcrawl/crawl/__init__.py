"""One crawl without Scrapy: what is told of each page, and what follows from it."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.crawl.candidates import Candidate, Candidates, CheckedSeed, Source, open_source
    from mmcrawl.crawl.cutting import CutPage, Cutter, UncutPage, cut_page
    from mmcrawl.crawl.history import looked_at
    from mmcrawl.crawl.job import CrawlJob
    from mmcrawl.crawl.listed import place_of
    from mmcrawl.crawl.params import DEMO_TOPIC, FocusedParams
    from mmcrawl.crawl.parts import CrawlParts
    from mmcrawl.crawl.portion import PageElsewhere
    from mmcrawl.crawl.reports import FetchedPage, PageReport, Reporter, Totals, settle
    from mmcrawl.crawl.rules_file import read_rules, rules_text
    from mmcrawl.crawl.seeds import Seed, read_seeds
    from mmcrawl.crawl.spider_params import ArchiveParams, CollectParams, as_time, parse_kinds
    from mmcrawl.crawl.spider_params import explain as explain_arguments
    from mmcrawl.crawl.why import explain as explain_link
