"""Sitemaps, feeds and the like of the seeds' hosts, fetched as links of the frontier.

So they obey robots.txt, the guard of private addresses, delays and limits as pages do, are fetched
once, and continue with the crawl. They come before pages: robots.txt, which names sitemaps, then
these, then the first of those that an index names; further ones when nothing else waits. If
robots.txt names none and neither usual place has one, some less usual places are tried. A list that
names addresses counts as a fetched page, a robots.txt or an index of few sitemaps does not.
`mmcrawl.crawl.listed` describes what becomes of the addresses.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from scrapy import Request
from scrapy.http import Response, TextResponse
from scrapy.utils.asyncio import run_in_thread

from mmcrawl.engine.items import NoPage, PageItem
from mmcrawl.engine.requests import ROBOTS_WAY, WAY_KEY
from mmcrawl.errors import ListingError
from mmcrawl.frontier.urls import host_of, page_digest
from mmcrawl.page.lists.feeds import read_feed, read_opml
from mmcrawl.page.lists.listings import (
    Listing,
    cdx_query,
    listed_link,
    listing_kind,
    read_cdx,
    read_oembed,
    unpacked,
)
from mmcrawl.page.lists.sitemaps import USUAL, read_list, read_sitemap, sitemaps_of_robots
from mmcrawl.page.model import FEED, HREFLANG, IN_HREFLANG, IN_INDEX, OEMBED, Page
from mmcrawl.page.urls import joined_url
from mmcrawl.text.resources import site_of

_SITEMAP, _LISTED = 2, 1
_STEP = "mmcrawl_step"  # in the meta of a list: how many lists led to it
_DEEPEST = 6  # robots.txt, an index, and so on
_USUAL = "mmcrawl_usual"  # in the meta of a sitemap that nothing names: which of the usual ones
_OK, _MISSING = 200, range(400, 428)
_NONE = "no sitemap or feed"
_CDX, _OEMBED = "cdx", "oembed"  # asked for by name: their bodies tell nothing of what they are
_FIRST = 3  # sitemaps of an index that come before pages
_MOST_FEEDS, _MOST_LANGUAGES = 5, 100  # that a page names
_MOST_IN_VAIN = 5  # pages of a host whose oEmbed brought nothing, after which no more is asked


class _Reader(NamedTuple):
    """How a list is read, and how a crawl finds it."""

    way: str
    read: Callable[[bytes, str], Listing]


_READERS = {
    "sitemap": _Reader("sitemap", read_sitemap),
    "feed": _Reader("feeds", read_feed),
    "opml": _Reader("feeds", read_opml),
    "list": _Reader("sitemap", read_list),
}

Outputs = list[PageItem | NoPage | Request]


class Discovery:
    """Follows the ways into a host that the crawl's arguments allow.

    Args:
        ways: some of `sitemap`, `feeds`, `oembed` and `cdx`.
        cdx: address of the CDX server that is asked, "" for none.
    """

    def __init__(self, ways: Sequence[str], cdx: str = "") -> None:
        self._ways = frozenset(ways)
        self._cdx = cdx
        self._in_vain: Counter[str] = Counter()

    async def read(self, response: Response) -> Outputs | None:
        """Return the contents of a list or a robots.txt; None for any other response."""
        way = response.meta.get(WAY_KEY)
        if way == ROBOTS_WAY:
            named = sitemaps_of_robots(response.body, response.url)
            first = [_usual(response.url, 0, goes_on=not named)]
            said = "robots.txt, read for sitemaps"
            if response.status != _OK:
                named, said = (), f"{_NONE}: HTTP {response.status}"
            return [NoPage(said), *_lists(named, response), *first]
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
            return [NoPage(str(error)), *_next_usual(response)] if known else None

    async def _list(self, response: Response) -> Outputs | None:
        """Read a sitemap, a feed or an OPML; None for what is none, and was not asked for as one.

        Raises:
            ListingError: nothing can be read from it.
        """
        if response.status in _MISSING:
            raise ListingError(f"{_NONE}: HTTP {response.status}")
        body = unpacked(response.body)
        kind = listing_kind(body)
        if kind is None:
            if WAY_KEY in response.meta:
                raise ListingError("no sitemap and no feed")
            return None
        reader = _READERS[kind]
        if WAY_KEY not in response.meta and (kind == "list" or reader.way not in self._ways):
            return None
        return self._listed(await run_in_thread(reader.read, body, response.url), response)

    def ways_of(self, response: Response) -> Iterator[Request]:
        """Yield the requests of the ways into the host of a seed; none of other pages."""
        if not _is_seed(response):
            return
        if "sitemap" in self._ways:
            yield _request(joined_url(response.url, "/robots.txt"), ROBOTS_WAY)
        if "cdx" in self._ways:
            query = cdx_query(self._cdx, host_of(response.url))
            yield Request(query, priority=_LISTED, meta={WAY_KEY: _CDX})

    def ways_beside(self, response: Response, page: Page) -> Iterator[Request]:
        """Yield the requests of what a page names: a seed's feeds; oEmbed of one without media."""
        host = host_of(response.url)
        if "feeds" in self._ways and _is_seed(response):
            for feed in islice(_named(page, FEED), _MOST_FEEDS):
                if _domain(feed) == _domain(response.url):
                    yield _request(feed, _LISTED)
        if "oembed" in self._ways and not page.media and self._in_vain[host] < _MOST_IN_VAIN:
            address = next(_named(page, OEMBED), None)
            if address is not None and _domain(address) == _domain(response.url):
                self._in_vain[host] += 1
                yield Request(address, meta={WAY_KEY: _OEMBED})

    def with_alternates(self, response: Response, page: Page) -> Page:
        """Return a page with the links to its other languages that its head names."""
        if "sitemap" not in self._ways:
            return page
        named = (url for url in _named(page, HREFLANG) if url != response.url)
        others = [listed_link(url, "", IN_HREFLANG) for url in islice(named, _MOST_LANGUAGES)]
        return replace(page, links=(*page.links, *others)) if others else page

    def _embedded(self, response: Response) -> Outputs:
        page = read_oembed(response.body, response.url)
        self._in_vain[host_of(response.url)] = 0
        return [_told(Listing(page), response)]

    def _listed(self, listing: Listing, response: Response) -> Outputs:
        """Return a list's addresses and media, and what it names to be read next.

        The steps end, whatever names what: those of requests are counted, and a list that is
        reached as a link names links, which are a layer deeper each.
        """
        is_link = WAY_KEY not in response.meta
        step = response.meta.get("depth" if is_link else _STEP, 0)
        own = [url for url in listing.sitemaps if _domain(url) == _domain(response.url)]
        if own and step >= _DEEPEST:
            if not listing.page.links:
                return [NoPage(f"sitemap: indexes more than {_DEEPEST} deep are not read")]
            own = []
        first = [] if is_link else own[:_FIRST]
        later = tuple(listed_link(url, "", IN_INDEX) for url in own[len(first) :])
        page = replace(listing.page, links=(*listing.page.links, *later))
        return [_told(Listing(page), response), *_lists(first, response)]


