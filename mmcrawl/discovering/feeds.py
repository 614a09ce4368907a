"""RSS, Atom and podcast feeds: their pages are links, their enclosures media."""

import re
from html import unescape
from io import BytesIO
from itertools import islice
from typing import Any

import feedparser

from mmcrawl.discovering.listings import Listing
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import Link, MediaResource, Page
from mmcrawl.page.urls import Resolver

# feedparser holds all in memory, some 10 times the feed; the newest entries stand first.
_READ = 4 * 1024 * 1024
_MOST_ENTRIES = 2_000
_MOST_ENCLOSURES = 20  # of an entry
_LONGEST = 200
_MOST_FEEDS = 5
_HEAD = 64 * 1024
_LINK = re.compile(rb"<link\s[^>]{1,2000}>", re.IGNORECASE)
_FEED = re.compile(rb"application/(?:rss|atom)\+xml", re.IGNORECASE)
_HREF = re.compile(rb"""\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)


def feed_addresses(body: bytes, url: str) -> tuple[str, ...]:
    """Return the feeds that the head of a page names, the first five.

    >>> head = b'<link rel=alternate type="application/rss+xml" href="/feed.xml">'
    >>> feed_addresses(head, "http://h.test/")
    ('http://h.test/feed.xml',)
    """
    resolve = Resolver(url, "utf-8")
    found: dict[str, None] = {}
    for element in _LINK.findall(body[:_HEAD]):
        href = _HREF.search(element) if _FEED.search(element) else None
        if href is not None:
            value = next(group for group in href.groups() if group is not None)
            target = resolve(unescape(value.decode("utf-8", "replace")))
            if target is not None:
                found[target.url] = None
    return tuple(islice(found, _MOST_FEEDS))


def read_feed(body: bytes, url: str) -> Listing:
    """Return what a feed names; never raises, whatever the bytes.

    Args:
        body: of the feed, of which the first 4 MB are read.
        url: of the feed.
    """
    feed = feedparser.parse(BytesIO(body[:_READ]), sanitize_html=False, resolve_relative_uris=False)
    resolve = Resolver(url, "utf-8")
    links: dict[str, Link] = {}
    media: dict[str, MediaResource] = {}
    titles = []
    for entry in feed.entries[:_MOST_ENTRIES]:
        title = _text(entry.get("title"))
        titles.append(title)
        target = resolve(_text(entry.get("link")))
        if target is not None and target.is_page and target.url != url:
            words = " ".join(filter(None, (title, _date(entry))))
            links.setdefault(
                target.url, Link(target.url, words[:_LONGEST], "a", tag_path="feed entry link")
            )
        for medium in _media_of(entry, title, resolve):
            media.setdefault(medium.url, medium)
    return Listing(
        Page(
            url,
            title=_text(feed.feed.get("title")),
            description=_text(feed.feed.get("subtitle")),
            language=_text(feed.feed.get("language")).lower(),
            links=tuple(links.values()),
            media=tuple(media.values()),
            text=" ".join(titles)[:100_000],
        )
    )


def _media_of(entry: Any, title: str, resolve: Resolver) -> list[MediaResource]:
    caption = ", ".join(filter(None, (title, _text(entry.get("itunes_duration")), _date(entry))))
    media = []
    for enclosure in entry.get("enclosures", ())[:_MOST_ENCLOSURES]:
        target = resolve(_text(enclosure.get("href")))
        kind = target and media_kind(target.url, _text(enclosure.get("type")))
        if target is not None and kind:
            media.append(MediaResource(target.url, kind, "enclosure", caption[:_LONGEST]))
    return media


def _date(entry: Any) -> str:
    """Return the day of an entry, as 2024-05-01; "" where none can be read."""
    when = entry.get("published_parsed") or entry.get("updated_parsed")
    return f"{when.tm_year:04}-{when.tm_mon:02}-{when.tm_mday:02}" if when else ""


def _text(value: Any) -> str:
    """Return a value of a feed as one line of text; what is none is "" (feeds can be anything)."""
    return " ".join(value.split())[:2_000] if isinstance(value, str) else ""
