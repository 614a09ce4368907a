"""When two URLs are the same page: their canonical form, and its short key."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import numpy as np
from w3lib.url import canonicalize_url

# -- Which hosts and addresses are private, and which of those a crawl may ask all the same -------

_PRIVATE_SUFFIXES = (".local", ".localhost", ".internal", ".lan", ".home.arpa")
# What `is_global` of some or all versions of Python takes for public: protocol assignments, relays
# of 6to4, multicast.
_PRIVATE_IPV4 = tuple(map(IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4")))
# All else of IPv6 is no address of a web site: mapped and compatible IPv4, NAT64, site-local …
_PUBLIC_IPV6 = IPv6Network("2000::/3")
# Teredo and its neighbours, documentation, 6to4: the middle one and the last may hold any IPv4
# address, and are nobody's public web site.
_PRIVATE_IPV6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_DEFAULT_PORTS = {"http": 80, "https": 443}


@lru_cache(maxsize=16_384)
def host_of(url: str) -> str:
    """Return the host name of a URL in lower case, "" where there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def port_of(url: str) -> int:
    """Return the port that a URL is asked on, 0 where there is none."""
    try:
        parts = urlsplit(url)
        return parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        return 0


def is_private_address(address: str) -> bool:
    """Return whether an IP address is not one of the public internet.

    Private are this machine, local networks, multicast, and IPv6 addresses that stand for IPv4 ones
    (mapped, compatible, NAT64, 6to4).

    Raises:
        ValueError: `address` is no IP address in its usual form.
    """
    ip = ip_address(address)
    if ip.version == 4:
        return not ip.is_global or any(ip in network for network in _PRIVATE_IPV4)
    public = ip in _PUBLIC_IPV6 and ip.is_global
    return not public or any(ip in network for network in _PRIVATE_IPV6)


@lru_cache(maxsize=16_384)
def is_private_host(host: str) -> bool:
    """Return whether a host is private by its form; its addresses: see `is_private_address`."""
    host = host.rstrip(".").strip("[]")
    try:
        return is_private_address(host)
    except ValueError:
        pass
    last = host.rpartition(".")[2]
    if last.isdigit() or last.startswith("0x"):
        return True  # odd spellings of IPv4 addresses (127.1, 0x7f000001), which browsers resolve
    return "." not in host or host.endswith(_PRIVATE_SUFFIXES)


@dataclass(frozen=True, slots=True)
class PrivateHosts:
    """The private hosts that may be asked: those a user named, each on the port named with it."""

    named: frozenset[tuple[str, int]] = frozenset()  # host and port of each
    all: bool = False  # any private host may be asked

    @classmethod
    def of(cls, urls: Iterable[str], *, all: bool = False) -> Self:
        """Return the private hosts that URLs name, http and https on their usual ports as one."""
        usual = frozenset(_DEFAULT_PORTS.values())
        return cls(
            frozenset(
                (host_of(url), port)
                for url in urls
                if is_private_host(host_of(url))
                for port in (usual if port_of(url) in usual else (port_of(url),))
            ),
            all,
        )

    def or_named(self, urls: Iterable[str]) -> "PrivateHosts":
        """Return these and the private hosts that further URLs name."""
        more = PrivateHosts.of(urls).named
        return PrivateHosts(self.named | more, self.all) if more else self

    def may_ask(self, url: str) -> bool:
        """Return whether a URL may be asked for, as far as its form tells."""
        host = host_of(url)
        return not is_private_host(host) or self.opened(host, port_of(url))

    def opened(self, host: str, port: int) -> bool:
        """Return whether a host may be asked on a port although its address is private."""
        return self.all or (host, port) in self.named


# -- How URLs are told apart: the form under which two addresses are one page, and its short key ---

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
    """Return a signed 64-bit hash of the joined parts, which may hold lone surrogates."""
    digest = blake2b(digest_size=8, key=key)
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part)
    return int.from_bytes(digest.digest(), "big", signed=True)


@lru_cache(maxsize=16_384)
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


@lru_cache(maxsize=16_384)
def shape(url: str) -> str:
    """Return the part of an address that the pages of one template share.

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
