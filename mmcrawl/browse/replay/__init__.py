"""Archived pages as they were, for browsers and for programs (Memento, CDX)."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.browse.replay.addresses import (
        Mode,
        archived_url,
        read_stamp,
        replay_address,
        stamp,
        written_url,
    )
    from mmcrawl.browse.replay.answers import original_headers
    from mmcrawl.browse.replay.cdx import FIELDS, cdx_routes
    from mmcrawl.browse.replay.html import rewrite_html
    from mmcrawl.browse.replay.links import Links, rewrite_css
    from mmcrawl.browse.replay.memento import memento_routes
    from mmcrawl.browse.replay.serving import replay_routes
