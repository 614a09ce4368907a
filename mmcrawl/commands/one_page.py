"""Fetching one page that a command asks for, through Scrapy's engine and by a crawl's rules."""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from typing import Any

from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from mmcrawl.components import WELL_BEHAVED
from mmcrawl.failures import reason_of
from mmcrawl.frontier import PrivateHosts
from mmcrawl.replay import open_web
from mmcrawl.replay.handler import replay_settings

__all__ = ["HTML_TYPES", "Outcome", "ReceivedPage", "fetched", "leave_crawl_out"]

HTML_TYPES = ("text/html", "application/xhtml+xml")


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


class _OnePageSpider(Spider):
    """Fetches one page and leaves it in an :class:`Outcome`."""

    name = "one-page"
    url: str
    types: Collection[str]
    outcome: Outcome

    @property
    def private_hosts(self) -> PrivateHosts:
        """The hosts in private networks that may be asked: that of the page, if it is in one."""
        return PrivateHosts.of([self.url], all=self.settings.getbool("MMCRAWL_PRIVATE_NETWORKS"))

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the page; a redirect to the same address is followed as well."""
        yield Request(self.url, errback=self.fail, dont_filter=True)

    def parse(self, response: Response) -> None:
        """Keep the page, if it is one."""
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        kind = content_type.partition(";")[0].strip().lower()
        if response.status != 200:
            self.outcome.reason = f"HTTP {response.status}"
        elif kind and kind not in self.types:
            self.outcome.reason = f"no HTML page: {kind}"
        else:
            self.outcome.page = ReceivedPage(response.body, response.url, content_type)

    def fail(self, failure: Failure) -> None:
        """Keep the reason why there is no page."""
        self.outcome.reason = reason_of(failure)


_SETTINGS: dict[str, Any] = {
    **WELL_BEHAVED,
    "AUTOTHROTTLE_ENABLED": False,
    "METAREFRESH_ENABLED": False,  # the page that was asked for is wanted, not the next one
}


def fetched(
    command: ScrapyCommand, url: str, web: str = "", types: Collection[str] = HTML_TYPES
) -> Outcome:
    """Fetch a page.

    Args:
        command: the one that wants it; its process has not run yet.
        url: where the page is. In private networks no other host is asked.
        web: stored web to take it from; "" takes MMCRAWL_WEB, and if that is not set, the network.
        types: media types that are taken for a page.

    Raises:
        WebError: there is no such stored web.
    """
    web = web or command.settings.get("MMCRAWL_WEB")  # type: ignore[union-attr]
    if web:
        open_web(web)
    settings = _SETTINGS | (replay_settings(web) if web else {})
    spider = type("OnePage", (_OnePageSpider,), {"custom_settings": settings})
    outcome = Outcome()
    command.crawler_process.crawl(  # type: ignore[union-attr]
        spider, url=url, types=types, outcome=outcome
    )
    command.crawler_process.start()  # type: ignore[union-attr]
    return outcome
