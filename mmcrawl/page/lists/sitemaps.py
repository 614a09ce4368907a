"""Sitemaps (sitemaps.org, with the extensions for news, video and languages), read as a stream."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from mmcrawl.errors import ListingError
from mmcrawl.page.lists.listings import MOST_BYTES, Listing, caption, listed_link, media_of, merged
from mmcrawl.page.lists.xml_entries import Entry, as_utf8, xml_entries
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import IN_SITEMAP, IN_VIDEO_SITEMAP, Link, MediaResource, Page
from mmcrawl.page.urls import Resolver, Target
from mmcrawl.text.media_kinds import VIDEO

MOST_ADDRESSES = 50_000  # of one file by the standard
_MOST_SITEMAPS = 1_000
_MOST_ALTERNATES = 100  # of an entry: languages
_MOST_VIDEOS = 20  # of an entry
_OF_ROBOTS = re.compile(rb"(?:^|[\r\n])[ \t]*site-?maps?[ \t]*:[ \t]*<?([^\s<>]+)", re.IGNORECASE)
_ENTRIES = frozenset({"url", "sitemap"})
_XML, _ENDINGS = (".xml", ".xml.gz"), (".txt", ".gz", ".php", ".asp", ".aspx")  # of sitemaps
_PLAIN = frozenset({"loc", "lastmod", "changefreq", "priority"})
_DESCRIBED = frozenset({"image", "video", "news"})  # their addresses and dates are not the page's
_MALFORMED = "sitemap: no address can be read from it"
USUAL = (
    "/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml", "/sitemap.txt",
    "/sitemap.xml.gz", "/sitemapindex.xml",
)  # fmt: skip
"""Where sitemaps stand that no robots.txt names, the most usual place first."""


def sitemaps_of_robots(body: bytes, url: str) -> tuple[str, ...]:
    """Return the sitemaps that a robots.txt names.

    >>> sitemaps_of_robots(b"User-agent: *\\nSitemap: /map.xml\\n", "http://h.test/robots.txt")
    ('http://h.test/map.xml',)
    """
    resolve = Resolver(url, "utf-8")
    named = (match[1].decode("utf-8", "replace") for match in _OF_ROBOTS.finditer(as_utf8(body)))
    targets = (target for name in named if (target := resolve(name)) is not None)
    return tuple(islice(dict.fromkeys(target.url for target in targets), _MOST_SITEMAPS))


def read_sitemap(body: bytes, url: str) -> Listing:
    """Return the contents of a sitemap, or of an index of sitemaps.

    A sitemap may name sitemaps among its pages. The pages of an entry in other languages are links
    too; its videos are media of its page.

    Raises:
        ListingError: it is larger than the standard allows, or no address can be read from it.
    """
    _check_size(body)
    resolve = Resolver(url, "utf-8")
    named = _Named(url)
    for entry in islice(xml_entries(body, _ENTRIES), MOST_ADDRESSES):
        own = {one.name: one.text for one in _own(entry)}
        loc = own.get("loc", "")
        target = resolve(loc) if loc else None
        if target is None:
            continue
        inside = {one.name for one in entry.children} - _PLAIN
        videos = list(islice(entry.all("video"), _MOST_VIDEOS)) if inside else []
        words = _words(entry, own.get("lastmod", ""), has_video=bool(videos)) if inside else ""
        path = IN_VIDEO_SITEMAP if videos else IN_SITEMAP
        media = merged(_media_of(videos, resolve, words))
        named.add(target, words, path, media, is_sitemap=entry.name == "sitemap")
        for other in _alternates(entry, resolve) if inside else ():
            named.add(other, words, path)
    return named.listing()


def read_list(body: bytes, url: str) -> Listing:
    """Return the contents of a sitemap that is a text: an address a line.

    Raises:
        ListingError: it is larger than the standard allows, or no address can be read from it.

    >>> listing = read_list(b"http://h.test/a\\n\\nno address\\n", "http://h.test/sitemap.txt")
    >>> [link.url for link in listing.page.links]
    ['http://h.test/a']
    """
    _check_size(body)
    named = _Named(url)
    resolve = Resolver(url, "utf-8")
    lines = re.finditer(rb"(?:^|[\r\n])[ \t]*(https?://\S+)", as_utf8(body), re.IGNORECASE)
    for line in islice(lines, MOST_ADDRESSES):
        target = resolve(line[1].decode("utf-8", "replace"))
        if target is not None:
            named.add(target, "", IN_SITEMAP)
    return named.listing()


class _Named:
    """The contents of a sitemap, each address once."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._links: dict[str, Link] = {}
        self._sitemaps: dict[str, None] = {}

    def add(
        self,
        target: Target,
        words: str,
        path: str,
        media: tuple[MediaResource, ...] = (),
        *,
        is_sitemap: bool = False,
    ) -> None:
        """Add an address with its description."""
        if target.url == self._url:
            return
        if is_sitemap or _is_sitemap(target.url):
            if len(self._sitemaps) < _MOST_SITEMAPS:
                self._sitemaps[target.url] = None
        elif target.is_page:
            self._links.setdefault(target.url, listed_link(target.url, words, path, media))

    def listing(self) -> Listing:
        """Return it; ListingError if it names nothing."""
        if not self._links and not self._sitemaps:
            raise ListingError(_MALFORMED)
        links = tuple(self._links.values())
        media = media_of(links)
        titles = " ".join(link.anchor for link in links if link.media)[:100_000]
        return Listing(Page(self._url, links=links, media=media, text=titles), (*self._sitemaps,))


def _is_sitemap(url: str) -> bool:
    """Whether an address in a list is that of another sitemap, by its name."""
    name = url.partition("?")[0].rpartition("/")[2].lower()
    return name.endswith(_XML) or ("sitemap" in name and name.endswith(_ENDINGS))


def _check_size(body: bytes) -> None:
    if len(body) > MOST_BYTES:
        raise ListingError(f"sitemap: more than {MOST_BYTES // 2**20} MB")


def _own(entry: Entry) -> Iterator[Entry]:
    """Yield an entry's children, last first, that describe no image, video or news."""
    for child in reversed(entry.children):
        if child.name not in _DESCRIBED:
            yield from _own(child)
            yield child


def _alternates(entry: Entry, resolve: Resolver) -> Iterator[Target]:
    links = (one for one in entry.all("link") if "hreflang" in one.attributes)
    for link in islice(links, _MOST_ALTERNATES):
        target = resolve(link.attributes.get("href", ""))
        if target is not None:
            yield target


def _words(entry: Entry, date: str, *, has_video: bool) -> str:
    """Return title, medium and date; a date alone says nothing of a page."""
    date = (entry.first("publication_date") or date)[:10]
    title = entry.first("title", "name")
    if not title and not has_video:
        return ""
    return " ".join(filter(None, (title[:160], "video" if has_video else "", date)))


def _media_of(
    videos: Iterable[Entry], resolve: Resolver, words: str
) -> Iterator[tuple[MediaResource, ...]]:
    """Yield the media of an entry: for each video its file and its player."""
    for video in videos:
        date = video.first("publication_date")[:10]
        text = caption(video.first("title") or words, video.first("duration"), date)
        of_video = []
        for name in ("content_loc", "player_loc"):
            for target in filter(None, (resolve(one.text or "#") for one in video.all(name))):
                kind = target.hosted or media_kind(target.url, "") or VIDEO
                of_video.append(MediaResource(target.url, kind, "sitemap", text))
        yield tuple(of_video)
