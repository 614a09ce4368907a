"""Media that a crawl found and that are kept: their bytes, and what is known of each address.

A :class:`MediaFile` says of one address what came of it. The bytes stand in a media store, named by
their digest, so that equal files are kept once; the records are in an index beside them.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.collecting.files import FolderFiles, MediaFiles, open_files
    from mmcrawl.collecting.index import MediaIndex, Summary
    from mmcrawl.collecting.magic import DASH, HEAD, HLS, kind_of, moves, says_no_media, type_of
    from mmcrawl.collecting.model import PART, MediaFile, State
    from mmcrawl.collecting.opening import (
        Collection,
        folder_of,
        media_beside,
        open_collection,
    )
    from mmcrawl.collecting.partial import Begun, PartialFile
    from mmcrawl.collecting.parts import SWF, HeldPart, parts_to_fetch, tree_of
    from mmcrawl.collecting.pictures import has_pictures
    from mmcrawl.collecting.sizes import Budget, as_size, as_sizes

__all__ = ["MediaFile", "State"]
