"""RSS, Atom and podcast feeds: their pages are links, their enclosures media."""

from io import BytesIO
from typing import Any

import feedparser

from mmcrawl.discovering.listings import Listing, listed_link
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import IN_FEED, IN_FEED_WITH_MEDIA, Link, MediaResource, Page
from mmcrawl.page.urls import Resolver

# feedparser holds all in memory, some 10 times the feed; the newest entries stand first.
_READ = 4 * 1024 * 1024
_MOST_ENTRIES = 2_000
_MOST_ENCLOSURES = 20  # of an entry
_LONGEST = 200


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
        of_entry = _media_of(entry, title, resolve)
        for medium in of_entry:
            media.setdefault(medium.url, medium)
        if target is not None and target.is_page and target.url != url:
            kind = of_entry[0].kind if of_entry else ""
            words = " ".join(filter(None, (title[:160], kind, _date(entry))))
            path = IN_FEED_WITH_MEDIA if of_entry else IN_FEED
            links.setdefault(target.url, listed_link(target.url, words, path))
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
