"""The protocol of a stored web, and the responses that all kinds share."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from mimetypes import MimeTypes
from types import MappingProxyType
from typing import Protocol
from urllib.parse import SplitResult, urlsplit, urlunsplit

from w3lib.url import canonicalize_url

DEFAULT_PORTS = {"http": ":80", "https": ":443"}
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


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response.

    `headers` keep the order and the spelling they were sent with; a name may come twice. The body
    is what the headers describe, without transfer coding.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header, its name taken without case; None if it was not sent."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)


class StoredWeb(Protocol):
    """Pages that can be asked for by URL. Implementations may be called from several threads."""

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        """Answer a request; never raises because of the URL, however broken it is.

        Returns None when the host is not part of this web (or the URL names none): on the network
        that would be a failed DNS lookup. A page unknown to a known host is a 404.
        `http` and `https` are the same web. HEAD gives the headers alone; a method other than GET
        and HEAD gives 405.
        """
        ...

    def start_urls(self) -> tuple[str, ...]:
        """Where a crawl without seeds begins."""
        ...

    def aliases(self) -> Mapping[str, str]:
        """Other names of hosts (`host[:port]`, lower case), which `get` redirects to the main."""
        return MappingProxyType({})

    def size_hint(self, url: str) -> int:
        """About how many bytes `get(url)` reads from disk; 0 when it reads none."""
        return 0


def split_url(url: str) -> SplitResult | None:
    """The parts of an http(s) URL; None for one without a host, of another scheme, or broken."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    return parts if host and parts.scheme.lower() in DEFAULT_PORTS else None


def host_of(parts: SplitResult) -> str:
    """`host` or `host:port` in lower case, without user name and default port."""
    netloc = parts.netloc.rpartition("@")[2].lower()
    return netloc.removesuffix(DEFAULT_PORTS[parts.scheme.lower()]).removesuffix(":")


def page_key(url: str) -> tuple[str, str] | None:
    """What two spellings of one page's URL have in common: its host, its path with its query.

    >>> page_key("https://A.test:443/x?b=1&a=%7e#top")
    ('a.test', '/x?a=~&b=1')
    """
    parts = split_url(url)
    if parts is None:
        return None
    try:
        canonical = urlsplit(canonicalize_url(url))
    except ValueError:
        return None
    query = f"?{canonical.query}" if canonical.query else ""
    return host_of(parts), (canonical.path or "/") + query


def answer(status: int, content_type: str, body: bytes) -> StoredResponse:
    headers = (("Content-Type", content_type), ("Content-Length", str(len(body))))
    return StoredResponse(status, headers, body)


def not_found() -> StoredResponse:
    return answer(404, "text/html", b"<html><title>404 Not Found</title><h1>Not Found</h1></html>")


def moved(location: str) -> StoredResponse:
    return StoredResponse(301, (("Location", location), ("Content-Length", "0")), b"")


def moved_to_host(parts: SplitResult, host: str) -> StoredResponse:
    """A permanent redirect from another name of a host to its own."""
    return moved(urlunsplit(parts._replace(netloc=host, fragment="")))


def for_method(response: StoredResponse, method: str) -> StoredResponse:
    """The response to this method, for a page that GET answers with `response`."""
    name = method.upper()
    if name == "GET":
        return response
    if name == "HEAD":
        return replace(response, body=b"")
    return StoredResponse(405, (("Allow", "GET, HEAD"), ("Content-Length", "0")), b"")


# -- media types ----------------------------------------------------------------------------------


def content_type(name: str, body: bytes = b"") -> str:
    """The media type of the file `name`, without charset; by `body` if the name says nothing."""
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
    """Python's own table, without additions from files of the machine."""
    return MimeTypes().types_map[True]
