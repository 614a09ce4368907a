"""Media found by a crawl and kept: their bytes, and a record for each address.

Addresses come in from a crawl's media pages. `collector.py` (begin there) takes them by leases from
the `index.py`, so that several processes share a collection, and settles each with a result.
`download.py` receives one file and resumes it after an interruption, `streams.py` joins the pieces
of a stream, `hosted.py` lets yt-dlp fetch from players, `parts.py` finds the files that an
animation loads. `magic.py` decides by the bytes what a file is.

The bytes are in a media store (`files.py`), named by their digest, so that equal files are kept
once; a file is there as a whole or not at all. A :class:`MediaFile` records the outcome of one
address.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.media.collector import Collector
    from mmcrawl.media.files import Begun, FolderFiles, MediaFiles, PartialFile, open_files
    from mmcrawl.media.index import PART, MediaFile, MediaIndex, State, Summary
    from mmcrawl.media.magic import DASH, HEAD, HLS, kind_of, moves, says_no_media, type_of
    from mmcrawl.media.parts import (
        SWF,
        Collection,
        HeldPart,
        folder_of,
        has_pictures,
        held_parts,
        media_beside,
        open_collection,
        parts_to_fetch,
        take_picture,
    )
    from mmcrawl.media.sizes import Budget, as_size, as_sizes
    from mmcrawl.media.streams import MOST_PIECES, Piece, Track, read_hls
    from mmcrawl.media.swf import addresses_in_text, read_swf
