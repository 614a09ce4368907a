"""Where a crawl should start: hosts that what is stored shows to be promising, ranked with reasons.

`sources` reads archives, crawls, WARC and CDX files and lists of candidates; `finding` weighs what
they show of each host; `checking` says what a seed list turned out to be before a long crawl.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.seeking.finding import Candidate, Candidates, CheckedSeed
    from mmcrawl.seeking.sources import Source, open_source

__all__ = ["Candidate", "Candidates", "CheckedSeed", "Source", "open_source"]
