"""Commands of mmcrawl, found by `scrapy` through COMMANDS_MODULE, each loaded when it is used."""

import sys

from mmcrawl.commands.program import load_when_used
from mmcrawl.lazy import lazy_imports

SUMMARIES = {
    "archive": "Versions of archived pages: list, show, compare, rebuild, search, check, exchange",
    "blocks": "Show the blocks of a page: what is content, navigation, advertisement",
    "browse": "Browse the archive: search, history, differences, media, running crawls",
    "collect": "Fetch and keep the media that a crawl found; what came of each",
    "crawl": "Run a spider of the current project, by name",
    "experiment": "Compare algorithms on a stored web; writes tables, figures and a report",
    "fetch": "Fetch a URL using the Scrapy downloader",
    "help": "Show what a command, a spider or an algorithm can be told",
    "links": "The links of a crawl: fetched, waiting, failed, and why",
    "list": "List available spiders",
    "parse": "Parse URL (using its spider) and print the results",
    "rank": "Rank pages, blocks or media of an archive by links and the blocks these stand in",
    "rules": "Rules for addresses: show and export what a crawl has learnt, test URLs",
    "seeds": "Find promising seeds in what is stored, and check seeds before a long crawl",
    "shell": "Interactive scraping console",
    "stick": "From a topic to a memory stick that opens: crawl, collect, describe, export",
    "topic": "Show topics, how a page fits them, and learn one from examples",
    "workers": "Who works on a crawl that several processes share, and how it goes",
    "works": "What a crawl found as works: described, corrected, exported",
}
"""What each command does, as the list of commands says it."""

with lazy_imports(__name__):
    from mmcrawl.commands.crawl_workers import Workers, number_of_workers
    from mmcrawl.commands.links import COLUMNS
    from mmcrawl.commands.program import main
    from mmcrawl.commands.workers import crawl_tables, jobs_table

load_when_used(sys.modules[__name__], __path__[0])
