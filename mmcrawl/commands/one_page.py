"""Fetching one page that a command asks for, through Scrapy's engine and by a crawl's rules."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from mmcrawl.components import WELL_BEHAVED
from mmcrawl.failures import reason_of
from mmcrawl.frontier import host_of, is_private_host
from mmcrawl.replay.handler import replay_settings

__all__ = [
    "OnePageSpider",
    "Outcome",
    "PrivateNetworkMiddleware",
    "ReceivedPage",
    "leave_crawl_out",
]

_HTML_TYPES = ("", "text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """A page as it was received.

    Attributes:
        body: Without content encoding (gzip, …).
        url: Its address after redirects, "" if it has none.
        content_type: The ``Content-Type`` header, "" if there is none.
    """

    body: bytes
    url: str = ""
    content_type: str = ""


@dataclass(slots=True)
class Outcome:
    """What became of a request: the page, or the reason why there is none."""

    page: ReceivedPage | None = None
    reason: str = "no answer"


def leave_crawl_out(settings: BaseSettings | None) -> None:
    """Let a command fetch pages with any spider, without its frontier and archive."""
    own = {"SCHEDULER": "scrapy.core.scheduler.Scheduler", "MMCRAWL_ARCHIVE": "none"}
    if settings is not None:
        settings.setdict(own, priority="cmdline")


class OnePageSpider(Spider):
    """Fetches one HTML page and leaves it in an :class:`Outcome`."""

    name = "one-page"
    url: str
    outcome: Outcome

    @staticmethod
    def settings_for(web: str) -> dict[str, Any]:
        """Return the settings of a class that fetches from a stored web, or the network if ""."""
        return _SETTINGS | (replay_settings(web) if web else {})

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the page; a redirect to the same address is followed as well."""
        yield Request(self.url, errback=self.fail, dont_filter=True)

    def parse(self, response: Response) -> None:
        """Keep the page, if it is one."""
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        kind = content_type.partition(";")[0].strip().lower()
        if response.status != 200:
            self.outcome.reason = f"HTTP {response.status}"
        elif kind not in _HTML_TYPES:
            self.outcome.reason = f"no HTML page: {kind}"
        else:
            self.outcome.page = ReceivedPage(response.body, response.url, content_type)

    def fail(self, failure: Failure) -> None:
        """Keep the reason why there is no page."""
        self.outcome.reason = reason_of(failure)


class PrivateNetworkMiddleware:
    """Downloader middleware: what the user did not name is not asked on private networks.

    An address that is given is asked, wherever it is; from a public one neither a redirect nor a
    name that stands for a private address leads there, as in a crawl.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raise IgnoreRequest for an address on a private network."""
        host = host_of(request.url)
        if not self._anywhere and is_private_host(host):
            raise IgnoreRequest(f"leads to {host}, which is on a private network")

    def process_response(self, request: Request, response: Response) -> Response:
        """Return the response, or raise IgnoreRequest for one from a private network."""
        address = response.ip_address
        if self._anywhere or address is None or address.is_global or request.meta.get("proxy"):
            return response
        raise IgnoreRequest(f"{host_of(request.url)} stands for a private address")

    @property
    def _anywhere(self) -> bool:
        settings, spider = self.crawler.settings, self.crawler.spider
        replayed = bool(settings.get("MMCRAWL_WEB"))
        given = isinstance(spider, OnePageSpider) and is_private_host(host_of(spider.url))
        return replayed or given or settings.getbool("MMCRAWL_PRIVATE_NETWORKS")


_SETTINGS: dict[str, Any] = {
    "AUTOTHROTTLE_ENABLED": False,
    "METAREFRESH_ENABLED": False,  # the page that was asked for is wanted, not the next one
    "DOWNLOADER_MIDDLEWARES": {
        **WELL_BEHAVED["DOWNLOADER_MIDDLEWARES"],
        "mmcrawl.middlewares.PrivateNetworkMiddleware": None,
        PrivateNetworkMiddleware: 620,
    },
}
