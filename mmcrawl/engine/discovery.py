"""Sitemaps and feeds of the seeds' hosts, fetched as links of the frontier.

So they obey robots.txt, the guard of private addresses, delays and bounds as pages do, are fetched
once, and are taken up again with the crawl. They come before pages: robots.txt, which names
sitemaps, then these, then the first of those that an index names. A sitemap or feed counts as a
fetched page with links, a robots.txt or an index as no page. Their links are one click from the
seed, however deep they lie, and each algorithm scores them by what is said of them.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import urljoin

from scrapy import Request
from scrapy.http import Response, TextResponse
from scrapy.utils.asyncio import run_in_thread

from mmcrawl.discovering.feeds import feed_addresses, read_feed
from mmcrawl.discovering.listings import Listing, listing_kind, unpacked
from mmcrawl.discovering.sitemaps import read_sitemap, sitemaps_of_robots
from mmcrawl.engine.items import NoPage, PageItem
from mmcrawl.engine.requests import WAY_KEY
from mmcrawl.errors import ListingError
from mmcrawl.frontier.addresses import host_of
from mmcrawl.frontier.urls import page_digest
from mmcrawl.text.public_suffixes import split_host

_ROBOTS, _SITEMAP, _LISTED = 3, 2, 1
_WAY_OF = {"sitemap": "sitemap", "feed": "feeds"}
_FIRST = 10  # sitemaps of an index that come before pages; the rest wait among these


class Discovery:
    """Follows the ways into a host that a crawl is told to use.

    Args:
        ways: `sitemap`, `feeds`, or both.
    """

    def __init__(self, ways: Sequence[str]) -> None:
        self._ways = frozenset(ways)

    async def read(self, response: Response) -> list[PageItem | NoPage | Request] | None:
        """Return what a sitemap, an index of some, a feed or a robots.txt gives.

        None for any other response.
        """
        way = response.meta.get(WAY_KEY)
        if way == _ROBOTS:
            named = sitemaps_of_robots(response.body, response.url)
            return [NoPage("no page: robots.txt, read for sitemaps"), *_sitemaps(named, response)]
        if not self._ways or (way is None and not isinstance(response, TextResponse)):
            return None
        try:
            body = unpacked(response.body) if way is not None else response.body
            kind = listing_kind(body)
            if kind is None:
                return None if way is None else [NoPage("no sitemap and no feed")]
            if _WAY_OF[kind] not in self._ways:
                return None
            reader = read_sitemap if kind == "sitemap" else read_feed
            listing = await run_in_thread(reader, body, response.url)
        except ListingError as error:
            return [NoPage(str(error))]
        return [_told(listing, response), *_sitemaps(listing.sitemaps, response)]

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


def _told(listing: Listing, response: Response) -> PageItem | NoPage:
    page = listing.page
    if not page.links and not page.media:
        return NoPage("no page: a sitemap or feed that names none")
    digest = page_digest(page.url, response.body, (resource.url for resource in page.media))
    return PageItem(page, response.status, digest)


def _sitemaps(addresses: Sequence[str], response: Response) -> Iterator[Request]:
    """Yield the requests of sitemaps of the same domain, one step below what names them.

    What an index names that another index names is not followed: the standard has none, and the
    steps end so.
    """
    way = response.meta.get(WAY_KEY, _LISTED) - 1
    if way < 0:
        return
    for number, address in enumerate(addresses):
        if _domain(address) == _domain(response.url):
            yield _request(address, way if number < _FIRST else 0)


def _request(url: str, way: int) -> Request:
    return Request(url, priority=way, meta={WAY_KEY: way})


def _domain(url: str) -> str:
    host = host_of(url)
    return split_host(host).top_domain_under_public_suffix or host
