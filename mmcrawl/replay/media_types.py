"""The Content-Type a server would send for a file, told by its name."""

from functools import cache
from mimetypes import MimeTypes

# What `mimetypes` lacks or tells differently from one Python version to the next: programs that
# write HTML, and the media formats of the years before HTML5.
OTHER_TYPES = {
    **dict.fromkeys(
        ("asp", "aspx", "cfm", "cgi", "do", "htm", "html", "jsp", "php", "php3", "pl", "shtml"),
        "text/html",
    ),
    "xhtml": "application/xhtml+xml",
    "js": "text/javascript",
    "xml": "text/xml",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "m4a": "audio/mp4",
    "mid": "audio/midi",
    "midi": "audio/midi",
    "mp3": "audio/mpeg",
    "oga": "audio/ogg",
    "ogg": "audio/ogg",
    "opus": "audio/ogg",
    "ra": "audio/x-pn-realaudio",
    "ram": "audio/x-pn-realaudio",
    "rm": "application/vnd.rn-realmedia",
    "rmvb": "application/vnd.rn-realmedia-vbr",
    "wav": "audio/x-wav",
    "wma": "audio/x-ms-wma",
    "3gp": "video/3gpp",
    "asf": "video/x-ms-asf",
    "asx": "video/x-ms-asf",
    "avi": "video/x-msvideo",
    "dat": "video/mpeg",
    "divx": "video/divx",
    "flv": "video/x-flv",
    "m1v": "video/mpeg",
    "m2v": "video/mpeg",
    "m3u8": "application/vnd.apple.mpegurl",
    "m4v": "video/x-m4v",
    "mpd": "application/dash+xml",
    "mov": "video/quicktime",
    "ogv": "video/ogg",
    "vob": "video/mpeg",
    "webm": "video/webm",
    "wmv": "video/x-ms-wmv",
    "swf": "application/x-shockwave-flash",
    "rar": "application/vnd.rar",
}


def content_type(name: str, body: bytes = b"") -> str:
    """The media type of the file `name`, without charset: pages declare their own.

    A name whose ending says nothing is HTML when `body` looks like it.
    """
    stem, dot, ending = name.rpartition(".")
    if dot and stem:
        ending = ending.lower()
        known = OTHER_TYPES.get(ending) or _standard_types().get(f".{ending}")
        if known:
            return known
    start = body[:512].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<title")):
        return "text/html"
    return "application/octet-stream"


@cache
def _standard_types() -> dict[str, str]:
    """Python's own table; what the machine's files would add to it is left out."""
    return MimeTypes().types_map[True]
