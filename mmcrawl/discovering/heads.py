"""What a page names beside itself: feeds, the page in other languages, oEmbed."""

import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import chain, islice

from mmcrawl.discovering.listings import listed_link
from mmcrawl.errors import ListingError
from mmcrawl.page.model import IN_HREFLANG, Link, Page
from mmcrawl.page.parse import parse_page
from mmcrawl.page.urls import Resolver

_MOST_FEEDS = 5
_MOST_LANGUAGES = 100
_HEAD = 64 * 1024
_LINK = re.compile(rb"<link\s[^>]{1,2000}>", re.IGNORECASE)
_FEED = re.compile(rb"application/(?:(?:rss|atom)\+xml|feed\+json)|text/x-opml", re.IGNORECASE)
_ANCHOR = re.compile(rb"<a\s[^>]{1,2000}>", re.IGNORECASE)
_LINKED = 1024 * 1024  # bytes of a page in which links to feeds are looked for
_FEED_PATH = re.compile(
    r"(?:\.(?:rss|atom|rdf|opml)|/(?:rss|feeds?|atom|podcast|sitemap|index|news)[\w-]*\.xml"
    r"|/(?:rss2?|feed|atom)/?|/(?:rss|feed|atom)\w{0,9}\.(?:php|aspx?|json)|/feeds/posts/default)"
    r"(?:\?|\Z)|[?&](?:feed|type|format)=(?:rss2?|atom|feed)(?:&|\Z)",
    re.IGNORECASE,
)
_OEMBED = re.compile(rb"application/json\+oembed", re.IGNORECASE)
_HREFLANG = re.compile(rb"\shreflang\s*=", re.IGNORECASE)
_CANONICAL = re.compile(rb"""\srel\s*=\s*["']?(?:canonical|stylesheet)""", re.IGNORECASE)
_HREF = re.compile(rb"""\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)
_MOST_BYTES = 1024 * 1024
_TOLD = ("html", "title")
_TYPES = frozenset({"video", "rich"})


def feed_addresses(body: bytes, url: str) -> tuple[str, ...]:
    """Return the feeds, and lists of feeds, that a page names, the first five: of its head first.

    In its body, links count whose type or whose address says that they lead to one.

    >>> head = b'<link rel=alternate type="application/rss+xml" href="/feed.xml">'
    >>> feed_addresses(head, "http://h.test/")
    ('http://h.test/feed.xml',)
    """
    named = chain(_named(body, url, _FEED), _linked(body, url))
    return tuple(islice(dict.fromkeys(named), _MOST_FEEDS))


def oembed_address(body: bytes, url: str) -> str | None:
    """Return where a page says what is embedded of it, None for nowhere."""
    return next(_named(body, url, _OEMBED), None)


def alternates(body: bytes, url: str) -> tuple[Link, ...]:
    """Return the page in other languages, as its head names them."""
    named = dict.fromkeys(_named(body, url, _HREFLANG))
    others = (listed_link(other, "", IN_HREFLANG) for other in named if other != url)
    return tuple(islice(others, _MOST_LANGUAGES))


def _linked(body: bytes, url: str) -> Iterator[str]:
    """Yield the addresses of the links of a page that lead to feeds."""
    for element, address in _addressed(_ANCHOR.findall(body[:_LINKED]), url):
        if _FEED.search(element) or any(
            map(_FEED_PATH.search, (address.partition("?")[0], address))
        ):
            yield address


def _named(body: bytes, url: str, what: "re.Pattern[bytes]") -> Iterator[str]:
    """Yield the addresses of the link elements of a head that are of a kind."""
    links = (
        element
        for element in _LINK.findall(body[:_HEAD])
        if what.search(element) and not _CANONICAL.search(element)
    )
    return (address for _, address in _addressed(links, url))


def _addressed(elements: Iterable[bytes], url: str) -> Iterator[tuple[bytes, str]]:
    """Yield elements with the addresses that they lead to; none that leads nowhere."""
    resolve = Resolver(url, "utf-8")
    for element in elements:
        if href := _HREF.search(element):
            written = next(group for group in href.groups() if group is not None)
            if target := resolve(unescape(written.decode("utf-8", "replace"))):
                yield element, target.url


# -- oEmbed ---------------------------------------------------------------------------------------


def read_oembed(body: bytes, url: str) -> Page:
    """Return what is embedded of a page: its media, with the title.

    Args:
        body: of the answer, JSON.
        url: its address.

    Raises:
        ListingError: it is no oEmbed, or embeds no medium.
    """
    if len(body) > _MOST_BYTES:
        raise ListingError("oEmbed: more than 1 MB")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ListingError("oEmbed: it is no JSON") from error
    if not isinstance(told, dict) or told.get("type") not in _TYPES:
        raise ListingError("oEmbed: it embeds no medium")
    html, title = (value if isinstance(value := told.get(name), str) else "" for name in _TOLD)
    shown = parse_page(html.encode("utf-8", "replace"), url, "text/html; charset=utf-8")
    if not shown.media:
        raise ListingError("oEmbed: it embeds no medium")
    return Page(url, title=" ".join(title.split())[:2_000], media=shown.media, text=title[:2_000])
