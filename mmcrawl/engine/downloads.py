"""Download handlers for media, which write to the disk as bytes arrive, not into memory.

A request with a `Download` in its meta is answered by a response without a body; all others, such
as those for robots.txt, are answered as always. If a server continues with another file than it
began with, the request is repeated without its range.
"""

import socket
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler, _ScrapyAgent
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http import Headers, Response
from scrapy.spidermiddlewares.referer import NoReferrerPolicy, StrictOriginWhenCrossOriginPolicy
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import (
    HostnameEndpoint,
    TCP4ClientEndpoint,
    TCP6ClientEndpoint,
    wrapClientTLS,
)
from twisted.internet.interfaces import IReactorPluggableNameResolver, IStreamClientEndpoint
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.client import HTTPConnectionPool, ResponseDone
from twisted.web.http import PotentialDataLoss
from twisted.web.iweb import UNKNOWN_LENGTH
from zope.interface import implementer

from mmcrawl.engine.hosts import NoNameServerError
from mmcrawl.engine.requests import is_for_robots
from mmcrawl.engine.threads import in_thread
from mmcrawl.errors import MediaError
from mmcrawl.frontier.urls import PrivateHosts, host_of, is_private_address
from mmcrawl.media.download import Download
from mmcrawl.page.headers import NO_CODINGS, bound_headers, header_text
from mmcrawl.replay.handler import ReplayDownloadHandler
from mmcrawl.settings import value_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

# -- Connections of a crawl: none is made to a private address that the user did not name ---------


class DownloadHandler(HTTP11DownloadHandler):
    """Scrapy's handler of http and https, with private addresses refused before they are asked.

    What may be asked all the same the spider says by its attribute `private_hosts`; a spider
    without one may ask everything. The decision falls on the address a connection is about to be
    made to, for whatever the request is: a page, a robots.txt, what either redirects to. Where a
    proxy resolves names, only the form of the host can be judged. IPv6 addresses are understood.

    Raises:
        IgnoreRequest: the address is private. It is not tried again.
    """

    def __init__(self, crawler: "Crawler") -> None:
        super().__init__(crawler)
        from twisted.internet import reactor

        pool = _ConnectionPool(reactor)  # type: ignore[no-untyped-call]
        pool.maxPersistentPerHost = self._pool.maxPersistentPerHost
        pool._factory = self._pool._factory
        pool.crawler, pool.tls = crawler, self._contextFactory
        pool.timeout = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        self._pool = pool

    async def close(self) -> None:
        """Close the connections, or leave them when that takes too long.

        Scrapy's own timer may end what has just ended, which raises where nobody looks.
        """
        from twisted.internet import reactor

        # What is given up is only the waiting: connections that were cancelled would fail untold.
        closed: Deferred[None] = Deferred()
        closed.addTimeout(self._disconnect_timeout, reactor, lambda *_: None)
        self._pool.closeCachedConnections().chainDeferred(closed)  # type: ignore[no-untyped-call]
        await maybe_deferred_to_future(closed)

    async def download_request(self, request: Request) -> Response:
        """Return the response to a request.

        Raises:
            IgnoreRequest: the address is private, by its form or once it is resolved.
        """
        private = _private_hosts(self._crawler)
        if private is not None and not private.may_ask(request.url):
            raise IgnoreRequest(f"leads to {host_of(request.url)}, which is on a private network")
        return await self.answer(request)

    async def answer(self, request: Request) -> Response:
        """Return the response to a request that may be made.

        Raises:
            NoNameServerError: nothing is known of its host for now.
        """
        if is_for_robots(request):  # however long it is, it is read up to a limit
            request = request.replace(meta={**request.meta, "download_maxsize": 0})
        try:
            response = await super().download_request(request)
        except CannotResolveHostError as error:
            # Twisted says the same of a name that is not there.
            if await maybe_deferred_to_future(
                in_thread(partial(_is_unknown, host_of(request.url)))
            ):
                raise NoNameServerError(str(error)) from error
            raise
        bound_headers(response.headers)
        if header_text(response.headers, "Content-Encoding").lower() in NO_CODINGS:
            response.headers.pop("Content-Encoding", None)  # Scrapy warns that it cannot undo it
        return response


