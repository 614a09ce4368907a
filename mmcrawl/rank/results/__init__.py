"""What was computed of an archive's pages, kept beside the archive and found by URL."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.rank.results.kept import open_results
    from mmcrawl.rank.results.ranks import DUPLICATES, RankedPages, Ranks, open_ranks, save_ranks

__all__ = ["RankedPages", "Ranks", "open_ranks", "save_ranks"]
