"""The shelf of a crawl: its works, and what an editor corrected, in a file or a database."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.collecting.shelf.collections import (
        BEST,
        Collections,
        Marks,
        Member,
        Suggestion,
        Suggestions,
    )
    from mmcrawl.collecting.shelf.corrections import Correction, read_corrections
    from mmcrawl.collecting.shelf.shelf import COLLECTIONS, Shelf, open_shelf
