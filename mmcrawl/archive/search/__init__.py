"""Search over the blocks of an archive: by text, kind, media, page and time.

The index is built from the archive, kept beside it in SQLite's FTS5, and can be deleted at any
time. :mod:`mmcrawl.archive.search.query` describes the query language,
:mod:`mmcrawl.archive.search.finding` the order of results.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.archive.search.blocks import block_text, indexed_blocks, outside_of
    from mmcrawl.archive.search.finding import ORDERS, Counts, Order
    from mmcrawl.archive.search.hits import ArchivedHit, Hit, Snippet, snippet_of
    from mmcrawl.archive.search.index import KIND_WEIGHTS, DamagedError, packed, unpacked, words_of
    from mmcrawl.archive.search.query import (
        MEDIA,
        WRONG,
        Choice,
        Term,
        as_filter,
        media_bit,
        parse_query,
    )
    from mmcrawl.archive.search.searching import (
        IndexStats,
        Results,
        Search,
        index_path,
        open_search,
    )
    from mmcrawl.archive.search.tokens import Run, phrase_runs, tokens
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
    "Results",
    "Search",
    "Snippet",
    "Updated",
    "as_filter",
    "open_search",
]