class _ConnectionPool(HTTPConnectionPool):
    """A pool that looks at every address before it connects to it.

    Attributes:
        crawler: whose connections these are.
        tls: makes the client side of TLS connections.
        timeout: most seconds until a connection is there.
    """

    crawler: "Crawler"
    tls: Any
    timeout: float

    def getConnection(  # noqa: N802 - Twisted's
        self, key: Any, endpoint: IStreamClientEndpoint
    ) -> Deferred[Any]:
        """Return a connection; `endpoint` is used as it is only if it is a proxy."""
        by_proxy = key[0] == b"http-proxy" or isinstance(endpoint, TCP4ClientEndpoint)
        return super().getConnection(key, endpoint if by_proxy else self._endpoint(*key))

    def _putConnection(self, key: Any, connection: Any) -> None:  # noqa: N802 - Twisted's
        """Keep a connection for further requests, unless it is being closed.

        A download stopped at its headers closes it; if the body came with them, the connection is
        free all the same, and a request sent over it is lost after the server has it.
        """
        if not connection.transport.disconnecting:
            super()._putConnection(key, connection)  # type: ignore[no-untyped-call]

    def _endpoint(
        self, scheme: bytes, host: bytes, port: int, bind_address: tuple[str, int] | None
    ) -> IStreamClientEndpoint:
        name = host.decode("ascii").lower()
        reactor, private = self._reactor, _private_hosts(self.crawler)
        if private is not None and not private.opened(name, port):
            reactor = _PublicReactor(reactor, name)
        kind: Any = TCP6ClientEndpoint if ":" in name else HostnameEndpoint
        endpoint: IStreamClientEndpoint = kind(reactor, name, port, self.timeout, bind_address)
        if scheme == b"https":
            return wrapClientTLS(self.tls.creatorForNetloc(host, port), endpoint)
        return endpoint


@implementer(IReactorPluggableNameResolver)
class _PublicReactor:
    """The reactor, as far as an endpoint of `host` needs it; connects to public addresses only."""

    def __init__(self, reactor: Any, host: str) -> None:
        self._reactor, self._host = reactor, host

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def connectTCP(self, address: str, *args: Any, **kwargs: Any) -> Any:  # noqa: N802 - Twisted's
        """Connect to an address that an endpoint has resolved.

        Raises:
            IgnoreRequest: it is private.
        """
        if is_private_address(address):
            raise IgnoreRequest(f"{self._host} stands for a private address")
        return self._reactor.connectTCP(address, *args, **kwargs)


def _is_unknown(host: str) -> bool:
    """Return whether the name servers fail to tell whether a host is there."""
    try:
        socket.getaddrinfo(host, None)
    except socket.gaierror as error:
        return error.errno == socket.EAI_AGAIN
    except (OSError, ValueError):
        return False
    return False


def _private_hosts(crawler: "Crawler") -> PrivateHosts | None:
    hosts: PrivateHosts | None = getattr(crawler.spider, "private_hosts", None)
    return hosts


# -- Download handlers for media: what comes goes to the disk as it comes, not into memory --------

DOWNLOAD = "mmcrawl_download"
"""Name in a request's meta of the `Download` that takes its answer."""

_STREAMED = (200, 206, 416)


class MediaDownloadHandler(DownloadHandler):
    """Answers requests from the network, those for media to the disk.

    Raises:
        MediaError: what comes is not wanted.
        BrokenOffError: not all came, or not what was promised; asking again may help.
        TooSlowError: it comes too slowly.
    """

    def __init__(self, crawler: "Crawler") -> None:
        super().__init__(crawler)
        self._slowest = value_of(crawler.settings, "MMCRAWL_MEDIA_SLOWEST")
        self._timeout = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        sends_referrer = crawler.settings.getbool("REFERER_ENABLED")
        self._referrer = (
            StrictOriginWhenCrossOriginPolicy() if sends_referrer else NoReferrerPolicy()
        ).referrer

    async def answer(self, request: Request) -> Response:
        """Return the response to a request; that of a medium has no body."""
        download: Download | None = request.meta.get(DOWNLOAD)
        if download is None:
            return await super().answer(request)
        if download.is_stopped:
            raise MediaError("it was stopped")
        try:
            response = await self._taken(request, download)
        except _StartAgainError:
            response = await self._taken(request, download)
        if response.status in _STREAMED:
            response.headers.pop("Content-Encoding", None)  # the bytes are unpacked, on the disk
        return response

    async def _taken(self, request: Request, download: Download) -> Response:
        agent = _MediaAgent(download, self._slowest, self._timeout, self._crawler, self)
        asked = request.copy()  # its range is that of this attempt
        asked.headers.update(download.conditions())
        # Many media servers require a referring page; Scrapy would name the redirect.
        asked.headers["Referer"] = self._referrer(download.file.page, request.url)
        try:
            with wrap_twisted_exceptions():
                answered = agent.download_request(asked)
                download.interrupt = answered.cancel
                response = await maybe_deferred_to_future(answered)
        except MediaError as error:
            if not error.again:
                raise
            raise BrokenOffError(str(error)) from error
        except DownloadTimeoutError as error:
            if not agent.has_begun:
                raise
            raise TooSlowError(
                f"fewer than {self._slowest:,} bytes a second came over {self._timeout:g} s"
            ) from error
        finally:
            download.interrupt = _nothing
            if download.has_come_farther():
                request.meta["retry_times"] = 0  # one that gets on is not given up
            if "download_latency" in asked.meta:
                request.meta["download_latency"] = asked.meta["download_latency"]
        return response


