"""RSS, Atom, CDF and JSON feeds: their pages are links, their enclosures media of the pages."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from email.utils import parsedate
from html import unescape
from itertools import islice
from typing import Any

from mmcrawl.errors import ListingError
from mmcrawl.page.lists.listings import (
    MOST_BYTES,
    Listing,
    caption,
    is_json_feed,
    listed_link,
    media_of,
    merged,
)
from mmcrawl.page.lists.xml_entries import START, Entry, as_utf8, xml_entries, xml_events
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import IN_FEED, IN_FEED_WITH_MEDIA, IN_OPML, Link, MediaResource, Page
from mmcrawl.page.parse import media_in
from mmcrawl.page.urls import Resolver, Target
from mmcrawl.text.media_kinds import VIDEO

_MOST_ENTRIES = 10_000
_MOST_ENCLOSURES = 20  # of an entry
_LONGEST_HTML = 256 * 1024  # of an entry
_MOST_HTML = 8 * 1024 * 1024  # of a feed: to look for media in it takes longest
_LONGEST = 2_000
_ENTRIES = frozenset({"item", "entry"})
_SAID = frozenset({"title", "subtitle", "tagline", "description", "language", "link"})
_ASIDE = frozenset({"image", "textinput", "author", "contributor", "source"})
_PAGE_LINK = ("", "alternate")
_ENCLOSED = frozenset({"enclosure", "content", "player", "embed", "source"})
_PLACES = {"link": "href", "content": "src"}  # of addresses, where it is not url or uri
_CONTENT = ("encoded", "content", "description", "summary", "abstract")
_DATES = ("pubdate", "published", "date", "issued", "updated", "modified", "created")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_BASE = re.compile(
    rb"""<(?:[\w.-]{1,40}:)?(?:rss|feed|rdf|channel)\s[^<>]{0,2000}?\s(?:xml:)?base\s*=\s*["']([^"'<>]*)""",
    re.IGNORECASE,
)
_LISTS = re.compile(r"\.(?:xml|rss|atom|rdf)\Z", re.IGNORECASE)
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_HAS_MEDIA = re.compile(rb"<(?:audio|video|source|iframe|embed|object|a)[\s>]", re.IGNORECASE)
_MOST_OUTLINES = 10_000
_ADDRESSES = ("xmlurl", "htmlurl", "url")


def read_feed(body: bytes, url: str) -> Listing:
    """Return the entries of a feed; never raises, whatever the bytes.

    What its entries enclose, or show in their text, are media of the pages that they are of; of an
    entry that is of no page they are the feed's.
    """
    base = Resolver(url, "utf-8")
    said: dict[str, str] = {}
    further: dict[str, None] = {}
    links: dict[str, Link] = {}
    own: list[MediaResource] = []
    titles: list[str] = []
    spare, is_first = _MOST_HTML, True
    body = body[:MOST_BYTES]
    entries = _of_json(body) if is_json_feed(body) else xml_entries(body, _ENTRIES, _SAID | _ASIDE)
    for entry in _bounded(entries):
        if is_first:
            is_first, base = False, _base(entry.source[: entry.begin], url)
        if entry.name in _SAID:
            said.setdefault(entry.name, entry.text[:_LONGEST])
            if entry.attributes.get("rel", "").lower() == "next":
                target = base(entry.attributes.get("href", ""))
                further |= {target.url: None} if target is not None else {}
        if entry.name not in _ENTRIES:
            continue
        resolve = _resolver_of(entry, base)
        title = _title(entry)
        titles.append(title)
        html = list(_html(entry, spare))
        spare -= sum(len(part) for _, part in html)
        media = _media(entry, title, resolve, html)
        target = _page_of(entry, resolve)
        if target is None or target.url == url:
            own += media
            continue
        words = " ".join(filter(None, (title[:160], media[0].kind if media else "", _date(entry))))
        path = IN_FEED_WITH_MEDIA if media else IN_FEED
        links.setdefault(target.url, listed_link(target.url, words, path, media))
    page = Page(
        url,
        title=said.get("title", ""),
        description=said.get("subtitle") or said.get("tagline") or said.get("description", ""),
        language=said.get("language", "").lower(),
        links=tuple(links.values()),
        media=media_of(links.values(), own),
        text=" ".join(titles)[:100_000],
    )
    further.pop(url, None)
    return Listing(page, tuple(further)[:1])


