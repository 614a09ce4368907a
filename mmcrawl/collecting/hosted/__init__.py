"""Players of other sites (YouTube, Vimeo, Bilibili …): their media are fetched by yt-dlp.

It is a program of its own, which users install, and is run one address at a time. It asks the
network through a proxy of ours, so that no private address is asked that pages may not ask either.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.collecting.hosted.ytdlp import Players, YtDlp

__all__ = ["Players", "YtDlp"]
