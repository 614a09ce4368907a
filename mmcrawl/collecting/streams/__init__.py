"""Playlists of players, HLS and DASH: which pieces make up their medium, and joining these.

A playlist is fetched, read, and its pieces are fetched one by one as all media are; then they are
put together, and only that file is held. See `Stream` for what is on the disk meanwhile.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.collecting.streams.playlists import MOST_PIECES, Piece, Track, read_dash, read_hls
    from mmcrawl.collecting.streams.stream import Stream

__all__ = ["Stream"]
