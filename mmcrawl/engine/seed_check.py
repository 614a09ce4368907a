"""Asks each seed once, politely: does it answer, where does it lead, and how large is its site.

Of a host are asked the seed, its robots.txt, and the first sitemaps: those bounded as a crawl's.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse
from twisted.python.failure import Failure

from mmcrawl.crawl.candidates import ALIVE, DEAD, FORBIDDEN, REDIRECTS, CheckedSeed
from mmcrawl.engine.components import WELL_BEHAVED
from mmcrawl.engine.hosts import LIMIT, RobotsTxtParser, reason_of
from mmcrawl.errors import ListingError
from mmcrawl.frontier.urls import PrivateHosts, canonical, host_of
from mmcrawl.page.headers import header_text
from mmcrawl.page.lists.listings import listing_kind, unpacked
from mmcrawl.page.lists.sitemaps import read_sitemap, sitemaps_of_robots
from mmcrawl.page.parse import parse_page
from mmcrawl.page.urls import joined_url
from mmcrawl.settings import value_of

MOST_SITEMAPS = 5
"""Sitemaps of a seed that are counted."""

_FORBIDDEN = "forbidden by robots.txt"


@dataclass(slots=True)
class _Counting:
    """The sitemaps of a seed."""

    asked: set[str] = field(default_factory=set)
    pages: int = 0
    read: bool = False
    more: bool = False


class SeedCheckSpider(Spider):
    """Checks seeds; what it learns is in `checked`, by the seed.

    Attributes:
        seeds: addresses, each once.
        checked: what is known of each, filled while it runs.
    """

    name = "seed-check"
    custom_settings = {  # noqa: RUF012 - as Scrapy has it
        **WELL_BEHAVED,
        "AUTOTHROTTLE_ENABLED": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "RETRY_TIMES": 1,
        "METAREFRESH_ENABLED": False,
    }
    seeds: Sequence[str]
    checked: dict[str, CheckedSeed]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._counting: dict[str, _Counting] = {}

    @property
    def private_hosts(self) -> PrivateHosts:
        """The hosts in private networks that may be asked: the seeds' own."""
        return PrivateHosts.of(self.seeds, all=value_of(self.settings, "MMCRAWL_PRIVATE_NETWORKS"))

    async def start(self) -> AsyncIterator[Request]:
        """Ask for each seed."""
        for seed in self.seeds:
            self.checked[seed] = CheckedSeed(seed, DEAD, reason="no answer")
            self._counting[seed] = _Counting()
            yield self._request(seed, seed, self.parse, self.fail)

    def parse(self, response: Response, seed: str) -> Iterator[Request]:
        """Take in the page of a seed; ask for what tells of its site."""
        moved = canonical(response.url) != canonical(seed)
        found = CheckedSeed(
            seed,
            REDIRECTS if moved else ALIVE,
            target=response.url if moved else "",
            status=response.status,
        )
        if isinstance(response, TextResponse):
            declared = header_text(response.headers, "Content-Type")
            page = parse_page(response.body, response.url, declared)
            found = replace(
                found,
                language=page.language,
                title=page.title,
                links=len(page.links),
                media=len(page.media),
            )
        self.checked[seed] = found
        robots = joined_url(response.url, "/robots.txt")
        yield self._request(robots, seed, self.parse_robots, self.without_robots)

    def parse_robots(self, response: Response, seed: str) -> Iterator[Request]:
        """Take in a robots.txt; ask for the sitemaps it names, and the usual one."""
        named: tuple[str, ...] = ()
        if response.status == 200:
            rules = RobotsTxtParser(response.body[:LIMIT])
            delay = rules.crawl_delay(str(self.settings["USER_AGENT"]))
            self.checked[seed] = replace(self.checked[seed], delay=delay)
            named = sitemaps_of_robots(response.body, response.url)
        yield from self._sitemaps(seed, (*named, joined_url(response.url, "/sitemap.xml")))

    def without_robots(self, failure: Failure) -> Iterator[Request]:
        """Ask for the usual sitemap where there is no robots.txt."""
        request: Request = failure.request  # type: ignore[attr-defined]
        usual = joined_url(request.url, "/sitemap.xml")
        yield from self._sitemaps(request.cb_kwargs["seed"], (usual,))

    def parse_sitemap(self, response: Response, seed: str) -> Iterator[Request]:
        """Count what a sitemap names."""
        counting = self._counting[seed]
        try:
            body = unpacked(response.body)
            if response.status != 200 or listing_kind(body) != "sitemap":
                return
            listing = read_sitemap(body, response.url)
        except ListingError:
            return
        counting.pages += len(listing.page.links)
        counting.read = True
        self._note(seed)
        yield from self._sitemaps(seed, listing.sitemaps)

    def fail(self, failure: Failure) -> None:
        """Note why a seed cannot be had."""
        reason = reason_of(failure)
        seed: str = failure.request.cb_kwargs["seed"]  # type: ignore[attr-defined]
        status = getattr(getattr(failure.value, "response", None), "status", 0)
        if reason == _FORBIDDEN:
            self.checked[seed] = CheckedSeed(seed, FORBIDDEN)
        else:
            self.checked[seed] = CheckedSeed(seed, DEAD, reason=reason, status=status)

    def without_sitemap(self, failure: Failure) -> None:
        """Leave a sitemap alone that cannot be had."""

    def _sitemaps(self, seed: str, urls: Sequence[str]) -> Iterator[Request]:
        counting = self._counting[seed]
        for url in dict.fromkeys(urls):
            if url in counting.asked or host_of(url) == "":
                continue
            if len(counting.asked) == MOST_SITEMAPS:
                counting.more = True
                break
            counting.asked.add(url)
            yield self._request(url, seed, self.parse_sitemap, self.without_sitemap)
        self._note(seed)

    def _note(self, seed: str) -> None:
        counting = self._counting[seed]
        if counting.read:
            self.checked[seed] = replace(
                self.checked[seed], listed=counting.pages, more=counting.more
            )

    @staticmethod
    def _request(url: str, seed: str, callback: Any, errback: Any) -> Request:
        return Request(
            url,
            callback=callback,
            errback=errback,
            cb_kwargs={"seed": seed},
            dont_filter=True,  # seeds may share a robots.txt
        )
