"""Where a crawl should start: hosts that what is stored shows to be promising, ranked with reasons.

Archives, crawls, WARC and CDX files and lists of candidates are read, and what they show of each
host is weighed. `mmcrawl.engine.seed_check` finds out what became of a seed list.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.seeking.candidates import Candidate, Candidates, CheckedSeed, Source, open_source
