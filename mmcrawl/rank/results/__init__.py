"""What was computed of an archive's pages, kept beside the archive and found by URL."""

from mmcrawl.rank.results.ranks import RankedPages, Ranks, open_ranks, save_ranks

__all__ = ["RankedPages", "Ranks", "open_ranks", "save_ranks"]
