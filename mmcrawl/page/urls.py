"""Turns a reference on a page into the absolute URL of a request, and classifies that URL.

It may be a page, a media file, a download, or an item on a media host, whose path separates it from
the channels and home pages there.
"""

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import is_normalized
from urllib.parse import quote_from_bytes, unquote, urlsplit

import ada_url
from w3lib.url import canonicalize_url

from mmcrawl.page.media import hosted_kind, is_page_of_file, media_kind
from mmcrawl.text.patterns import linear

# Files a link may name that hold no links: not pages to crawl. Media have their own table.
_DOWNLOADS = frozenset(
    """
    7z apk bin bz2 cab deb dmg exe gz iso jar msi rar rpm tar tgz xz z zip csv doc docx epub mobi
    odp ods odt pdf pps ppsx ppt pptx ps rtf tex torrent txt vtt srt xls xlsx ai avif bmp cdr djvu
    eps gif ico jpe jpeg jpg pcx png psd svg tga tif tiff webp wmf atom css eot js json map mjs otf
    rss ttf wasm woff woff2 xml xsl
    """.split()
)
PAGE_SCHEMES = frozenset({"http", "https"})
_MEDIA_SCHEMES = PAGE_SCHEMES | {"ftp", "mms", "mmsh", "mmst", "pnm", "rtmp", "rtsp"}
_STREAMING = frozenset({"mms", "mmsh", "mmst", "pnm", "rtmp", "rtsp"})
# Browsers strip C0 controls and spaces at the ends.
_ENDS = "".join(map(chr, range(0x21)))
# A navigation link is written the same way on every page of a site.
_CACHED = 16_384
_LONGEST = 8_192
_LONGEST_HOST = 253
_LONG_AUTHORITY = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}[^/\\?]{256}", re.IGNORECASE)
# An address that stands as it is: nothing in it is to be quoted, folded or encoded.
_PLAIN_URL = linear(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9-]++(?:\.[a-z0-9-]++)*+)(?P<path>/[\w/.~-]*+)"
    r"(?:\?(?P<query>[\w/.&=+-]++))?",
    re.ASCII,
)
# A reference that stands as it is, too, behind the folder or the host of the page.
_PLAIN_PATH = linear(
    r"/?+(?:[\w-]++(?:\.[\w-]++)*+/)*+[\w-]++(?:\.[\w-]++)*+(?:\?[\w.&=+-]++)?", re.ASCII
)
_DEFAULT_PORT = re.compile(r"^(?:http://([^/?]*):80|https://([^/?]*):443)(?=[/?]|$)")
_TRACKING = re.compile(
    r"&(?:utm_\w+|(?:gcl|fbcl|dcl|mscl|ycl|twcl|ttcl|li_fat_|wbra|gbra)id|mc_[ce]id|_ga|igshid|_hsenc"
    r"|_hsmi|mkt_tok|pk_(?:campaign|kwd|source|medium)|mtm_\w+)(?==|&|#|$)",
    re.IGNORECASE,
)
_SIGNED = re.compile(
    r"&(?:[\w-]*(?:signature|token|hmac|policy|expires|hash)|sig|x-amz-\w+|x-goog-\w+|e|hdnts?)=",
    re.IGNORECASE,
)
_NO_QUERY_ENCODINGS = ("utf-16", "utf-32", "hz", "iso2022_kr")


class Target(NamedTuple):
    """The target of a reference."""

    url: str  # absolute, without fragment, as browsers write it (`absolute_url`)
    host: str  # in lower case, without port
    media: str | None  # the kind of media file the path names, or None
    hosted: str | None  # the kind of the item on a media host that the URL names, or None
    is_page: bool  # whether it may be fetched as a page


def physical_layer(url: str) -> int:
    """Return the number of directories in the URL's path, plus one.

    >>> [physical_layer(u) for u in ("http://h/", "http://h/a/b.htm", "http://h/a/b/c.htm")]
    [1, 2, 3]
    """
    try:
        path = urlsplit(url).path
    except ValueError:
        return 1
    return 1 + sum(1 for directory in path.split("/")[:-1] if directory)


def base_url(base: str, url: str, encoding: str) -> str:
    """Return the URL that a page's relative references start from; ``<base href>`` as written."""
    if not base:
        return url
    target = Resolver(url, encoding)(base)
    return target.url if target is not None else url


def without_tracking(url: str) -> str:
    """Return an address without the parameters that tell where a visitor came from.

    An address that is signed stands as it is: its signature may be of all parameters.

    >>> without_tracking("http://h.test/x.mp3?utm_source=web&v=2&gclid=7#t=3")
    'http://h.test/x.mp3?v=2#t=3'
    """
    path, mark, rest = url.partition("?")
    if not mark or not _TRACKING.search(f"&{rest}") or _SIGNED.search(f"&{rest}"):
        return url
    query, hash_mark, fragment = rest.partition("#")
    kept = "&".join(pair for pair in query.split("&") if not _TRACKING.match(f"&{pair}"))
    return f"{path}?{kept}{hash_mark}{fragment}" if kept else f"{path}{hash_mark}{fragment}"


@lru_cache(maxsize=_CACHED)
def resource_key(url: str) -> str:
    """Return a key that the addresses of one media file share.

    Left out are the scheme of the web, its default port, needless percent-encoding, and parameters
    that track visitors.

    >>> resource_key("https://h.test:443/%61.mp3")
    'h.test/a.mp3'
    """
    try:
        url = _DEFAULT_PORT.sub(r"http://\1\2", without_tracking(url), count=1)
        url = canonicalize_url(url)
    except ValueError:
        return url
    return url.removeprefix("http://").removeprefix("https://")


