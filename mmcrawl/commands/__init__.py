"""Commands of mmcrawl, found by `scrapy` through COMMANDS_MODULE."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.commands.base import add_arguments, read_arguments
    from mmcrawl.commands.fetching import MOST_SHEETS, ReceivedPage, with_sheets
    from mmcrawl.commands.links import COLUMNS
    from mmcrawl.commands.program import main
    from mmcrawl.commands.workers import crawl_tables, jobs_table
