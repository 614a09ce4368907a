"""Connections of a crawl: none is made to a private address that the user did not name."""

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import (
    HostnameEndpoint,
    TCP4ClientEndpoint,
    TCP6ClientEndpoint,
    wrapClientTLS,
)
from twisted.internet.interfaces import IReactorPluggableNameResolver, IStreamClientEndpoint
from twisted.web.client import HTTPConnectionPool
from zope.interface import implementer

from mmcrawl.frontier.addresses import PrivateHosts, host_of, is_private_address
from mmcrawl.page.headers import NO_CODINGS, bound_headers, header_text

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


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
        """Return the response to a request that may be made."""
        response = await super().download_request(request)
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


def _private_hosts(crawler: "Crawler") -> PrivateHosts | None:
    hosts: PrivateHosts | None = getattr(crawler.spider, "private_hosts", None)
    return hosts
