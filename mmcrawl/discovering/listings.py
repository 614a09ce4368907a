"""What a sitemap, a feed or a list of feeds is, and what it gives."""

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Literal

from mmcrawl.errors import ListingError
from mmcrawl.page.model import LISTED, Link, MediaResource, Page
from mmcrawl.page.urls import resource_key
from mmcrawl.page.xml_events import START, xml_events

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
_TEXT_LIST = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*https?://\S+[ \t]*(?:[\r\n]|\Z)", re.IGNORECASE
)
_LOOKED_AT = 16 * 1024
_GZIP = b"\x1f\x8b"
_PIECE = 64 * 1024
_MOST_MEMBERS = 1_000
_LONGEST_WORDS = 200
_LONGEST = 200
_MOST_MEDIA = 2_000  # of a list; those of its pages have no such bound
_SECONDS = re.compile(r"(\d{1,6})(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Listing:
    """What a sitemap or a feed names.

    Attributes:
        page: the listing as a page: its links with what is said of them, and their media.
        sitemaps: addresses of further sitemaps, or of what goes on with a feed.
    """

    page: Page
    sitemaps: tuple[str, ...] = ()


def listed_link(url: str, words: str, tag_path: str, media: tuple[MediaResource, ...] = ()) -> Link:
    """Return the link of an address that a list names.

    Args:
        url: the address, absolute.
        words: what is said of it.
        tag_path: what names it, one of `LISTED_PATHS`.
        media: what its page shows, as the list says.
    """
    return Link(url, words[:_LONGEST_WORDS], LISTED, tag_path=tag_path, media=media)


def listing_kind(body: bytes) -> Kind | None:
    """Return what a body is by its first element, None for none of these.

    A text of addresses is a `list`, which counts only where a sitemap was asked for.

    >>> listing_kind(b'<?xml version="1.0"?><rss version="2.0">'), listing_kind(b"<html>")
    ('feed', None)
    """
    head = body[:_LOOKED_AT].replace(b"\0", b"")  # the names are ASCII, in UTF-16 with zeros
    if _TEXT_LIST.match(head):
        return "list"
    for event in xml_events(head):
        if event.kind == START and event.name not in _JUNK:
            return _ROOTS.get(event.name)
    return None


def unpacked(body: bytes) -> bytes:
    """Return what a gzip file holds, all of its members; of any other file the file itself.

    Of a file that is damaged or cut off what can be unpacked counts.

    Raises:
        ListingError: nothing can be, or it holds more than a sitemap may.
    """
    if not body.startswith(_GZIP):
        return body
    content, at, problem = bytearray(), 0, "it is cut off"
    for _ in range(_MOST_MEMBERS):
        if not body.startswith(_GZIP, at):
            break
        decompressor = zlib.decompressobj(31)
        try:
            while not decompressor.eof and at < len(body):
                piece = body[at : at + _PIECE]
                content += decompressor.decompress(piece, MOST_BYTES + 1 - len(content))
                if len(content) > MOST_BYTES:
                    raise ListingError(f"sitemap: more than {MOST_BYTES // 2**20} MB unpacked")
                left = len(decompressor.unconsumed_tail) + len(decompressor.unused_data)
                at += len(piece) - left
        except zlib.error as error:
            problem = str(error)
            break
    if not content:
        raise ListingError(f"sitemap: damaged gzip ({problem})")
    return bytes(content)


def caption(title: str, duration: str, date: str) -> str:
    """Return what is said of a medium in one line.

    Args:
        title: its own, or that of its page.
        duration: in seconds, or as hours, minutes and seconds.
        date: as 2024-05-01.

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
    """Return media once each.

    Args:
        media: each as one that has the addresses of those behind it as further ones.
    """
    found: dict[str, MediaResource] = {}
    for first, *others in filter(None, media):
        addresses = dict.fromkeys(one.url for one in others)
        addresses.pop(first.url, None)
        one = replace(first, others=tuple(addresses))
        found.setdefault(resource_key(first.url), one)
    return tuple(found.values())


def media_of(links: Iterable[Link], own: Iterable[MediaResource] = ()) -> tuple[MediaResource, ...]:
    """Return the media of a list as long as the pages they are on were not fetched.

    Args:
        links: of the list.
        own: media of entries that name no page.
    """
    media = chain(own, chain.from_iterable(link.media for link in links))
    known = {resource_key(one.url): one for one in islice(media, _MOST_MEDIA)}
    return tuple(known.values())
