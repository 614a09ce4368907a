"""Sitemaps, feeds and the like of the seeds' hosts, fetched as links of the frontier.

So they obey robots.txt, the guard of private addresses, delays and bounds as pages do, are fetched
once, and are taken up again with the crawl. They come before pages: robots.txt, which names
sitemaps, then these, then the first of those that an index names; further ones when nothing else
waits. A list that names addresses counts as a fetched page, a robots.txt or an index of few
sitemaps as none. What becomes of the addresses is told in `mmcrawl.crawling.listed`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urljoin

from scrapy import Request
from scrapy.http import Response, TextResponse
from scrapy.utils.asyncio import run_in_thread

from mmcrawl.discovering.cdx import cdx_query, read_cdx
from mmcrawl.discovering.feeds import read_feed
from mmcrawl.discovering.heads import alternates, feed_addresses, oembed_address
from mmcrawl.discovering.listings import Listing, listed_link, listing_kind, unpacked
from mmcrawl.discovering.oembed import read_oembed
from mmcrawl.discovering.opml import read_opml
from mmcrawl.discovering.sitemaps import read_sitemap, sitemaps_of_robots
from mmcrawl.engine.items import NoPage, PageItem
from mmcrawl.engine.requests import WAY_KEY
from mmcrawl.errors import ListingError
from mmcrawl.frontier.addresses import host_of
from mmcrawl.frontier.urls import page_digest
from mmcrawl.page.model import IN_INDEX, Page
from mmcrawl.text.public_suffixes import split_host

_ROBOTS, _SITEMAP, _LISTED = 3, 2, 1
_CDX, _OEMBED = "cdx", "oembed"  # asked for by name: their bodies tell nothing of what they are
_FIRST = 3  # sitemaps of an index that come before pages
_MOST_IN_VAIN = 5  # pages of a host whose oEmbed brought nothing, after which no more is asked


class _Reader(NamedTuple):
    """How a list is read, and by which way a crawl comes to it."""

    way: str
    read: Callable[[bytes, str], Listing]


_READERS = {
    "sitemap": _Reader("sitemap", read_sitemap),
    "feed": _Reader("feeds", read_feed),
    "opml": _Reader("feeds", read_opml),
}

Outputs = list[PageItem | NoPage | Request]


class Discovery:
    """Follows the ways into a host that a crawl is told to use.

    Args:
        ways: some of `sitemap`, `feeds`, `oembed` and `cdx`.
        cdx: address of the CDX server that is asked, "" for none.
    """

    def __init__(self, ways: Sequence[str], cdx: str = "") -> None:
        self._ways = frozenset(ways)
        self._cdx = cdx
        self._in_vain: Counter[str] = Counter()

    async def read(self, response: Response) -> Outputs | None:
        """Return what a list, or a robots.txt, gives; None for any other response."""
        way = response.meta.get(WAY_KEY)
        if way == _ROBOTS:
            named = sitemaps_of_robots(response.body, response.url)
            return [NoPage("robots.txt, read for sitemaps"), *_sitemaps(named, response)]
        if not self._ways:
            return None
        try:
            if way == _OEMBED:
                return self._embedded(response)
            if way == _CDX:
                listing = await run_in_thread(read_cdx, response.body, response.url)
                return [_told(listing, response)]
            return await self._list(response)
        except ListingError as error:
            known = way is not None or isinstance(response, TextResponse)
            return [NoPage(str(error))] if known else None

    async def _list(self, response: Response) -> Outputs | None:
        """Read a sitemap, a feed or an OPML; None for what is none, and was not asked for as one.

        Raises:
            ListingError: nothing can be read from it.
        """
        body = unpacked(response.body)
        kind = listing_kind(body)
        if kind is None:
            return None if WAY_KEY not in response.meta else [NoPage("no sitemap and no feed")]
        reader = _READERS[kind]
        if reader.way not in self._ways:
            return None
        return self._listed(await run_in_thread(reader.read, body, response.url), response)

    def ways_of(self, response: Response) -> Iterator[Request]:
        """Yield the requests of the ways into the host of a seed's page; none of other pages."""
        if response.meta.get("depth", 0) or WAY_KEY in response.meta:
            return
        if "sitemap" in self._ways:
            yield _request(urljoin(response.url, "/robots.txt"), _ROBOTS)
            yield _request(urljoin(response.url, "/sitemap.xml"), _SITEMAP)
        if "feeds" in self._ways:
            for feed in feed_addresses(response.body, response.url):
                if _domain(feed) == _domain(response.url):
                    yield _request(feed, _LISTED)
        if "cdx" in self._ways:
            query = cdx_query(self._cdx, host_of(response.url))
            yield Request(query, priority=_LISTED, meta={WAY_KEY: _CDX})

    def ways_beside(self, response: Response, page: Page) -> Iterator[Request]:
        """Yield the request of what a page without media says is embedded of it."""
        host = host_of(response.url)
        if "oembed" in self._ways and not page.media and self._in_vain[host] < _MOST_IN_VAIN:
            address = oembed_address(response.body, response.url)
            if address is not None and _domain(address) == _domain(response.url):
                self._in_vain[host] += 1
                yield Request(address, meta={WAY_KEY: _OEMBED})

    def with_alternates(self, response: Response, page: Page) -> Page:
        """Return a page with the links to its other languages that its head names."""
        if "sitemap" not in self._ways:
            return page
        others = alternates(response.body, response.url)
        return replace(page, links=(*page.links, *others)) if others else page

    def _embedded(self, response: Response) -> Outputs:
        page = read_oembed(response.body, response.url)
        self._in_vain[host_of(response.url)] = 0
        return [_told(Listing(page), response)]

    def _listed(self, listing: Listing, response: Response) -> Outputs:
        """Return a list's addresses and media, and what it names to be read next.

        What an index names that another index names is not followed: the standard has none, and
        the steps end so.
        """
        own = [url for url in listing.sitemaps if _domain(url) == _domain(response.url)]
        if not own:
            return [_told(listing, response)]
        if response.meta.get(WAY_KEY) != _SITEMAP:
            return [NoPage("sitemap: an index in an index is not read")]
        later = tuple(listed_link(url, "", IN_INDEX) for url in own[_FIRST:])
        page = replace(listing.page, links=(*listing.page.links, *later))
        return [_told(Listing(page), response), *_sitemaps(own[:_FIRST], response)]


def _told(listing: Listing, response: Response) -> PageItem | NoPage:
    page = listing.page
    if not page.links and not page.media:
        return NoPage("no page: a sitemap or feed that names none")
    digest = page_digest(page.url, response.body, (resource.url for resource in page.media))
    return PageItem(page, response.status, digest)


def _sitemaps(addresses: Sequence[str], response: Response) -> Iterator[Request]:
    """Yield the requests of sitemaps of the same domain, one step below what names them."""
    way = response.meta[WAY_KEY] - 1
    for address in addresses if way > 0 else ():
        if _domain(address) == _domain(response.url):
            yield _request(address, way)


def _request(url: str, way: int) -> Request:
    return Request(url, priority=way, meta={WAY_KEY: way})


def _domain(url: str) -> str:
    host = host_of(url)
    return split_host(host).top_domain_under_public_suffix or host
