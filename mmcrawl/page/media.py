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
        "avi mpeg mpg mpe rmvb wmv mov asf vob dat m1v m2v divx mp4 m4v flv webm ogv 3gp m3u8 mpd",
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
_BANNER_RATIO = 3
# A name of nothing but such words, in any number: "spinning_top.swf" is an animation.
_FRAME_WORDS = "banner|bottom|btn|button|foot(?:er)?|head(?:er)?|logo|menu|nav(?:i|igation)?|top"
_FRAME_NAME = re.compile(
    rf"(?:(?:{_FRAME_WORDS}|bar|flash|home|index|left|main|page|right|site|sub)[\W\d_]*)*", re.I
)
_FRAME_WORD = re.compile(_FRAME_WORDS, re.IGNORECASE)
_SIZE_IN_NAME = re.compile(r"(?<!\d)(\d{2,4})[x×](\d{2,4})(?!\d)", re.IGNORECASE)
_LONGEST_FRAME_NAME = 40
_PLAYER_NAME = re.compile(r"player|vcastr|expressinstall", re.IGNORECASE)


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


def is_banner(width: str, height: str) -> bool:
    """Whether an element of this size, in pixels, has the shape of a banner: 3:1 or more.

    >>> is_banner("1000", "105px"), is_banner("550", "400"), is_banner("100%", "90")
    (True, False, False)
    """
    sides = [side.strip().lower().removesuffix("px") for side in (width, height)]
    if not all(side.isdecimal() and len(side) < 6 for side in sides):
        return False
    return int(sides[0]) >= _BANNER_RATIO * int(sides[1]) > 0


def is_frame_of_a_site(url: str) -> bool:
    """Whether the name of an animation says that it is a banner, a menu or a logo.

    >>> is_frame_of_a_site("http://h.test/img/top-flash2.swf")
    True
    >>> is_frame_of_a_site("http://h.test/738x178.swf")
    True
    >>> is_frame_of_a_site("http://h.test/spinning-top.swf")
    False
    """
    name = _stem(url)
    size = _SIZE_IN_NAME.search(name)
    if size is not None and is_banner(size[1], size[2]):
        return True
    if len(name) > _LONGEST_FRAME_NAME or not _FRAME_WORD.search(name):
        return False
    return _FRAME_NAME.fullmatch(name) is not None


def is_player(url: str) -> bool:
    """Whether a Flash file is a program that plays others, by its name.

    >>> is_player("http://h.test/flvplayer.swf?file=a.flv"), is_player("http://h.test/lever.swf")
    (True, False)
    """
    return _PLAYER_NAME.search(_stem(url)) is not None


def _stem(url: str) -> str:
    name = unquote(url.partition("?")[0]).rpartition("/")[2]
    return name.rpartition(".")[0] or name
