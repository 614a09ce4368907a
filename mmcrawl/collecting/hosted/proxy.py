"""A proxy on this machine for a program of others: it connects to no private address.

It understands what such programs say to a proxy: CONNECT, and requests with a whole URL. Each
connection is for one request.
"""

import select
import socket
import socketserver
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

from mmcrawl.frontier.addresses import PrivateHosts, host_of, is_private_address, port_of

_LONGEST_HEAD = 65_536
_IDLE = 120.0  # seconds
_CHUNK = 65_536
_REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_UNREACHABLE = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_OF_PROXIES = (b"proxy-", b"connection:", b"keep-alive:")


class GuardedProxy:
    """A running proxy. A context manager.

    Args:
        private: the private hosts that may be asked all the same.

    Attributes:
        url: of the proxy.
        refused: hosts that were not asked, for they are private.
    """

    def __init__(self, private: PrivateHosts) -> None:
        self.refused: list[str] = []
        self._server = _Server(("127.0.0.1", 0), _Connection)
        self._server.private, self._server.refused = private, self.refused
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="mmcrawl-proxy", daemon=True
        ).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    private: PrivateHosts
    refused: list[str]

    def handle_error(self, *_: object) -> None:
        """Say nothing of connections that are broken off."""


class _Connection(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.request.settimeout(_IDLE)
        head, rest = self._head()
        if not head:
            return
        method, target, *_ = [*head.split(b"\r\n", 1)[0].split(b" "), b"", b""]
        is_tunnel = method == b"CONNECT"
        url = target.decode("latin-1")
        url = f"https://{url}" if is_tunnel else url
        try:
            there = self._connected(host_of(url), port_of(url))
        except PermissionError:
            self.server.refused.append(host_of(url))
            self.request.sendall(_REFUSED)
            return
        except (OSError, ValueError):
            self.request.sendall(_UNREACHABLE)
            return
        with there:
            if is_tunnel:
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                there.sendall(_forwarded(head, url) + rest)
                rest = b""
            there.sendall(rest)
            self._pass_on(there)

    def _head(self) -> tuple[bytes, bytes]:
        """Return the head of a request, and what came after it."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.request.recv(_CHUNK)
            data += more
            if not more or len(data) > _LONGEST_HEAD:
                return b"", b""
        head, _, rest = data.partition(b"\r\n\r\n")
        return head, rest

    def _connected(self, host: str, port: int) -> socket.socket:
        """Return a connection; PermissionError where all that the host stands for is private."""
        private = self.server.private
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        if not private.opened(host, port):
            found = [each for each in found if not is_private_address(str(each[4][0]))]
            if not found:
                raise PermissionError
        problem: OSError | None = None
        for *_, address in found:
            try:
                return socket.create_connection((str(address[0]), port), _IDLE)
            except OSError as error:
                problem = error
        raise problem or OSError("it has no address")

    def _pass_on(self, there: socket.socket) -> None:
        """Pass on what either side sends, until one has ended."""
        sides = {self.request: there, there: self.request}
        with suppress(OSError):
            while ready := select.select([*sides], [], [], _IDLE)[0]:
                for side in ready:
                    data = side.recv(_CHUNK)
                    if not data:
                        return
                    sides[side].sendall(data)


def _forwarded(head: bytes, url: str) -> bytes:
    """Return the head of a request as a server of its own gets it."""
    first, *fields = head.split(b"\r\n")
    method, _, version = first.split(b" ", 2)
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [each for each in fields if not each.lower().startswith(_OF_PROXIES)]
    line = b" ".join((method, path.encode("latin-1"), version))
    return b"\r\n".join((line, *kept, b"Connection: close", b"", b""))