def _bounded(entries: Iterable[Entry]) -> Iterator[Entry]:
    spare = _MOST_ENTRIES
    for entry in entries:
        yield entry
        spare -= entry.name in _ENTRIES
        if not spare:
            return


def _base(head: bytes, url: str) -> Resolver:
    """Return a resolver for the addresses of a feed, given its part before the first entry."""
    for base in _BASE.findall(head[: 64 * 1024]):
        target = Resolver(url, "utf-8")(base.decode("utf-8", "replace"))
        url = target.url if target is not None else url
    return Resolver(url, "utf-8")


def _resolver_of(element: Entry, outer: Resolver) -> Resolver:
    base = element.attributes.get("xml:base", "")
    target = outer(base) if base else None
    return outer if target is None else Resolver(target.url, "utf-8")


def _title(entry: Entry) -> str:
    own = [one for one in entry.children if one.name == "title" and one.text]
    plain = [one.text for one in own if one.prefix in ("", "atom", "rss")]
    title = (plain or [one.text for one in own] or [entry.first("title")])[0][:_LONGEST]
    # Most hold HTML, or text in which references were written twice.
    return " ".join(unescape(_MARKUP.sub("", title)).split())


def _page_of(entry: Entry, resolve: Resolver) -> Target | None:
    """Return the page of an entry: its link, or its id."""
    found = [
        target
        for one in entry.all("link")
        if one.attributes.get("rel", "").lower() in _PAGE_LINK
        for target in (_resolver_of(one, resolve)(one.attributes.get("href") or one.text or "#"),)
        if (one.attributes.get("href") or one.text) and _is_page(target)
    ]
    for one in entry.all("guid", "id") if not found else ():
        is_address = one.text.startswith(("http://", "https://")) or one.name == "id"
        is_link = one.attributes.get("ispermalink", "true").lower() != "false"
        if is_address and is_link and one.text:
            found += filter(_is_page, (resolve(one.text),))
    for name in ("about", "href") if not found else ():
        if value := entry.attributes.get(name):
            found += filter(_is_page, (resolve(value),))
    return found[0] if found else None


def _is_page(target: Target | None) -> bool:
    """Whether an address may be fetched as a page, or as a list of pages."""
    return target is not None and (
        target.is_page or _LISTS.search(target.url.partition("?")[0]) is not None
    )


def _html(entry: Entry, spare: int) -> Iterator[tuple[Entry, bytes]]:
    """Yield elements of an entry with what they hold as HTML that may show media."""
    for one in entry.all(*_CONTENT):
        html = one.content if one.children else one.text.encode()
        if len(html) <= min(_LONGEST_HTML, spare) and _HAS_MEDIA.search(html):
            yield one, html
            spare -= len(html)


def _media(
    entry: Entry, title: str, resolve: Resolver, html: Iterable[tuple[Entry, bytes]]
) -> tuple[MediaResource, ...]:
    """Return the media of an entry, each once, with title, duration and date."""
    date, duration = _date(entry), entry.first("duration")
    found: list[tuple[MediaResource, ...]] = []
    in_groups = {id(one) for group in entry.all("group") for one in group.walk()}
    groups = [list(group.walk()) for group in entry.all("group")]
    alone = [[one] for one in entry.walk() if id(one) not in in_groups]
    for elements in islice((*groups, *alone), _MOST_ENCLOSURES * 100):
        own = next((one.text for one in elements if one.name == "title" and one.text), "")
        same = [
            MediaResource(target.url, kind, "enclosure", caption(own or title, length, date))
            for one in elements
            for target, kind, length in _medium(one, resolve, duration)
        ]
        found.append(tuple(same))
    for one, part in html:
        shown = media_in(part, "utf-8", _resolver_of(one, resolve).base)
        text = caption(title, "", date)
        found += ((replace(medium, tag="enclosure", text=medium.text or text),) for medium in shown)
    return merged(found)[:_MOST_ENCLOSURES]


