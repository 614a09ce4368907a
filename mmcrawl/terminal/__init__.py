"""What a person sees on a terminal."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.terminal.archive import KIND_STYLES, Revisits, revisit_tables
    from mmcrawl.terminal.arguments import algorithm_help, argument_help
    from mmcrawl.terminal.crawl import (
        Progress,
        Summary,
        closing_tables,
        progress_line,
        progress_panel,
    )
    from mmcrawl.terminal.extraction import run
    from mmcrawl.terminal.files import Target
    from mmcrawl.terminal.program import as_called, complain
    from mmcrawl.terminal.telling import Telling
