"""The shelf of a crawl: its works, and what an editor corrected, in a file or a database."""

from mmcrawl.collecting.shelf.opening import open_shelf
from mmcrawl.collecting.shelf.shelf import Shelf

__all__ = ["Shelf", "open_shelf"]