class Resolver:
    """Turns the references of one page, in its encoding (UTF-8 for UTF-16, HZ), into targets."""

    def __init__(self, base: str, encoding: str) -> None:
        self.base = base
        self._encoding = "utf-8" if encoding.startswith(_NO_QUERY_ENCODINGS) else encoding
        self._folder = (absolute_url(base, ".") or "") if base else ""
        self._origin = self._folder[: self._folder.find("/", self._folder.find("://") + 3)]

    def __call__(self, reference: str) -> Target | None:
        """Return the target of a reference, or None if it is malformed or of another scheme."""
        reference = reference.strip(_ENDS)
        if len(reference) > _LONGEST:
            return None
        if self._folder and _PLAIN_PATH.fullmatch(reference):
            return _classify((self._origin if reference[0] == "/" else self._folder) + reference)
        if reference.startswith(("http://", "https://")):  # the page's own address counts for none
            return _resolved("", reference, self._encoding)
        return _resolve(self.base, reference, self._encoding)

    def address(self, reference: str) -> str | None:
        """Return the URL of a reference's target, without classifying it: that is quicker."""
        if self._folder and _PLAIN_PATH.fullmatch(reference):
            return (self._origin if reference[0] == "/" else self._folder) + reference
        if "/." not in reference and _PLAIN_URL.fullmatch(reference):
            return reference
        target = self(reference)
        return None if target is None else target.url


def absolute_url(base: str, reference: str, encoding: str = "utf-8") -> str | None:
    """Return the address that browsers request, None for one they refuse.

    Args:
        base: Absolute; "" where the reference is.
        encoding: Of the page; the query is in it.

    Source: the URL standard of WHATWG. Hosts come in ASCII (UTS 46), IPv4 addresses however they
    are written with four numbers, paths without dot segments.

    >>> absolute_url("http://h.test/a/b.htm", "..\\\\c d?x"), absolute_url("", "http://0x7f.1")
    ('http://h.test/c%20d?x', 'http://127.0.0.1/')
    >>> absolute_url("http://h.test/", "http://1.2.3.256/") is None
    True
    """
    if not reference.isascii():
        reference = _with_query_in(encoding, reference)
    try:
        url: str = ada_url.join_url(base, reference) if base else ada_url.normalize_url(reference)
    except ValueError:  # also half of a surrogate pair
        return None
    return None if "xn--" in url and not _is_punycode(url) else url


def joined_url(base: str, reference: str) -> str:
    """Return the address that a good reference leads to; for a bad one the address it starts from.

    >>> joined_url("http://h.test/a/", "/robots.txt")
    'http://h.test/robots.txt'
    """
    return absolute_url(base, reference) or base


def _is_punycode(url: str) -> bool:
    """Whether the labels of a host that say so are punycode, of characters that hosts may have."""
    try:
        labels = (urlsplit(url).hostname or "").split(".")
        coded = [x[4:].encode().decode("punycode") for x in labels if x.startswith("xn--")]
    except ValueError:
        return False
    return all(label and is_normalized("NFKC", label) for label in coded)


def _with_query_in(encoding: str, reference: str) -> str:
    """Return a reference in which the query of a page that is not in UTF-8 is percent-encoded."""
    rest, mark, fragment = reference.partition("#")
    path, question, query = rest.partition("?")
    if query.isascii() or encoding == "utf-8":
        return reference
    written = query.encode(encoding, "xmlcharrefreplace")
    if written != query.encode(encoding, "ignore"):
        written = b"".join(
            c.encode(encoding) if _fits(c, encoding) else b"%%26%%23%d%%3B" % ord(c) for c in query
        )
    kept = quote_from_bytes(written, safe="%!#$&'()*+,/:;=?@[]~\"<>\\^`{|}")
    return path + question + kept + mark + fragment


def _fits(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _resolve(base: str, reference: str, encoding: str) -> Target | None:
    if _LONG_AUTHORITY.match(reference):
        return None
    url = absolute_url(base, reference, encoding)
    return _classify(url.partition("#")[0]) if url is not None else None


_resolved = lru_cache(maxsize=_CACHED)(_resolve)


@lru_cache(maxsize=_CACHED)
def _classify(url: str) -> Target | None:
    plain = _PLAIN_URL.fullmatch(url)
    if plain is not None:
        return _target(url, *plain.group("scheme", "host", "path", "query"))
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    if not host or len(host) > _LONGEST_HOST or parts.scheme not in _MEDIA_SCHEMES:
        return None
    return _target(url, parts.scheme, host, parts.path, parts.query)


def _target(url: str, scheme: str, host: str, path: str, query: str | None) -> Target:
    media = media_kind(url) or ("video" if scheme in _STREAMING else None)
    hosted = hosted_kind(host, f"{path}?{query}" if query else path)
    is_page = scheme in PAGE_SCHEMES and media is None and not _is_download(path)
    return Target(url, host, media, hosted, is_page)


def _is_download(path: str) -> bool:
    name = path.rpartition("/")[2]
    if "%" in name:
        name = unquote(name)
    if is_page_of_file(name):
        return False
    return name.rpartition(".")[2].lower() in _DOWNLOADS if "." in name else False