def _is_seed(response: Response) -> bool:
    return not response.meta.get("depth", 0) and WAY_KEY not in response.meta


def _named(page: Page, kind: str) -> Iterator[str]:
    return (address for what, address in page.named if what == kind)


def _told(listing: Listing, response: Response) -> PageItem | NoPage:
    page = listing.page
    if not page.links and not page.media:
        return NoPage("no page: a sitemap or feed that names none")
    digest = page_digest(page.url, response.body, (resource.url for resource in page.media))
    return PageItem(page, response.status, digest, blocks=())


def _lists(addresses: Sequence[str], response: Response) -> Iterator[Request]:
    """Yield the requests of lists of the same domain that a list names."""
    way = max(response.meta.get(WAY_KEY, 0) - 1, _LISTED)
    for address in addresses:
        if _domain(address) == _domain(response.url):
            yield _request(address, way, {_STEP: response.meta.get(_STEP, 0) + 1})


def _usual(url: str, tried: int, *, goes_on: bool) -> Request:
    """Return the request of a sitemap where they usually stand, and whether others follow."""
    meta = {_USUAL: tried} if goes_on else {}
    return _request(joined_url(url, USUAL[tried]), _SITEMAP, meta)


def _next_usual(response: Response) -> Iterator[Request]:
    """Yield the request of the next place where a sitemap may be, if none was at the one before."""
    tried = response.meta.get(_USUAL)
    if tried is not None and tried + 1 < len(USUAL):
        first = response.meta.get("redirect_urls", (response.url,))[0]
        yield _usual(first, tried + 1, goes_on=True)


def _request(url: str, way: int, meta: Mapping[str, int] = MappingProxyType({})) -> Request:
    # What is not there is an answer here: others may be asked for then.
    return Request(
        url, priority=way, meta={WAY_KEY: way, "handle_httpstatus_list": list(_MISSING), **meta}
    )


def _domain(url: str) -> str:
    return site_of(host_of(url))
