"""Archived pages as they were, for browsers and for programs (Memento, CDX)."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.browse.replay.addresses import (
        Mode,
        archived_url,
        read_stamp,
        replay_address,
        replaying_links,
        stamp,
        written_url,
    )
    from mmcrawl.browse.replay.memento import memento_routes
    from mmcrawl.browse.replay.serving import FIELDS, cdx_routes, replay_routes
