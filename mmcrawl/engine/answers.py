"""What a response is, whatever its address ends in: a page, a playlist, a medium, or none of them.

Its type, the file name it is sent under and its first kilobyte decide. If it is no page, nothing
more is downloaded: a crawl notes the medium, and a collection fetches it.
"""

import logging
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, Self
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Headers, Response, TextResponse

from mmcrawl.archive.model import Capture
from mmcrawl.crawl.protocol import Crawl
from mmcrawl.engine.items import PageItem
from mmcrawl.engine.requests import LINK_KEY, WAY_KEY
from mmcrawl.engine.scheduler import crawl_of
from mmcrawl.errors import raise_if_fatal
from mmcrawl.media.magic import HEAD, PLAYLISTS, is_text, kind_of, type_of
from mmcrawl.page.headers import header_text
from mmcrawl.page.lists.playlists import is_playlist, may_be_playlist
from mmcrawl.page.media import kind_by_headers, media_kind, name_in
from mmcrawl.page.model import Page, may_be_media, with_dynamic_media
from mmcrawl.settings import value_of

# -- From a response of Scrapy's to a capture for the archive -------------------------------------


def capture_of(response: Response, url: str = "") -> Capture:
    """Return a response as a capture.

    The reason of the status line is the standard one: Scrapy does not hand on what was sent.
    `Content-Length` and the like are as sent, so they may tell of the body as it was compressed.

    Args:
        response: As a spider gets it.
        url: Address to keep it under, by default the response's.
    """
    headers = tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values
    )
    return Capture(
        url=url or response.url,
        body=response.body,
        time=requested_at(response),
        status=response.status,
        headers=headers,
        reason=_REASONS.get(response.status, ""),
    )


def requested_at(response: Response) -> float:
    """Return the time of a request in Unix seconds, accurate to the duration of its body."""
    latency = response.meta.get("download_latency", 0.0) if response.request else 0.0
    return time.time() - float(latency)


_REASONS = {status.value: status.phrase for status in HTTPStatus}


# -- What an answer is, whatever its address ends in: a page, a playlist, a medium, or none of
# them

PAGE, PLAYLIST = "page", "playlist"
TOO_LARGE = "mmcrawl_too_large"
"""Name in the meta of a request: its answer is larger than a page may be, and was cut off."""

_PAGE_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml")
_BULKY_TYPES = ("audio/", "video/", "image/", "application/x-shockwave-flash", "application/zip")
_ENOUGH = 1_024  # bytes
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
_HTML, _PACKED = "text/html", "application/gzip"


def declared_type(headers: Headers) -> str:
    """Return the declared media type in lower case, "" if there is none."""
    return header_text(headers, "Content-Type").partition(";")[0].strip().lower()


def answered_kind(response: Response) -> str:
    """Return `PAGE`, `PLAYLIST`, the kind of medium that an answer is, or "" for none of these."""
    kind = _kind(response.url, response.body[:HEAD], response.headers)
    return "" if kind == PAGE and not isinstance(response, TextResponse) else kind


def file_name(headers: Headers) -> str:
    """Return the file name that a response asks to be saved under, "" without one."""
    return name_in(header_text(headers, "Content-Disposition"))


