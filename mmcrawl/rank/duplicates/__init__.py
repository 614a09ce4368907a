"""Pages that say the same, or nearly."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.rank.duplicates.finding import (
        LEAST_TOKENS,
        bands,
        digest,
        find_duplicates,
        groups_of,
        sketch,
        tokens_of,
    )
    from mmcrawl.rank.duplicates.results import open_duplicates, save_duplicates
