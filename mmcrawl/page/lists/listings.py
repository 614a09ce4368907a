"""Recognises a sitemap, a feed or a list of feeds, and returns its entries."""

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Literal
from urllib.parse import urlencode

from mmcrawl.errors import ListingError
from mmcrawl.page.lists.xml_entries import START, xml_events
from mmcrawl.page.model import IN_CDX, LISTED, Link, MediaResource, Page
from mmcrawl.page.parse import parse_page
from mmcrawl.page.urls import Resolver, resource_key

MOST_BYTES = 50 * 1024 * 1024  # of a sitemap by its standard, unpacked

Kind = Literal["sitemap", "feed", "opml", "list"]

_ROOTS: dict[str, Kind] = {
    "urlset": "sitemap",
    "sitemapindex": "sitemap",
    "opml": "opml",
    **dict.fromkeys(("rss", "feed", "rdf", "channel"), "feed"),
}
# What servers put before a file by mistake: warnings, in elements of their own.
_JUNK = frozenset(("br", "b", "p", "div", "span", "pre", "font", "i", "strong", "em", "hr", "a"))
_TEXT_LIST = re.compile(rb"[^<{]*?(?:\A|[\r\n\xbf\xff\xfe])[ \t]*https?://\S+", re.IGNORECASE)
_LOOKED_AT = 16 * 1024
_GZIP = b"\x1f\x8b"
_MOST_PACKED = 2  # times
_PIECE = 4 * 1024  # what is behind a member is copied for each in it
_LARGEST_PIECE = 1 << 20
_LONGEST_WORDS = 200
_LONGEST = 200
_MOST_MEDIA = 2_000  # of a list; those of its pages have no such bound
_SECONDS = re.compile(r"(\d{1,6})(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Listing:
    """The contents of a sitemap or a feed."""

    page: Page  # the listing as a page: its links with their descriptions, and their media
    sitemaps: tuple[str, ...] = ()  # addresses of further sitemaps, or of the next page of a feed


def listed_link(url: str, words: str, tag_path: str, media: tuple[MediaResource, ...] = ()) -> Link:
    return Link(url, words[:_LONGEST_WORDS], LISTED, tag_path=tag_path, media=media)


def listing_kind(body: bytes) -> Kind | None:
    """Return the kind of a body by its first element, None for none of these.

    A text of addresses is a `list`, which counts only where a sitemap was asked for.

    >>> listing_kind(b'<?xml version="1.0"?><rss version="2.0">'), listing_kind(b"<html>")
    ('feed', None)
    """
    head = body[:_LOOKED_AT].replace(b"\0", b"")  # the names are ASCII, in UTF-16 with zeros
    if _TEXT_LIST.match(head):
        return "list"
    if is_json_feed(head):
        return "feed"
    for event in xml_events(head):
        if event.kind == START and event.name not in _JUNK:
            return _ROOTS.get(event.name)
    return None


def is_json_feed(body: bytes) -> bool:
    """Return whether a body is a JSON feed, by its begin."""
    head = body[:_LOOKED_AT].lstrip(b"\xef\xbb\xbf \r\n\t")
    return head.startswith(b"{") and b"jsonfeed.org" in head


def unpacked(body: bytes) -> bytes:
    """Return the contents of a gzip file, all members; any other file is returned as it is.

    One that is packed twice is unpacked twice. Of a file that is damaged or cut off what can be
    unpacked counts.

    Raises:
        ListingError: nothing can be, or it holds more than a sitemap may.
    """
    for _ in range(_MOST_PACKED):
        if body.startswith(_GZIP):
            body = _unpacked(body)
    return body


def _unpacked(body: bytes) -> bytes:
    content, problem, unpacking = bytearray(), "it is cut off", Unpacking()
    try:
        for at in range(0, len(body), _PIECE):
            for piece in unpacking.pieces(body[at : at + _PIECE]):
                content += piece
                if len(content) > MOST_BYTES:
                    raise ListingError(f"sitemap: more than {MOST_BYTES // 2**20} MB unpacked")
    except zlib.error as error:
        problem = str(error)
    if not content:
        raise ListingError(f"sitemap: damaged gzip ({problem})")
    return bytes(content)


class Unpacking:
    """Unpacks gzip, of one member or several, or zlib's format as it comes; other bytes stay."""

    def __init__(self) -> None:
        self._inflate: Any = None
        self._is_plain = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield unpacked bytes, at most 1 MB at once."""
        if self._inflate is None and not self._is_plain:
            self._is_plain = not data.startswith((b"\x1f", b"\x78"))
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
        if self._is_plain:
            yield data
            return
        is_full = False  # more may be held back than there is input for
        while data or is_full:
            if self._inflate.eof:
                if not data.startswith(b"\x1f"):
                    return  # padding behind the last member
                self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
            piece = self._inflate.decompress(data, _LARGEST_PIECE)
            is_full = len(piece) == _LARGEST_PIECE
            if piece:
                yield piece
            data = self._inflate.unconsumed_tail or self._inflate.unused_data

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing at the end."""
        return self._inflate is None or self._is_plain or self._inflate.eof


def caption(title: str, duration: str, date: str) -> str:
    """Return the description of a medium in one line.

    >>> caption("Lenses", "723", "2024-05-01")
    'Lenses, 12:03, 2024-05-01'
    """
    if seconds := _SECONDS.fullmatch(duration):
        minutes, rest = divmod(int(seconds[1]), 60)
        hours, minutes = divmod(minutes, 60)
        duration = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    ending = ", ".join(filter(None, (duration[:20], date)))
    return ", ".join(filter(None, (title[: _LONGEST - len(ending) - 2], ending)))


def merged(media: Iterable[tuple[MediaResource, ...]]) -> tuple[MediaResource, ...]:
    """Return media once each."""
    found: dict[str, MediaResource] = {}
    for first, *others in filter(None, media):
        addresses = dict.fromkeys(one.url for one in others)
        addresses.pop(first.url, None)
        one = replace(first, others=tuple(addresses))
        found.setdefault(resource_key(first.url), one)
    return tuple(found.values())


def media_of(links: Iterable[Link], own: Iterable[MediaResource] = ()) -> tuple[MediaResource, ...]:
    """Return the media of a list as long as the pages they are on were not fetched."""
    media = chain(own, chain.from_iterable(link.media for link in links))
    known = {resource_key(one.url): one for one in islice(media, _MOST_MEDIA)}
    return tuple(known.values())


MOST_LINES = 10_000
_PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "warc/revisit", "unk", "-", ""})
_GOOD = frozenset({"200", "-", ""})


