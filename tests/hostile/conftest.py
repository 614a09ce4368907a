"""Sites on 127.0.0.1 that answer whatever bytes a test wants, and folders to crawl them from."""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest

from tests.desks import Desk
from tests.serving import Request, Server

NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class Site(Server):
    """A server on a free port. Paths that were not set are answered with 404.

    Attributes:
        answers: by path, the bytes that are sent before the connection is closed, or a callable
            that gets the connection and does what it likes with it.
    """

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Callable[[socket.socket], None]] = {}
        super().__init__(self._send)

    def _send(self, request: Request) -> None:
        answer = self.answers.get(request.path, NOT_FOUND)
        request.close_connection = True
        if callable(answer):
            answer(request.connection)
        else:
            request.connection.sendall(answer)

    def put(
        self,
        path: str,
        body: bytes,
        *,
        kind: str = "text/html; charset=utf-8",
        status: str = "200 OK",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer a path with a body. `headers` replace those that would be right; "" omits one."""
        fields = {"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close"}
        lines = [f"{name}: {value}" for name, value in (fields | (headers or {})).items() if value]
        head = "\r\n".join([f"HTTP/1.1 {status}", *lines])
        self.answers[path] = head.encode("latin-1") + b"\r\n\r\n" + body

    def page(self, path: str, title: str, *links: str, media: str = "") -> None:
        """Answer a path with a small page; `media` is the file it offers under its title."""
        film = f'<p><a href="{media}">{title}</a></p>' if media else ""
        anchors = "".join(f'<li><a href="{link}">more</a></li>' for link in links)
        body = f"<title>{title}</title><h1>{title}</h1>{film}<ul>{anchors}</ul>"
        self.put(path, body.encode())


@pytest.fixture(scope="session")
def open_site() -> Iterator[Callable[[], Site]]:
    """A function that opens one more site; all are closed at the end."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Site())


@pytest.fixture(scope="session")
def open_desk(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Desk]:
    """A function that gives one more empty folder to crawl from."""
    return lambda: Desk(tmp_path_factory.mktemp("desk"))


@pytest.fixture
def site(open_site: Callable[[], Site]) -> Site:
    """A site of the test's own."""
    return open_site()


@pytest.fixture
def desk(open_desk: Callable[[], Desk]) -> Desk:
    """A folder of the test's own to crawl from."""
    return open_desk()


@pytest.fixture(scope="session")
def closed_port() -> Iterator[int]:
    """A port of 127.0.0.1 on which nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