def _medium(one: Entry, resolve: Resolver, duration: str) -> Iterator[tuple[Target, str, str]]:
    """Yield address, kind and duration of the medium that an element of an entry names."""
    said, name = one.attributes, one.name
    relation = said.get("rel", "").lower() if name == "link" else None
    if relation not in ("enclosure", *_PAGE_LINK) and name not in _ENCLOSED:
        return
    address = said.get("url") or said.get("uri") or said.get(_PLACES.get(name, ""))
    address = address or (one.text if name == "link" else "")
    target = _resolver_of(one, resolve)(address) if address else None
    if target is None or (relation in _PAGE_LINK and target.is_page):
        return
    medium = said.get("medium", "").lower()
    kind = target.hosted or media_kind(target.url, said.get("type", ""))
    if name in ("player", "embed") or (kind is None and medium in ("audio", "video")):
        kind = kind or (medium or VIDEO)
    if kind and medium in ("", "audio", "video", "executable", "document"):
        yield target, kind, said.get("duration") or duration


def _date(entry: Entry) -> str:
    """Return the day of an entry, as 2024-05-01; "" where none can be read."""
    written = entry.first(*_DATES)
    if day := _DAY.match(written):
        return day[0]
    try:
        when = parsedate(written)
    except (ValueError, IndexError):  # of the standard library's parser
        return ""
    return f"{when[0]:04}-{when[1]:02}-{when[2]:02}" if when else ""


# -- JSON -----------------------------------------------------------------------------------------


def _of_json(body: bytes) -> Iterator[Entry]:
    """Yield a JSON feed (jsonfeed.org, version 1.1) in the form of elements of other feeds."""
    try:
        told = json.loads(as_utf8(body))
    except (ValueError, RecursionError):
        return
    for feed in _objects([told]):
        yield from (_element(name, feed.get(name)) for name in ("title", "description", "language"))
        yield _element("link", rel="next", href=feed.get("next_url"))
        for item in _objects(feed.get("items")):
            entry = _element("item")
            entry.children += (
                _element("title", item.get("title")),
                _element("link", item.get("url") or item.get("external_url")),
                _element("guid", item.get("id")),
                _element("published", item.get("date_published")),
                _element("content", item.get("content_html")),
            )
            entry.children += (
                _element("enclosure", url=one.get("url"), type=one.get("mime_type"),
                         duration=one.get("duration_in_seconds"))
                for one in _objects(item.get("attachments"))
            )  # fmt: skip
            yield entry


def _objects(told: object) -> Iterator[dict[str, Any]]:
    return (one for one in told if isinstance(one, dict)) if isinstance(told, list) else iter(())


def _element(name: str, text: object = "", **said: object) -> Entry:
    attributes = {key: str(one) for key, one in said.items() if isinstance(one, str | int | float)}
    pieces = [text] if isinstance(text, str) else []
    return Entry(name, "", attributes, b"", 0, pieces=pieces)


# -- lists of feeds -------------------------------------------------------------------------------


def read_opml(body: bytes, url: str) -> Listing:
    """Return the feeds and sites that an OPML file names; a ListingError if too large or none."""
    if len(body) > MOST_BYTES:
        raise ListingError(f"OPML: more than {MOST_BYTES // 2**20} MB")
    resolve = Resolver(url, "utf-8")
    links: dict[str, Link] = {}
    outlines = (
        event.attributes
        for event in xml_events(as_utf8(body))
        if event.kind == START and event.name == "outline"
    )
    for said in islice(outlines, _MOST_OUTLINES):
        title = " ".join((said.get("title") or said.get("text") or "").split())
        for name in _ADDRESSES:
            target = resolve(said.get(name, "").strip() or url)
            if target is not None and target.url != url:
                links.setdefault(target.url, listed_link(target.url, title, IN_OPML))
    if not links:
        raise ListingError("OPML: no address can be read from it")
    return Listing(Page(url, links=tuple(links.values())))
