"""The HTTP server of the tests: on a free port of this machine, a thread for each connection."""

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass
class Answer:
    """What is sent: text as UTF-8 and said to be, bytes as a page that says nothing of it."""

    body: str | bytes = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class Request(BaseHTTPRequestHandler):
    """A request, with its `body`; functions that answer may also write to the connection."""

    protocol_version = "HTTP/1.1"
    body = b""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def send(self, answer: Answer) -> None:
        text = isinstance(answer.body, str)
        content = answer.body.encode() if isinstance(answer.body, str) else answer.body
        headers = {
            "Content-Type": "text/html; charset=utf-8" if text else "text/html",
            "Content-Length": str(len(content)),
        }
        self.send_response(answer.status)
        for name, value in {**headers, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else content)


class Server:
    """Answers each request with what a function says; in a `with`, until that ends.

    Attributes:
        asked: the paths that were asked for, in order.
        origin: http://HOST:PORT, without a slash.

    Args:
        answer: gives the answer to a request, or None where it has sent one itself; or answers by
            their paths, and 404 to all else.
        host: an address of this machine.
        connected: is called for each connection, also for one that asks nothing.
    """

    def __init__(
        self,
        answer: Callable[[Request], Answer | None] | Mapping[str, Answer],
        host: str = "127.0.0.1",
        connected: Callable[[], object] = lambda: None,
    ) -> None:
        self.asked: list[str] = []
        given = _by_path(answer) if isinstance(answer, Mapping) else answer
        self._httpd = _Httpd((host, 0), self._handler(given, connected))
        self.port = int(self._httpd.server_address[1])
        self.origin = f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
        self._thread = threading.Thread(target=self._httpd.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def url(self, path: str = "/") -> str:
        return self.origin + path

    def close(self) -> None:
        self._httpd.shutdown()
        self._httpd.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _handler(
        self, answer: Callable[[Request], Answer | None], connected: Callable[[], object]
    ) -> type[Request]:
        asked = self.asked

        class Handler(Request):
            def setup(self) -> None:
                connected()
                super().setup()

            def answer(self) -> None:
                self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked.append(self.path)
                try:
                    given = answer(self)
                    if given is not None:
                        self.send(given)
                except OSError:  # the other side has gone
                    self.close_connection = True

            do_GET = do_POST = do_HEAD = answer  # noqa: N815 - names that http.server asks for

        return Handler


def _by_path(answers: Mapping[str, Answer]) -> Callable[[Request], Answer]:
    def answer(request: Request) -> Answer:
        return answers.get(request.path, Answer(status=404))

    return answer


class _Httpd(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # nor is waited for one who keeps a connection
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: type[Request]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, handler)

    def handle_error(self, *_: object) -> None:
        """Say nothing of connections that are broken off."""
