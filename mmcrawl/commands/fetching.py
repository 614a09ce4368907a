"""Fetches a page through Scrapy's engine by a crawl's rules."""

import argparse
import os
import sys
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.http import Response
from twisted.python.failure import Failure

from mmcrawl.archive.model import Headers
from mmcrawl.commands.terminal.files import STANDARD, NoPageError
from mmcrawl.engine.answers import capture_of
from mmcrawl.engine.components import WELL_BEHAVED
from mmcrawl.engine.hosts import reason_of
from mmcrawl.errors import MmcrawlError
from mmcrawl.frontier.urls import PrivateHosts
from mmcrawl.page.headers import header_text
from mmcrawl.replay.handler import replay_settings
from mmcrawl.replay.opening import open_web
from mmcrawl.settings import value_of

HTML_TYPES = ("text/html", "application/xhtml+xml")

_SETTINGS: dict[str, Any] = {
    **WELL_BEHAVED,
    "AUTOTHROTTLE_ENABLED": False,
    "METAREFRESH_ENABLED": False,  # the page that was asked for is wanted, not the next one
}


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """A page as it was received."""

    body: bytes  # without content encoding (gzip, …)
    url: str = ""
    content_type: str = ""
    headers: Headers = ()


@dataclass(slots=True)
class _Outcome:
    """The outcome of the request: the page, or the reason why there is none."""

    page: ReceivedPage | None = None
    reason: str = "no answer"


class _OnePageSpider(Spider):
    """Fetches a page, and leaves it in an :class:`_Outcome`."""

    name = "one-page"
    url: str
    types: Collection[str] = HTML_TYPES
    outcome: _Outcome

    @property
    def private_hosts(self) -> PrivateHosts:
        """The hosts in private networks that may be asked: that of the page, if it is in one."""
        own = [self.url] if self.url else []
        return PrivateHosts.of(own, all=value_of(self.settings, "MMCRAWL_PRIVATE_NETWORKS"))

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the page; a redirect to the same address is followed as well."""
        yield Request(self.url, errback=self.fail, dont_filter=True)

    def parse(self, response: Response) -> None:
        content_type = header_text(response.headers, "Content-Type")
        kind = content_type.partition(";")[0].strip().lower()
        if response.status != 200:
            self.outcome.reason = f"HTTP {response.status}"
        elif kind and kind not in self.types:
            self.outcome.reason = f"no HTML page: {kind}"
        else:
            headers = capture_of(response).headers
            self.outcome.page = ReceivedPage(response.body, response.url, content_type, headers)

    def fail(self, failure: Failure) -> None:
        self.outcome.reason = reason_of(failure)


def fetched(
    command: ScrapyCommand, url: str, web: str = "", types: Collection[str] = HTML_TYPES
) -> ReceivedPage:
    """Fetch a page from a stored web, by default MMCRAWL_WEB or the network, in a new process."""
    outcome = _Outcome()
    web = web or value_of(command.settings, "MMCRAWL_WEB")  # type: ignore[arg-type]
    if web:
        open_web(web)
    settings = _SETTINGS | (replay_settings(web) if web else {})
    spider = type("OnePage", (_OnePageSpider,), {"custom_settings": settings})
    process: Any = command.crawler_process
    process.crawl(spider, url=url, types=types, outcome=outcome)
    process.start()
    if outcome.page is None:
        raise NoPageError(f"{url}: {outcome.reason}")
    return outcome.page


def check_web(web: str, file: str) -> None:
    """Refuse a stored web for a page read from a file."""
    if web:
        raise MmcrawlError(f"--web {web} goes with a URL; {file} is not taken from there")


def page_named(
    command: ScrapyCommand, name: str, opts: argparse.Namespace, types: Collection[str] = HTML_TYPES
) -> ReceivedPage:
    """Return the page of a file, of standard input, or of a URL; `opts` has its `url` and `web`."""
    path = Path(os.path.expanduser(name))
    if not name:
        raise MmcrawlError("the argument is empty; give one URL or file, or - for standard input")
    if name == STANDARD or os.path.exists(path):
        check_web(opts.web, name)
        if os.path.isdir(path):
            raise MmcrawlError(f"{name} is a folder; give an HTML file in it")
        body = sys.stdin.buffer.read() if name == STANDARD else path.read_bytes()
        return ReceivedPage(body, opts.url)
    if not name.lower().startswith(("http://", "https://")):
        raise MmcrawlError(f"there is no file {name}; give a file, or a URL with http://")
    return fetched(command, name, opts.web, types)
