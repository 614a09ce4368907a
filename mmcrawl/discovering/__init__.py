"""Ways into a site other than clicks: what its sitemaps and feeds name.

A body is told by its first element, not by its address or declared type. All reading is bounded,
whatever the bytes.
"""

from mmcrawl.discovering.feeds import feed_addresses, read_feed
from mmcrawl.discovering.listings import Listing, listing_kind, unpacked
from mmcrawl.discovering.sitemaps import read_sitemap, sitemaps_of_robots

__all__ = [
    "Listing",
    "feed_addresses",
    "listing_kind",
    "read_feed",
    "read_sitemap",
    "sitemaps_of_robots",
    "unpacked",
]
