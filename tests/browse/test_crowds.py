"""Many connections that never say what they want: who asks is answered all the same."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection

import pytest

from mmcrawl.archive import Capture
from mmcrawl.browse import Limits, create_app, open_context, server_of
from tests.browse.shelf import fill

ARRIVING = 3.0
PATIENT = 30.0  # so long that also a busy machine answers sooner, if nobody is waited for
PLAIN = (("Content-Type", "text/plain"),)
LARGE = "http://physics.test/large"
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
BODY = b"POST /help HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\nx"
READ = f"GET /replay/20231114221320/{LARGE} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    large = Capture(LARGE, bytes(range(32, 127)) * 100_000, 1_700_000_000.0, headers=PLAIN)
    return fill(tmp_path_factory.mktemp("shelf"), iter([large]))


@pytest.fixture(scope="module")
def port(uri: str) -> Iterator[int]:
    with serving(uri, ARRIVING) as port:
        yield port


@pytest.fixture(scope="module")
def patient(uri: str) -> Iterator[int]:
    with serving(uri, PATIENT) as port:
        yield port


@contextmanager
def serving(uri: str, arriving: float) -> Iterator[int]:
    """Serve an archive, for requests that arrive within some seconds; gives the port."""
    limits = Limits(arriving=arriving, connections=200, connections_each=50)
    with (
        socket.create_server(("127.0.0.1", 0), backlog=1024) as listener,
        open_context(uri, limits=limits) as context,
    ):
        server = server_of(create_app(context), context.limits)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(30)


def connected(port: int, host: str, said: bytes) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.bind((host, 0))
    connection.connect(("127.0.0.1", port))
    connection.sendall(said)
    return connection


@contextmanager
def crowd(port: int, count: int, said: bytes, hosts: int = 1) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(closing(connected(port, f"127.0.0.{2 + one % hosts}", said)))
            for one in range(count)
        ]


def asked(port: int, host: str = "127.0.0.1") -> float:
    """Ask for a page; return how long it took to be answered."""
    began = time.monotonic()
    said = b"GET /help HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with closing(connected(port, host, said)) as connection:
        connection.settimeout(2 * PATIENT)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 "), answer[:200]
    return time.monotonic() - began


@pytest.mark.parametrize("said", [b"", HALF, BODY], ids=["nothing", "head", "body"])
@pytest.mark.parametrize("hosts", [1, 20])
def test_who_asks_is_answered_beside_500_that_do_not(patient: int, said: bytes, hosts: int) -> None:
    with crowd(patient, 500, said, hosts):
        assert asked(patient) < PATIENT
        assert asked(patient, "127.0.0.2") < PATIENT


@pytest.mark.parametrize("said", [b"", HALF, BODY], ids=["nothing", "head", "body"])
def test_a_request_that_drips_is_ended(port: int, said: bytes) -> None:
    began = time.monotonic()
    with closing(connected(port, "127.0.0.3", said)) as connection:
        while time.monotonic() - began < 10 * ARRIVING:
            try:
                connection.sendall(b"x" if said else b"G")
            except ConnectionError:
                break
            time.sleep(ARRIVING / 10)
    assert ARRIVING * 0.9 < time.monotonic() - began < 10 * ARRIVING


def test_an_answer_that_nobody_takes_is_given_up(port: int) -> None:
    with closing(connected(port, "127.0.0.4", READ)) as connection:
        time.sleep(2.5 * ARRIVING)
        connection.settimeout(ARRIVING)
        assert 0 < sum(map(len, iter(lambda: connection.recv(1 << 20), b""))) < 9_500_000


def test_an_answer_that_is_taken_slowly_arrives(port: int) -> None:
    began, size = time.monotonic(), 0
    with closing(connected(port, "127.0.0.5", READ)) as connection:
        connection.settimeout(10)
        while size < 9_500_000:
            piece = connection.recv(1 << 20)
            assert piece, size
            size += len(piece)
            if time.monotonic() - began < 2.5 * ARRIVING:
                time.sleep(0.05)


def test_one_connection_may_ask_again_and_again(port: int) -> None:
    with closing(HTTPConnection("127.0.0.1", port, 30, ("127.0.0.6", 0))) as connection:
        connection.connect()
        connection.auto_open = 0  # so that an end of the connection is an error
        began = time.monotonic()
        while time.monotonic() - began < 2 * ARRIVING:
            connection.request("GET", "/help")
            with connection.getresponse() as answer:
                assert answer.status == 200
                answer.read()
            time.sleep(ARRIVING / 10)
