"""Scrapy's way into a stored web: a download handler that answers instead of the network.

Settings::

    DOWNLOAD_HANDLERS = {
        "http": "mmcrawl.replay.handler.ReplayDownloadHandler",
        "https": "mmcrawl.replay.handler.ReplayDownloadHandler",
    }
    MMCRAWL_WEB = "demo"            # see mmcrawl.replay.open_web
    MMCRAWL_WEB_LATENCY = 0         # milliseconds, or per host: {"slow.test": 900, "*": 20}
"""

import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, NotConfigured
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.asyncio import call_later, run_in_thread
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError

from mmcrawl.errors import WebError
from mmcrawl.page.headers import bound_headers
from mmcrawl.replay.web import StoredResponse, StoredWeb, host_of, split_url
from mmcrawl.settings import value_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# Below this a change of thread takes longer than the reading.
BYTES_WORTH_A_THREAD = 1_000_000


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from request to answer: one number for all hosts, others for some of them.

    >>> Latency.parse('{"slow.test": 900, "*": 20}').seconds("slow.test")
    0.9
    """

    default: float = 0.0
    by_host: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, value: object) -> "Latency":
        """Read a setting: a number of milliseconds, or host → milliseconds as a mapping or JSON.

        The host `*` stands for all that are not named. None and an empty string mean no latency.

        Raises:
            WebError: The value is neither, or a number is negative or not finite.
        """
        if value is None or (isinstance(value, str) and not value.strip()):
            return cls()
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError as error:
                raise _wrong(value) from error
        if isinstance(value, Mapping):
            hosts = {str(host).lower(): _milliseconds(ms) for host, ms in value.items()}
            return cls(hosts.pop("*", 0.0), MappingProxyType(hosts))
        return cls(_milliseconds(value))

    def seconds(self, host: str) -> float:
        """The latency of `host` (in lower case, with its port if it has one)."""
        return self.by_host.get(host, self.default) / 1000


def _milliseconds(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    raise _wrong(value)


def _wrong(value: object) -> WebError:
    return WebError(
        f"{value!r} is no latency: give milliseconds as a number, or as JSON per host"
        ' (\'{"slow.test": 900, "*": 20}\').'
    )


class UnknownHostError(CannotResolveHostError, DNSLookupError):
    """The host is not in the stored web.

    It is both what Scrapy's own handlers raise when a name cannot be resolved and what Twisted
    does, so that retries and errbacks written for either see what they would see on the network.
    """


class ReplayDownloadHandler(BaseDownloadHandler):
    lazy = False

    def __init__(self, crawler: "Crawler", web: StoredWeb, latency: Latency) -> None:
        super().__init__(crawler)
        self._web = web
        self._latency = latency
        self._maxsize = crawler.settings.getint("DOWNLOAD_MAXSIZE")

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "ReplayDownloadHandler":
        try:
            latency = Latency.parse(value_of(crawler.settings, "MMCRAWL_WEB_LATENCY"))
            return cls(crawler, web_of(crawler), latency)
        except WebError as error:
            raise NotConfigured(str(error)) from error

    async def download_request(self, request: Request) -> Response:
        started = monotonic()
        await self._wait(request)
        stored = await self._fetch(request)
        request.meta["download_latency"] = monotonic() - started
        if stored is None:
            raise UnknownHostError(f"no host {urlparse_cached(request).hostname} in the stored web")
        limit = request.meta.get("download_maxsize", self._maxsize)
        if limit and len(stored.body) > limit:
            _cancel(request, len(stored.body), limit)
        return _scrapy_response(request, stored)

    async def _wait(self, request: Request) -> None:
        parts = split_url(request.url)
        seconds = self._latency.seconds(host_of(parts) if parts else "")
        if seconds:
            waited: Deferred[None] = Deferred()
            call_later(seconds, waited.callback, None)
            await maybe_deferred_to_future(waited)

    async def _fetch(self, request: Request) -> StoredResponse | None:
        url, method = request.url, request.method
        if self._web.size_hint(url) > BYTES_WORTH_A_THREAD:
            return await run_in_thread(self._web.get, url, method)
        return self._web.get(url, method)


_HANDLER = f"{__name__}.{ReplayDownloadHandler.__name__}"


def replay_settings(web: str, handler: str = _HANDLER) -> dict[str, Any]:
    """Scrapy settings with which everything is answered from a stored web, without waiting."""
    return {
        "DOWNLOAD_HANDLERS": {"http": handler, "https": handler},
        "MMCRAWL_WEB": web,
        "AUTOTHROTTLE_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "RETRY_ENABLED": False,
    }


def web_of(crawler: "Crawler") -> StoredWeb:
    """The stored web that the setting MMCRAWL_WEB names, opened once per crawler.

    Spiders that take their start URLs from it share it with the handlers of both schemes.
    """
    web: StoredWeb | None = getattr(crawler, "mmcrawl_web", None)
    if web is None:
        spec = value_of(crawler.settings, "MMCRAWL_WEB")
        if not spec:
            raise WebError("The setting MMCRAWL_WEB is empty: name the stored web, or 'demo'.")
        from mmcrawl.replay.opening import open_web  # slow to load

        web = open_web(str(spec))
        crawler.mmcrawl_web = web  # type: ignore[attr-defined]
    return web


def _cancel(request: Request, size: int, limit: int) -> NoReturn:
    message = f"{request} answers {size} bytes, more than download max size ({limit})."
    logger.warning(message)
    raise DownloadCancelledError(message)


def _scrapy_response(request: Request, stored: StoredResponse) -> Response:
    headers = Headers()
    for name, value in stored.headers:
        headers.appendlist(name, value)
    bound_headers(headers)
    make = responsetypes.from_args(headers=headers, url=request.url, body=stored.body)
    return make(url=request.url, status=stored.status, headers=headers, body=stored.body)
