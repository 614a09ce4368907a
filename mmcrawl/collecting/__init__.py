"""Media that a crawl found and that are kept: their bytes, and what is known of each address.

A :class:`MediaFile` says of one address what came of it. The bytes stand in a media store, named by
their digest, so that equal files are kept once; the records are in an index beside them.
"""

from mmcrawl.collecting.model import MediaFile, State

__all__ = ["MediaFile", "State"]
