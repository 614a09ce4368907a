"""Sitemaps (sitemaps.org, with the extensions for news, video and languages), read as a stream."""

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any, NamedTuple

from lxml import etree

from mmcrawl.discovering.listings import MOST_BYTES, Listing, listed_link
from mmcrawl.errors import ListingError
from mmcrawl.page.model import IN_SITEMAP, IN_VIDEO_SITEMAP, Link, Page
from mmcrawl.page.urls import Resolver

MOST_ADDRESSES = 50_000  # of one file by the standard
_MOST_SITEMAPS = 1_000
_MOST_ALTERNATES = 100  # of an entry: languages
_OF_ROBOTS = re.compile(rb"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_TITLES = ("title", "name")
_DATES = ("publication_date", "lastmod")
_MALFORMED = "sitemap: no address can be read from it"


class _Entry(NamedTuple):
    """What a sitemap says of an address; `kind` is its element."""

    kind: str
    url: str
    words: str
    has_video: bool


def sitemaps_of_robots(body: bytes, url: str) -> tuple[str, ...]:
    """Return the sitemaps that a robots.txt names.

    Args:
        body: of the robots.txt.
        url: its address.

    >>> sitemaps_of_robots(b"User-agent: *\\nSitemap: /map.xml\\n", "http://h.test/robots.txt")
    ('http://h.test/map.xml',)
    """
    resolve = Resolver(url, "utf-8")
    named = (match[1].decode("utf-8", "replace") for match in _OF_ROBOTS.finditer(body))
    targets = (target for name in named if (target := resolve(name)) is not None)
    return tuple(islice(dict.fromkeys(target.url for target in targets), _MOST_SITEMAPS))


def read_sitemap(body: bytes, url: str) -> Listing:
    """Return what a sitemap, or an index of sitemaps, names; its elements are freed as it is read.

    Of malformed XML, what stands before the fault counts. The pages of an entry in other languages
    are links too.

    Args:
        body: unpacked.
        url: of the sitemap.

    Raises:
        ListingError: it is larger than the standard allows, or no address can be read from it.
    """
    if len(body) > MOST_BYTES:
        raise ListingError(f"sitemap: more than {MOST_BYTES // 2**20} MB")
    resolve = Resolver(url, "utf-8")
    links: dict[str, Link] = {}
    sitemaps: dict[str, None] = {}
    for entry in islice(_entries(body), MOST_ADDRESSES):
        target = resolve(entry.url)
        if target is None or target.url == url:
            continue
        if entry.kind == "url" and target.is_page:
            path = IN_VIDEO_SITEMAP if entry.has_video else IN_SITEMAP
            links.setdefault(target.url, listed_link(target.url, entry.words, path))
        elif entry.kind == "sitemap" and len(sitemaps) < _MOST_SITEMAPS:
            sitemaps[target.url] = None
    if not links and not sitemaps:
        raise ListingError(_MALFORMED)
    return Listing(Page(url, links=tuple(links.values())), tuple(sitemaps))


def _entries(body: bytes) -> Iterator[_Entry]:
    """Yield what is said of each address."""
    events = etree.iterparse(
        BytesIO(body), events=("end",), recover=True, resolve_entities=False, no_network=True
    )
    told: dict[str, str] = {}
    alternates: dict[str, None] = {}
    has_video = False
    try:
        for _, element in events:
            name = _name(element)
            if name in {"url", "sitemap"}:
                words = _words(told, has_video=has_video)
                urls = dict.fromkeys((told.get("loc", ""), *alternates))
                yield from (_Entry(name, url, words, has_video) for url in urls if url)
                told, alternates, has_video = {}, {}, False
                _free(element)
            elif name == "video":
                has_video = True
            elif name == "link" and element.get("hreflang"):
                if len(alternates) < _MOST_ALTERNATES:
                    alternates[(element.get("href") or "").strip()] = None
            elif name == "loc" and _name(element.getparent()) in {"url", "sitemap"}:
                told["loc"] = (element.text or "").strip()
            elif name in (*_TITLES, *_DATES):
                told.setdefault(name, " ".join((element.text or "").split()))
    except etree.XMLSyntaxError:  # with `recover`: nothing of it could be read
        return


def _words(told: dict[str, str], *, has_video: bool) -> str:
    """Return title, medium and date; a date alone says nothing of a page."""
    title = next((told[name] for name in _TITLES if told.get(name)), "")
    if not title and not has_video:
        return ""
    date = next((told[name][:10] for name in _DATES if told.get(name)), "")
    return " ".join(filter(None, (title[:160], "video" if has_video else "", date)))


def _name(element: Any) -> str:
    tag = element.tag if element is not None else ""
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def _free(element: Any) -> None:
    """Empty an entry that was read, and drop those before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]
