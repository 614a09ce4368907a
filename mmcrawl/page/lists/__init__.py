"""Ways into a site other than clicks: what its sitemaps, feeds, archives and heads name.

A body is told by its first element, not by its address or declared type. All reading is bounded,
whatever the bytes.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.page.lists.feeds import read_feed, read_opml
    from mmcrawl.page.lists.heads import (
        Choice,
        alternates,
        feed_addresses,
        is_shell,
        oembed_address,
        read_oembed,
    )
    from mmcrawl.page.lists.listings import (
        MOST_BYTES,
        MOST_LINES,
        Listing,
        cdx_query,
        listed_link,
        listing_kind,
        read_cdx,
        unpacked,
    )
    from mmcrawl.page.lists.playlists import is_playlist, read_playlist
    from mmcrawl.page.lists.sitemaps import read_list, read_sitemap, sitemaps_of_robots