class FirstBytes:
    """Stops the download of a response that is no page, by its headers or its first kilobyte.

    Sitemaps and the like that are asked for as such are left alone.

    Args:
        maxsize: most bytes of a page. A larger answer is looked at, too: a film may be.
    """

    def __init__(self, maxsize: int) -> None:
        self._maxsize = maxsize
        self._begun: WeakKeyDictionary[Request, tuple[Headers, bytes]] = WeakKeyDictionary()

    @classmethod
    def watching(cls, crawler: Crawler) -> Self:
        """Return one that watches the downloads of a crawl; keep a reference while that runs."""
        made = cls(crawler.settings.getint("DOWNLOAD_MAXSIZE"))
        crawler.signals.connect(made.headers, signals.headers_received)
        crawler.signals.connect(made.data, signals.bytes_received)
        return made

    def headers(self, headers: Headers, body_length: object, request: Request) -> None:
        """Read the headers of a response."""
        if LINK_KEY not in request.meta:
            return
        said = declared_type(headers)
        name = file_name(headers) or request.url
        if said.startswith(_BULKY_TYPES) and not may_be_playlist(name, said):
            raise StopDownload(fail=False)
        if WAY_KEY in request.meta or headers.get("Content-Encoding"):
            return
        self._begun[request] = headers, b""
        length = body_length if isinstance(body_length, int) else 0  # Twisted says "unknown"
        if 0 < self._maxsize < length:
            request.meta.update({TOO_LARGE: True, "download_maxsize": 0})

    def data(self, data: bytes, request: Request) -> None:
        """Read a piece of a response."""
        if request not in self._begun:
            return
        headers, before = self._begun[request]
        head = before + data[:_ENOUGH]
        if len(head) < _ENOUGH:
            self._begun[request] = headers, head
            return
        del self._begun[request]
        is_read = _kind(request.url, head, headers) in (PAGE, PLAYLIST)
        if request.meta.get(TOO_LARGE) or not (is_read or type_of(head, "") == _PACKED):
            raise StopDownload(fail=False)


def _kind(url: str, head: bytes, headers: Headers) -> str:
    said = declared_type(headers)
    disposition = header_text(headers, "Content-Disposition")
    named = kind_by_headers(url, said, disposition) or ""
    page = PAGE if not said or said in _PAGE_TYPES else ""
    if not head:
        return named if said not in _PAGE_TYPES else page
    seen = type_of(head, said)
    if seen == _HTML or is_playlist(head, name_in(disposition) or url, said):
        return page if seen == _HTML else PLAYLIST
    if seen in PLAYLISTS:
        return media_kind("", seen) or ""
    if is_text(head):  # also where it begins as some binary files do: "MAC addresses are"
        return named if named and (disposition or not page) else page
    if not seen or seen == said or head.startswith(_BYTE_ORDER_MARKS):
        return named or page
    other = media_kind("", seen) or ""
    return (kind_of(seen, named) or other) if named else other


# -- Spider middleware: what links are that do not tell (`download.php?id=3`), asked with HEAD ----

logger = logging.getLogger(__name__)

_OK = 200


class DynamicLinksMiddleware:
    """Turns links of a page that prove to be media into media of the page.

    Asked are only links that promise media (`may_be_media`), on pages that would be relevant if
    they kept the promise; through the engine, so that robots.txt and delays hold. An answer is
    remembered. When the budget is spent, links stay links.

    Raises:
        NotConfigured: MMCRAWL_HEAD_REQUESTS, the budget of a run, is 0.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.budget = value_of(crawler.settings, "MMCRAWL_HEAD_REQUESTS")
        if self.budget <= 0:
            raise NotConfigured
        self.crawler = crawler
        self._kinds: dict[str, str | None] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Complete the pages among the results of a callback."""
        job = crawl_of(self.crawler)
        async for output in result:
            if isinstance(output, PageItem) and job is not None:
                output.page = await self._complete(output.page, job)
            yield output

    async def _complete(self, page: Page, job: Crawl) -> Page:
        urls = [link.url for link in page.links if may_be_media(link)]
        wanted = min(job.kinds)
        if (
            not urls
            or not job.judge(with_dynamic_media(page, dict.fromkeys(urls, wanted))).relevant
        ):
            return page
        kinds = {url: kind for url in urls if (kind := await self._kind(url, job))}
        return with_dynamic_media(page, kinds)

    async def _kind(self, url: str, job: Crawl) -> str | None:
        allowed = job.sites.private_hosts.may_ask(url)
        if url not in self._kinds and allowed and self.budget > 0:
            self.budget -= 1
            self._kinds[url] = await self._ask(url)
        return self._kinds.get(url)

    async def _ask(self, url: str) -> str | None:
        self.crawler.stats.inc_value("mmcrawl/head_requests")
        request = Request(url, method="HEAD", meta={"dont_retry": True})
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the link stays a link
            raise_if_fatal(error)
            logger.debug("HEAD %s: %s", url, error)
            return None
        if response.status != _OK:
            return None
        names = ("Content-Type", "Content-Disposition")
        return kind_by_headers(
            response.url, *(header_text(response.headers, name) for name in names)
        )