class ReplayMediaHandler(ReplayDownloadHandler):
    """Answers requests from a stored web, those for media to the disk."""

    async def download_request(self, request: Request) -> Response:
        response = await super().download_request(request)
        download: Download | None = request.meta.get(DOWNLOAD)
        if download is None or response.status not in _STREAMED:
            return response
        length = len(response.body)
        try:
            download.accept(response.status, _header(response.headers), length, request.url)
            download.write(response.body)
            download.finish()
        except MediaError as error:
            if not error.again:
                raise
            raise BrokenOffError(str(error)) from error
        return response.replace(body=b"")


class BrokenOffError(ResponseDataLossError):
    """Not all came, or not what was promised, as the message says."""


class TooSlowError(DownloadTimeoutError):
    """A body came too slowly, as the message says."""


class _StartAgainError(Exception):
    """The file changed on the server since the download began; the partial file was dropped."""


class _MediaAgent(_ScrapyAgent):
    """Makes one request, and passes the bytes received to a download."""

    def __init__(
        self,
        download: Download,
        slowest: int,
        timeout: float,
        crawler: "Crawler",
        handler: MediaDownloadHandler,
    ) -> None:
        super().__init__(
            contextFactory=handler._contextFactory,
            connectTimeout=timeout,
            bindAddress=handler._bind_address,
            pool=handler._pool,
            maxsize=handler._default_maxsize,
            crawler=crawler,
        )
        self.has_begun = False  # whether a body began to come
        self._download = download
        self._slowest = slowest

    def download_request(self, request: Request) -> Deferred[Response]:
        self._window = request.meta.get("download_timeout") or self._connectTimeout
        return super().download_request(request)

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        if txresponse.code not in _STREAMED or request.method != "GET":
            return super()._cb_bodyready(txresponse, request)
        header = _header(self._headers_from_twisted_response(txresponse))
        length = None if txresponse.length == UNKNOWN_LENGTH else int(txresponse.length)
        result = {"txresponse": txresponse}
        try:
            ranged = b"Range" in request.headers
            self._download.accept(txresponse.code, header, length, request.url)
        except MediaError as error:
            txresponse._transport._producer.abortConnection()
            if error.again and ranged:
                raise _StartAgainError from error
            raise
        except BaseException:
            txresponse._transport._producer.abortConnection()
            raise
        if length == 0:
            self._download.finish()
            return result
        self.has_begun = True
        finished: Deferred[Any] = Deferred(partial(self._cancel, txresponse=txresponse))
        txresponse.deliverBody(_Writer(finished, result, self._download, self._enough))
        self._txresponse = txresponse  # for timeouts
        return finished

    def _enough(self, count: int) -> int:
        """Extend the deadline of a body if enough bytes arrived; return the time left."""
        if count < self._slowest * self._window:
            return count
        self._timeout_cl.reset(self._window)  # type: ignore[call-arg,misc]
        return 0


class _Writer(Protocol):
    """Takes a body."""

    def __init__(
        self, finished: Deferred[Any], result: dict[str, Any], download: Download, enough: Any
    ) -> None:
        self._finished, self._result = finished, result
        self._download, self._enough = download, enough
        self._counted = 0

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's
        if self._finished.called:  # what was buffered when it was given up
            return
        try:
            self._download.write(data)
        except Exception:  # noqa: BLE001 - whoever waits gets it
            failure = Failure()  # type: ignore[no-untyped-call]
            self.transport._producer.abortConnection()  # type: ignore[union-attr]
            self._finished.errback(failure)
        else:
            self._counted = self._enough(self._counted + len(data))

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's
        if self._finished.called:
            return
        whole = reason.check(ResponseDone, PotentialDataLoss)  # type: ignore[no-untyped-call]
        if not whole:
            lost = BrokenOffError("the connection was closed before the download was complete")
            lost.__cause__ = reason.value
            self._finished.errback(Failure(lost))  # type: ignore[no-untyped-call]
            return
        try:
            self._download.finish()
        except Exception:  # noqa: BLE001 - whoever waits gets it
            self._finished.errback(Failure())  # type: ignore[no-untyped-call]
        else:
            self._finished.callback(self._result)


def _nothing() -> None:
    """Abort nothing: no transfer is in progress."""


def _header(headers: Headers) -> Any:
    return partial(header_text, headers)
