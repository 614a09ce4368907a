"""What a page names beside itself: feeds, the page in other languages, oEmbed."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from itertools import chain, islice

from mmcrawl.errors import ListingError
from mmcrawl.page.lists.listings import listed_link
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
    for element, address in _addressed(_ANCHOR.findall(body[:_LINKED]), url):
        if _FEED.search(element) or any(
            map(_FEED_PATH.search, (address.partition("?")[0], address))
        ):
            yield address


def _named(body: bytes, url: str, what: "re.Pattern[bytes]") -> Iterator[str]:
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


_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
# An element that frameworks fill, with nothing in it: React, Vue, Angular, Next, Nuxt and others.
_EMPTY_ROOT = re.compile(
    rb"<(?:div|main|section)\b[^<>]*\bid\s*=\s*[\"']?(?:app|root|main-app|__next|___gatsby|__nuxt"
    rb"|q-app|svelte|react-root|app-root)\b[^<>]*>\s*(?:<!--[^<>]*-->\s*)*</"
    rb"|<([a-z]+-(?:app|root)|app-[a-z]+)\b[^<>]*>\s*</\1\s*>",
    re.IGNORECASE,
)
_NEEDS_SCRIPT = re.compile(
    rb"<noscript\b[^<>]*>(?:(?!</noscript).){0,500}?(?:java\s?script|\xe8\x84\x9a\xe6\x9c\xac)",
    re.IGNORECASE | re.DOTALL,
)
_LITTLE_TEXT = 300  # characters, of text and anchors
_NEXT_TO_NO_TEXT, _FEW_LINKS = 100, 3
_SAMPLE = 3  # shells of a host that are rendered before it is judged


def is_shell(page: Page, body: bytes) -> bool:
    """Return whether a page seems to be made by its scripts.

    >>> is_shell(Page("http://h.test/"), b'<div id="root"></div><script src="a.js"></script>')
    True
    >>> is_shell(Page("http://h.test/", text="Levers. " * 99), b"<p>Levers…<script></script>")
    False
    """
    if page.media or not _SCRIPT.search(body):
        return False
    said = len(page.text) + sum(len(link.anchor) for link in page.links)
    if said > _LITTLE_TEXT:
        return False
    return (
        (said <= _NEXT_TO_NO_TEXT and len(page.links) < _FEW_LINKS)
        or _EMPTY_ROOT.search(body) is not None
        or _NEEDS_SCRIPT.search(body) is not None
    )


@dataclass(slots=True)
class _Host:
    rendered: int = 0
    gained: int = 0


class Choice:
    """Chooses the pages that are rendered.

    Args:
        most: Pages in all.
        every: Whether every page is one, not shells alone.
    """

    def __init__(self, most: int, *, every: bool = False) -> None:
        self._most, self._every = most, every
        self._hosts: dict[str, _Host] = {}
        self.rendered = 0

    def chooses(self, host: str, page: Page, body: bytes) -> bool:
        """Return whether a page is to be rendered; it counts as chosen then."""
        if self.rendered >= self._most or not (self._every or is_shell(page, body)):
            return False
        known = self._hosts.setdefault(host, _Host())
        if not self._every and known.rendered >= _SAMPLE and not known.gained:
            return False
        known.rendered += 1
        self.rendered += 1
        return True

    def note(self, host: str, fetched: Page, rendered: Page) -> bool:
        """Note what came of a page; tell whether it has more links or media than before."""
        before = {link.url for link in fetched.links} | {medium.url for medium in fetched.media}
        after = {link.url for link in rendered.links} | {medium.url for medium in rendered.media}
        gains = not after <= before
        self._hosts.setdefault(host, _Host()).gained += gains
        return gains
