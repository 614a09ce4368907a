"""Search over the blocks of an archive.

What a block says, of what kind it is, which media it has, on which pages it was and when: the
index is made from the archive, kept beside it in SQLite's FTS5, and can be thrown away. See
:mod:`mmcrawl.archive.search.query` for what can be asked, and
:mod:`mmcrawl.archive.search.finding` for the order of what is found.
"""

from mmcrawl.archive.search.finding import ORDERS, Counts, Order
from mmcrawl.archive.search.hits import ArchivedHit, Hit, Snippet
from mmcrawl.archive.search.index import DamagedError
from mmcrawl.archive.search.query import MEDIA, as_filter
from mmcrawl.archive.search.searching import IndexStats, Progress, Results, Search, open_search
from mmcrawl.archive.search.updating import Updated

__all__ = [
    "MEDIA",
    "ORDERS",
    "ArchivedHit",
    "Counts",
    "DamagedError",
    "Hit",
    "IndexStats",
    "Order",
    "Progress",
    "Results",
    "Search",
    "Snippet",
    "Updated",
    "as_filter",
    "open_search",
]
