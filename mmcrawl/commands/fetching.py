"""A page, and the style sheets it links to, fetched through Scrapy's engine by a crawl's rules."""

import re
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.http import Response
from twisted.python.failure import Failure
from w3lib.encoding import http_content_type_encoding, resolve_encoding
from w3lib.html import get_base_url

from mmcrawl.archive.model import Headers
from mmcrawl.blocks.layout.styles import LONGEST_SHEET, linked_sheets
from mmcrawl.engine.answers import capture_of
from mmcrawl.engine.components import WELL_BEHAVED
from mmcrawl.engine.hosts import reason_of
from mmcrawl.errors import MmcrawlError
from mmcrawl.frontier.urls import PrivateHosts
from mmcrawl.page.encoding import page_encoding
from mmcrawl.page.headers import header_text
from mmcrawl.page.tree import read_tree
from mmcrawl.page.urls import absolute_url
from mmcrawl.replay.handler import replay_settings
from mmcrawl.replay.opening import open_web
from mmcrawl.settings import value_of

HTML_TYPES = ("text/html", "application/xhtml+xml")
MOST_SHEETS = 20

_SETTINGS: dict[str, Any] = {
    **WELL_BEHAVED,
    "AUTOTHROTTLE_ENABLED": False,
    "METAREFRESH_ENABLED": False,  # the page that was asked for is wanted, not the next one
}
_WITH_SHEETS = _SETTINGS | {"AUTOTHROTTLE_ENABLED": True, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
_SHEET_TYPES = {"", "text/css", "text/plain"}
_CHARSET = re.compile(rb'@charset "([\w.:-]+)";')


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """A page as it was received.

    Attributes:
        body: Without content encoding (gzip, …).
        sheets: The style sheets it links to, by href, if they were asked for.
        missing: Those that could not be had, and why, a sentence each.
    """

    body: bytes
    url: str = ""
    content_type: str = ""
    headers: Headers = ()
    sheets: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


class NoPageError(MmcrawlError):
    """There is no page at an address or in a file."""


@dataclass(slots=True)
class _Outcome:
    """What became of the requests: the page, or the reason why there is none; and its sheets."""

    page: ReceivedPage | None = None
    reason: str = "no answer"
    sheets: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


class _OnePageSpider(Spider):
    """Fetches a page, its sheets or both, and leaves them in an :class:`_Outcome`."""

    name = "one-page"
    url: str
    types: Collection[str] = HTML_TYPES
    styles: bool = False
    outcome: _Outcome

    @property
    def private_hosts(self) -> PrivateHosts:
        """The hosts in private networks that may be asked: that of the page, if it is in one."""
        own = [self.url] if self.url else []
        return PrivateHosts.of(own, all=value_of(self.settings, "MMCRAWL_PRIVATE_NETWORKS"))

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the page; a redirect to the same address is followed as well."""
        if self.outcome.page is None:
            yield Request(self.url, errback=self.fail, dont_filter=True)
            return
        for request in self.sheet_requests(self.outcome.page):
            yield request

    def parse(self, response: Response) -> Iterator[Request]:
        content_type = header_text(response.headers, "Content-Type")
        kind = _kind_of(content_type)
        if response.status != 200:
            self.outcome.reason = f"HTTP {response.status}"
        elif kind and kind not in self.types:
            self.outcome.reason = f"no HTML page: {kind}"
        else:
            headers = capture_of(response).headers
            page = ReceivedPage(response.body, response.url, content_type, headers)
            self.outcome.page = page
            if self.styles:
                yield from self.sheet_requests(page)

    def fail(self, failure: Failure) -> None:
        self.outcome.reason = reason_of(failure)

    # -- style sheets ---------------------------------------------------------------------------

    def sheet_requests(self, page: ReceivedPage) -> Iterator[Request]:
        """Yield a request for each sheet that may be asked for; note why others are not."""
        encoding = page_encoding(page.body, page.content_type)
        text = page.body.decode(encoding, "replace")
        base = get_base_url(text, page.url)
        hrefs_of: dict[str, list[str]] = {}
        for href in linked_sheets(read_tree(page.body, encoding=encoding)):
            url = absolute_url(base, href, encoding) or ""
            if url.startswith(("http://", "https://")):
                hrefs_of.setdefault(url, []).append(href)
            else:
                why = "only http and https are asked" if ":" in url else "give its page's --url"
                self.outcome.missing.append(f"{href[:200]}: {why}")
        for number, (url, hrefs) in enumerate(hrefs_of.items()):
            if number == MOST_SHEETS:
                left = len(hrefs_of) - MOST_SHEETS
                self.outcome.missing.append(f"{left} more style sheets than {MOST_SHEETS}")
                return
            yield Request(
                url,
                callback=self.parse_sheet,
                errback=self.fail_sheet,
                cb_kwargs={"hrefs": hrefs, "encoding": encoding},
                meta={"download_maxsize": LONGEST_SHEET},
                dont_filter=True,
            )

    def parse_sheet(self, response: Response, hrefs: list[str], encoding: str) -> None:
        """Take a sheet, if it is one and there is room for it."""
        content_type = header_text(response.headers, "Content-Type")
        if (kind := _kind_of(content_type)) not in _SHEET_TYPES:
            self.outcome.missing.append(f"{response.url}: no style sheet: {kind}")
        elif response.status != 200:
            self.outcome.missing.append(f"{response.url}: HTTP {response.status}")
        elif sum(map(len, self.outcome.sheets.values())) + len(response.body) > LONGEST_SHEET:
            self.outcome.missing.append(f"{response.url}: too large, with the others")
        else:
            text = response.body.decode(
                _encoding_of(response.body, content_type, encoding), "replace"
            )
            self.outcome.sheets.update(dict.fromkeys(hrefs, text))

    def fail_sheet(self, failure: Failure) -> None:
        """Note why a sheet cannot be had."""
        url = failure.request.url  # type: ignore[attr-defined]
        self.outcome.missing.append(f"{url}: {reason_of(failure)}")


def fetched(
    command: ScrapyCommand,
    url: str,
    web: str = "",
    types: Collection[str] = HTML_TYPES,
    *,
    styles: bool = False,
) -> ReceivedPage:
    """Fetch a page.

    Args:
        command: the one that wants it; its process has not run yet.
        web: stored web to take it from; "" takes MMCRAWL_WEB, and if that is not set, the network.
        styles: fetch the style sheets it links to as well, see `with_sheets`.
    """
    outcome = _Outcome()
    _run(command, web, url=url, types=types, styles=styles, outcome=outcome)
    if outcome.page is None:
        raise NoPageError(f"{url}: {outcome.reason}")
    return _with_sheets(outcome.page, outcome)


def with_sheets(command: ScrapyCommand, page: ReceivedPage) -> ReceivedPage:
    """Return a page with the style sheets it links to, `MOST_SHEETS` and 1 MB at most.

    They are asked for as a crawl asks: robots.txt is obeyed, a host gets one request at a time, and
    in private networks no host but the page's is asked. What they import is not fetched.
    """
    outcome = _Outcome(page)
    _run(command, "", url=page.url, styles=True, outcome=outcome)
    return _with_sheets(page, outcome)


def _with_sheets(page: ReceivedPage, outcome: _Outcome) -> ReceivedPage:
    return replace(page, sheets=outcome.sheets, missing=tuple(outcome.missing))


def _run(command: ScrapyCommand, web: str, *, styles: bool, **attributes: Any) -> None:
    web = web or value_of(command.settings, "MMCRAWL_WEB")  # type: ignore[arg-type]
    if web:
        open_web(web)
    settings = (_WITH_SHEETS if styles else _SETTINGS) | (replay_settings(web) if web else {})
    spider = type("OnePage", (_OnePageSpider,), {"custom_settings": settings})
    process: Any = command.crawler_process
    process.crawl(spider, styles=styles, **attributes)
    process.start()


def _kind_of(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _encoding_of(body: bytes, content_type: str, around: str) -> str:
    """Return the codec of a sheet: by its header, by itself, or that of its page."""
    told = _CHARSET.match(body)
    label = http_content_type_encoding(content_type) or (told[1].decode("ascii") if told else "")
    return (resolve_encoding(label) if label else None) or around
