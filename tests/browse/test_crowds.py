"""Many connections that never say what they want: who asks is answered all the same."""

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

import pytest

from mmcrawl.archive import Capture
from mmcrawl.browse import Limits, create_app, open_context, server_of
from tests.browse.catalogue import fill
from tests.tables import each
from tests.waiting import HANG

ARRIVING = 10.0  # seconds of the server's own clock
PLAIN = (("Content-Type", "text/plain"),)
LARGE = "http://physics.test/large"
SIZE = 9_500_000  # more than lies in buffers
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
BODY = b"POST /help HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\nx"
REQUEST = b"GET /help HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
READ = f"GET /replay/20231114221320/{LARGE} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose clock can be put forward."""

    skipped = 0.0

    def time(self) -> float:
        return super().time() + self.skipped


@dataclass
class Served:
    """A server in a thread, on a port, and its time."""

    port: int
    _loop: Loop = field(default_factory=Loop)

    def skip(self, seconds: float) -> None:
        """Let time pass for the server; returns when what was due has happened."""
        self._loop.skipped += seconds
        for _ in range(2):
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result(HANG)

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """Have the server do nothing for a while."""
        goes_on = threading.Event()
        self._loop.call_soon_threadsafe(goes_on.wait, HANG)
        yield
        goes_on.set()
        self.skip(0)

    def run(self, server: object, listener: socket.socket) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(server.serve(sockets=[listener]))  # type: ignore[attr-defined]


@contextmanager
def serving(folder: Path, limits: Limits) -> Iterator[Served]:
    """Have a server of a large file."""
    large = Capture(LARGE, bytes(range(32, 127)) * (SIZE // 95), 1_700_000_000.0, headers=PLAIN)
    uri = fill(folder, iter([large]))
    with (
        socket.create_server(("127.0.0.1", 0), backlog=1024) as listener,
        open_context(uri, limits=limits) as context,
    ):
        made = Served(listener.getsockname()[1])
        server = server_of(create_app(context), context.limits)
        thread = threading.Thread(target=made.run, args=(server, listener), daemon=True)
        thread.start()
        yield made
        server.should_exit = True
        thread.join(HANG)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    limits = Limits(arriving=ARRIVING, connections=200, connections_each=50)
    with serving(tmp_path_factory.mktemp("catalogue"), limits) as made:
        yield made


def connected(port: int, host: str, said: bytes) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(HANG)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.bind((host, 0))
    connection.connect(("127.0.0.1", port))
    connection.sendall(said)
    return connection


@contextmanager
def crowd(port: int, count: int, said: bytes, hosts: int = 1) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        addresses = [f"127.0.0.{2 + one % hosts}" for one in range(count)]
        yield [stack.enter_context(closing(connected(port, one, said))) for one in addresses]


def read(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_those_that_hang_up_before_they_are_refused_are_no_error(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with served.held_up(), crowd(served.port, 70, HALF):
        pass
    assert not caplog.records, caplog.text


@each("said, hosts", [(b"", 1), (HALF, 20)])
def test_who_asks_is_answered_beside_300_that_do_not(served, said, hosts):
    with crowd(served.port, 300, said, hosts):
        for host in ("127.0.0.1", "127.0.0.2"):  # no time passes in which they could be ended
            with closing(connected(served.port, host, REQUEST)) as connection:
                answer = read(connection)
            assert answer.startswith(b"HTTP/1.1 200 "), answer[:200]


def test_of_100_that_ask_at_once_each_is_answered_or_told_to_come_back(served: Served) -> None:
    with crowd(served.port, 100, REQUEST) as asking:
        answers = [*map(read, asking)]
    kinds = Counter(answer[:13] for answer in answers)
    assert set(kinds) <= {b"HTTP/1.1 200 ", b"HTTP/1.1 503 "}, kinds
    assert kinds[b"HTTP/1.1 200 "] >= 50
    busy = [answer for answer in answers if answer[:13] == b"HTTP/1.1 503 "]
    assert all(b"retry-after: " in answer.lower() for answer in busy)


def test_of_120_that_do_not_ask_each_that_has_no_room_is_told_so(served: Served) -> None:
    with crowd(served.port, 120, HALF) as waiting:
        answers = [*map(read, waiting[:70])]
    assert {answer[:13] for answer in answers} == {b"HTTP/1.1 503 "}


@each("said", [b"", HALF, BODY])
def test_a_request_that_drips_is_ended(served: Served, said: bytes) -> None:
    dripped = 0
    with closing(connected(served.port, "127.0.0.3", said)) as connection:
        try:
            while dripped < 100:
                served.skip(ARRIVING / 10)
                connection.sendall(b"x" if said else b"G")
                dripped += 1
        except ConnectionError:
            pass
    assert 8 <= dripped <= 15


def test_an_answer_that_nobody_takes_is_given_up(served: Served) -> None:
    with closing(connected(served.port, "127.0.0.4", READ)) as connection:
        size = len(connection.recv(1000))  # it has begun
        for _ in range(4):
            served.skip(ARRIVING)
        with suppress(ConnectionError):
            size += sum(map(len, iter(lambda: connection.recv(1 << 20), b"")))
    assert size < SIZE


def test_an_answer_that_is_taken_slowly_arrives(served: Served) -> None:
    size = 0
    with closing(connected(served.port, "127.0.0.5", READ)) as connection:
        for goal in range(500_000, SIZE, 1_000_000):
            while size < goal:
                size += len(connection.recv(1 << 16))
            served.skip(ARRIVING * 0.9)
        while size < SIZE:
            piece = connection.recv(1 << 20)
            assert piece, size
            size += len(piece)


def test_no_answer_is_broken_off_to_make_room_for_another_host(tmp_path: Path) -> None:
    limits = Limits(arriving=ARRIVING, connections=2, connections_each=2)
    with serving(tmp_path, limits) as served, crowd(served.port, 2, READ) as reading:
        sizes = [len(connection.recv(1000)) for connection in reading]  # they have begun
        with closing(connected(served.port, "127.0.0.9", REQUEST)) as other:
            assert read(other).startswith(b"HTTP/1.1 503 ")
        for connection, began in zip(reading, sizes, strict=True):
            size = began
            while size < SIZE:
                piece = connection.recv(1 << 20)
                assert piece, size
                size += len(piece)


def test_one_connection_may_ask_again_and_again(served: Served) -> None:
    where = ("127.0.0.1", served.port, HANG, ("127.0.0.6", 0))
    with closing(HTTPConnection(*where)) as connection:
        connection.connect()
        connection.auto_open = 0  # so that an end of the connection is an error
        for _ in range(25):
            connection.request("GET", "/help")
            with connection.getresponse() as answer:
                assert answer.status == 200
                answer.read()
            served.skip(ARRIVING / 10)
