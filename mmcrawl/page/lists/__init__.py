"""Documents that list addresses: sitemaps, feeds, OPML, playlists, CDX, oEmbed.

Each reader takes a body and returns links and media, each with the list that named it. The first
element decides what a body is, not its address or declared type. Reading is bounded for any bytes,
and a broken entry costs no other entry.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.page.lists.feeds import read_feed, read_opml
    from mmcrawl.page.lists.listings import (
        MOST_BYTES,
        MOST_LINES,
        Listing,
        cdx_query,
        listed_link,
        listing_kind,
        read_cdx,
        read_oembed,
        unpacked,
    )
    from mmcrawl.page.lists.playlists import is_playlist, read_playlist
    from mmcrawl.page.lists.shells import Choice, contents_of, is_shell
    from mmcrawl.page.lists.sitemaps import read_list, read_sitemap, sitemaps_of_robots
