"""One crawl without Scrapy: what is told of each page, and what follows from it."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.crawling.arguments import explain as explain_arguments
    from mmcrawl.crawling.arguments import parse_kinds
    from mmcrawl.crawling.cutting import CutPage, Cutter, UncutPage, cut_page
    from mmcrawl.crawling.history import looked_at
    from mmcrawl.crawling.job import CrawlJob
    from mmcrawl.crawling.params import DEMO_TOPIC, FocusedParams
    from mmcrawl.crawling.parts import CrawlParts
    from mmcrawl.crawling.portion import PageElsewhere
    from mmcrawl.crawling.reports import FetchedPage, PageReport, Reporter, Totals, settle
    from mmcrawl.crawling.rules_file import read_rules, rules_text
    from mmcrawl.crawling.seeds import Seed, read_seeds
    from mmcrawl.crawling.spider_params import ArchiveParams, CollectParams, as_time
    from mmcrawl.crawling.why import explain as explain_link