def cdx_query(server: str, host: str) -> str:
    """Return the address at which a CDX server tells the captures of a host.

    >>> cdx_query("http://archive.test/cdx", "h.test")
    'http://archive.test/cdx?url=h.test&matchType=host&limit=10000'
    """
    query = urlencode({"url": host, "matchType": "host", "limit": MOST_LINES})
    return f"{server}{'&' if '?' in server else '?'}{query}"


def read_cdx(body: bytes, url: str) -> Listing:
    """Return the pages that a CDX server names, each address once.

    Captures of files that are no pages, and of errors and redirects, are left out.

    Raises:
        ListingError: it is no CDX, is too large, or names no page.
    """
    if len(body) > MOST_BYTES:
        raise ListingError(f"CDX: more than {MOST_BYTES // 2**20} MB")
    resolve = Resolver(url, "utf-8")
    links: dict[str, Link] = {}
    for line in islice(body.splitlines(), MOST_LINES):
        address, kind, status = _capture(line.decode("utf-8", "replace"))
        if not address.startswith(("http://", "https://")):
            continue
        target = resolve(address)
        if target is not None and target.is_page and kind in _PAGE_TYPES and status in _GOOD:
            links.setdefault(target.url, listed_link(target.url, "", IN_CDX))
    if not links:
        raise ListingError("CDX: no page can be read from it")
    return Listing(Page(url, links=tuple(links.values())))


def _capture(line: str) -> tuple[str, str, str]:
    """Return address, media type and status of a capture; "" for what is missing."""
    fields = line.split(" ", 2)
    if len(fields) == 3 and fields[2].startswith("{"):
        try:
            told = json.loads(fields[2])
        except (ValueError, RecursionError):
            return "", "", ""
        return str(told.get("url", "")), str(told.get("mime", "")), str(told.get("status", ""))
    words = line.split()
    return (words[2], words[3], words[4]) if len(words) >= 5 else ("", "", "")


_MOST_OEMBED = 1024 * 1024  # bytes
_TOLD = ("html", "title")
_EMBEDDED = frozenset({"video", "rich"})


def read_oembed(body: bytes, url: str) -> Page:
    """Return the media and title that oEmbed gives of a page; a ListingError if it gives none."""
    if len(body) > _MOST_OEMBED:
        raise ListingError("oEmbed: more than 1 MB")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ListingError("oEmbed: it is no JSON") from error
    if not isinstance(told, dict) or told.get("type") not in _EMBEDDED:
        raise ListingError("oEmbed: it embeds no medium")
    html, title = (value if isinstance(value := told.get(name), str) else "" for name in _TOLD)
    shown = parse_page(html.encode("utf-8", "replace"), url, "text/html; charset=utf-8")
    if not shown.media:
        raise ListingError("oEmbed: it embeds no medium")
    return Page(url, title=" ".join(title.split())[:2_000], media=shown.media, text=title[:2_000])
