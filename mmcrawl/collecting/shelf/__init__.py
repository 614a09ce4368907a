"""The shelf of a crawl: its works, and what an editor corrected, in a file or a database."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.collecting.shelf.collections import BEST, Collections, Member
    from mmcrawl.collecting.shelf.corrections import Correction, read_corrections
    from mmcrawl.collecting.shelf.marks import Marks
    from mmcrawl.collecting.shelf.records import COLLECTIONS
    from mmcrawl.collecting.shelf.shelf import Shelf, open_shelf
    from mmcrawl.collecting.shelf.suggestions import Suggestion, Suggestions

__all__ = ["Shelf", "open_shelf"]
