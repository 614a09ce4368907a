"""Output on a terminal: tables, progress, problems on one line, files that are written.

`extensions.py` has the Scrapy extensions that show a crawl, named in `mmcrawl.engine.components`;
nothing else here needs Scrapy, so `mmcrawl blocks --format md FILE` starts without it.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.commands.help import algorithm_help, argument_help
    from mmcrawl.commands.terminal.extensions import CrawlProgress
    from mmcrawl.commands.terminal.extraction import run
    from mmcrawl.commands.terminal.files import Target
    from mmcrawl.commands.terminal.tables import (
        KIND_STYLES,
        Progress,
        Summary,
        closing_tables,
        progress_line,
        progress_panel,
        revisit_tables,
    )
    from mmcrawl.commands.terminal.telling import Telling, complain
