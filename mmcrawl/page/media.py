"""The one table of what counts as audio, video and animation: extensions and MIME types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

AUDIO = "audio"
VIDEO = "video"
ANIMATION = "animation"

# kind -> (extensions, MIME types besides "audio/*" and "video/*")
_TABLE = {
    AUDIO: (
        "mp3 flac wav wma mid midi rm ram ra au aac m4a ogg oga opus aif aiff",
        "application/ogg application/vnd.rn-realmedia application/x-pn-realaudio",
    ),
    VIDEO: (
        "avi mpeg mpg mpe rmvb wmv mov asf vob dat m1v m2v divx mp4 m4v flv webm ogv 3gp m3u8",
        "application/vnd.apple.mpegurl application/x-mpegurl application/vnd.rn-realmedia-vbr "
        "application/vnd.ms-asf application/x-mplayer2 application/mp4 application/dash+xml "
        "audio/mpegurl audio/x-mpegurl",
    ),
    ANIMATION: ("swf", "application/x-shockwave-flash application/futuresplash"),
}
_EXTENSIONS = {ext: kind for kind, (exts, _) in _TABLE.items() for ext in exts.split()}
_MIME_TYPES = {mime: kind for kind, (_, mimes) in _TABLE.items() for mime in mimes.split()}
# Types a server gives when it does not know: the extension decides.
_VAGUE = frozenset({"application/octet-stream", "binary/octet-stream", "text/plain"})
_NO_MEDIA = ("image/", "text/", "font/", "application/pdf", "application/zip")

EXTENSION_PATTERN = "|".join(sorted(_EXTENSIONS, key=len, reverse=True))
# Of the last part of a path: with "/" in the text the time would be quadratic.
_MEDIA_FILE = re.compile(rf"[^\\]\.({EXTENSION_PATTERN})\s*(?:;.*)?$", re.IGNORECASE | re.DOTALL)
_MENTIONS_MEDIA = re.compile(rf"\.(?:{EXTENSION_PATTERN})\b", re.IGNORECASE)
_LONGEST_VALUE = 8_192


def media_kind(url: str, mime: str | None = None) -> str | None:
    """Return "audio", "video" or "animation", or None when it is none of them.

    Args:
        url: Absolute or relative; its path decides, without regard to case or percent-encoding.
        mime: A declared media type. It has precedence over the extension unless it is one that
            servers give to anything (``application/octet-stream``, ``text/plain``).

    >>> media_kind("http://h.test/a/Lesson%201.MP3?v=2")
    'audio'
    >>> media_kind("http://h.test/play.asp?file=a.mp3") is None
    True
    >>> media_kind("http://h.test/get.php?id=3", "application/x-shockwave-flash")
    'animation'
    """
    if mime:
        mime = mime.partition(";")[0].strip().lower()
        if known := _MIME_TYPES.get(mime):
            return known
        family = mime.partition("/")[0]
        if family in (AUDIO, VIDEO):
            return family
        if mime and mime not in _VAGUE:
            return None
    if not _MENTIONS_MEDIA.search(url) and "%" not in url:
        return None
    return _kind_by_extension(url)


def _kind_by_extension(url: str) -> str | None:
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    name = unquote(path).rpartition("/")[2]
    match = _MEDIA_FILE.search(name)
    # "www.abc.net.au" without its scheme is a host name, not a file.
    if match is None or name.lower().startswith("www."):
        return None
    return _EXTENSIONS[match[1].lower()]


def is_of_no_media(mime: str | None) -> bool:
    """Whether a declared type is known to be neither audio, video nor animation.

    >>> is_of_no_media("image/jpeg"), is_of_no_media("video/mp4"), is_of_no_media("x/y")
    (True, False, False)
    """
    mime = (mime or "").partition(";")[0].strip().lower()
    return mime.startswith(_NO_MEDIA) and mime not in _VAGUE


def media_in_values(query: str) -> Iterator[str]:
    """Yield the media file names among the values of a query string or a player's variables.

    Values are split at ``&`` and at the first ``=``, then percent-decoded; those of over 8,192
    characters are data and no names.

    >>> list(media_in_values("skin=a.zip&file=http%3A//h.test/a.mp3&autostart=1"))
    ['http://h.test/a.mp3']
    """
    for pair in query.split("&"):
        _, equals, value = pair.partition("=")
        value = value if equals else pair
        if len(value) > _LONGEST_VALUE:
            continue
        value = unquote(value).strip()
        if value and media_kind(value):
            yield value
