"""How URLs are told apart: the form under which two addresses are one page, and its short key."""

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
from w3lib.url import canonicalize_url

# Already canonical: nothing in it that canonicalisation could change. Most links are like this.
_PLAIN = re.compile(r"https?://[a-z0-9.-]+(?:/(?!\.)[A-Za-z0-9._~-]*)+\Z")
_SESSION_PATH = re.compile(
    r";(?:jsessionid|sessionid|phpsessid|sid)=[^/?#;]*"
    r"|(?<=[^/:]/)\((?:[ASF]\([\w-]*\))+\)/",  # ASP.NET without cookies
    re.IGNORECASE,
)
RANDOM_ID = re.compile(r"(?<![0-9A-Za-z])(?=[0-9A-Za-z]{16})[A-Za-z]*\d[0-9A-Za-z]*")
"""What looks like an id drawn by chance: of a session, of a form, of a file."""
_SHORTEST_ID = 16
_ALPHANUMERIC = np.array([chr(byte).isalnum() and byte < 128 for byte in range(256)])
_SESSION_QUERY = re.compile(
    r"(?<=[?&])(?:jsessionid|phpsessid|aspsessionid[a-z]*|sessionid|session_id|cfid|cftoken|zenid"
    r"|(?:sid|s)(?==[0-9a-f]{16}))=[^&#]*(?:&|(?=#)|\Z)",
    re.IGNORECASE,
)
_DEFAULT_PORT = re.compile(
    r"(?i)^(http://[^/?#]*):80(?=[/?#]|\Z)|^(https://[^/?#]*):443(?=[/?#]|\Z)"
)
_VARYING = re.compile(rf"{RANDOM_ID.pattern}|\d+")


def canonical(url: str) -> str:
    """Return the form of `url` under which duplicates are recognised.

    Session ids and default ports are cut out, the rest is w3lib's canonicalisation: query sorted,
    fragment dropped, escapes and host case normalised.

    >>> canonical("http://H.test/a.jsp;jsessionid=1F2?b=2&a=1#top")
    'http://h.test/a.jsp?a=1&b=2'
    """
    if _PLAIN.match(url):
        return url
    url = _DEFAULT_PORT.sub(r"\1\2", _SESSION_PATH.sub("", url))
    return canonicalize_url(_SESSION_QUERY.sub("", url))


def hash64(*parts: str | bytes, key: bytes = b"") -> int:
    """Return a 64-bit hash of some parts put together, as SQLite keeps it: with a sign.

    Half of a surrogate pair, as addresses on pages may hold, is hashed like any other character.
    """
    digest = blake2b(digest_size=8, key=key)
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part)
    return int.from_bytes(digest.digest(), "big", signed=True)


@lru_cache(maxsize=65_536)
def url_key(job: int, url: str, extra: bytes = b"") -> int:
    """Return the 64-bit key of a URL in its canonical form within a job.

    `extra` tells requests apart that differ in more than their URL. Two of n different URLs share a
    key with probability n²/2⁶⁵: 3 in a million for 10 million URLs.
    """
    return hash64(canonical(url), extra, key=b"%d" % job)


def page_digest(url: str, body: bytes, media: Iterable[str] = ()) -> int:
    """Return a 64-bit digest of a body, the host it came from, and its media; never 0.

    `http` and `https`, with and without `www.`, are one host here. The addresses of the media tell
    pages apart that have the same bytes and name other files: `<embed src="main.swf">` in the
    folders of two lessons. Ids drawn by chance do not: many a page has a new one at each visit.
    """
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    names = (address.partition("://")[2].removeprefix("www.") + "\n" for address in media)
    return hash64(f"{host}\n", _without_ids(body), *names) or 1


def _without_ids(body: bytes) -> bytes:
    """Return a body without what `RANDOM_ID` matches, several times as fast as by that pattern."""
    kinds = _ALPHANUMERIC[np.frombuffer(body, dtype=np.uint8)]
    ends = np.flatnonzero(np.diff(kinds, prepend=False, append=False)).reshape(-1, 2)
    pieces, after = [], 0
    for start, end in ends[ends[:, 1] - ends[:, 0] >= _SHORTEST_ID].tolist():
        if not body[start:end].isalpha():
            pieces.append(body[after:start])
            after = end
    return b"".join([*pieces, body[after:]])


class SplitOrigin(NamedTuple):
    """A URL cut into the part shared by a whole host and the rest."""

    origin: str
    path: str


def split_origin(url: str) -> SplitOrigin:
    """Cut `url` behind its host.

    >>> split_origin("http://h.test:8080/a/b.htm?c=1")
    SplitOrigin(origin='http://h.test:8080', path='/a/b.htm?c=1')
    """
    start = url.find("//") + 2
    for position in range(start, len(url)):
        if url[position] in "/?#":
            return SplitOrigin(url[:position], url[position:])
    return SplitOrigin(url, "")


@lru_cache(maxsize=65_536)
def shape(url: str) -> str:
    """Return what the pages of one template share.

    Numbers and ids become `#`, query values are left out. So is the port: there are
    65,535 of them, and one server may answer on all.

    >>> shape("http://h.test/calendar?year=2024&month=5")
    'h.test/calendar?month&year'
    >>> shape("http://h.test/news/2024/17.html")
    'h.test/news/#/#.html'
    >>> shape("http://h.test/x/9f86d081884c7d659a2f/17.html")
    'h.test/x/#/#.html'
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return url
    keys = sorted({pair.partition("=")[0] for pair in parts.query.split("&") if pair})
    path = _VARYING.sub("#", _SESSION_PATH.sub("", parts.path))
    return f"{host}{path}" + ("?" + "&".join(keys) if keys else "")
