"""The archive in a web browser: what there is, what was found where, what changed when.

:func:`create_app` makes an ASGI application of a :class:`Context`, which holds the opened archive
and all that the handlers share. Nothing is written but the search index, which stands beside the
archive. Archived pages are hostile: nothing of them reaches a page of ours but as text.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.browse.app import create_app, problem_handlers, server_of
    from mmcrawl.browse.arguments import Problem
    from mmcrawl.browse.catalogue import WorksOfStore
    from mmcrawl.browse.context import Context, Limits, Options, open_context
    from mmcrawl.browse.figures import months_of
    from mmcrawl.browse.runs import CrawlRuns, CrawlWatch, kind_of_error
    from mmcrawl.browse.safety import guarded, is_loopback
    from mmcrawl.browse.text import (
        LANGUAGES,
        Words,
        address,
        isolated,
        live_address,
        marked,
        plain,
        sentences,
        short,
        words_for,
    )
    from mmcrawl.browse.views.works import kept_file
