"""A server that goes away and comes back, seen through a proxy."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from mmcrawl.cluster import open_shared_store
from mmcrawl.errors import StoreError
from tests.waiting import HANG

LOGGER = "mmcrawl.cluster.store"


class Proxy:
    """A way to the server that can be cut, and held up."""

    def __init__(self, server):
        self.server = server
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open = threading.Event()
        self.flowing = threading.Event()
        self.flowing.set()
        self.held = threading.Event()  # something came while nothing flowed
        self.open.set()
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if not self.open.is_set():
                near.close()
                continue
            far = socket.create_connection(self.server)
            self.sockets += [near, far]
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self.forward, args=pair, daemon=True).start()

    def forward(self, source, target):
        try:
            while data := source.recv(1 << 16):
                if not self.flowing.is_set():
                    self.held.set()
                self.flowing.wait()
                target.sendall(data)
        except OSError:
            return
        finally:
            for each in (source, target):
                shut(each)
                each.close()

    def cut(self):
        self.open.clear()
        self.drop()

    def drop(self):
        """Break the connections there are."""
        while self.sockets:
            shut(self.sockets.pop())

    def close(self):
        self.flowing.set()
        self.cut()
        self.listener.close()


def shut(connection):
    """End a connection, also for a thread that waits for what comes from it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(database):
    partitions = urlsplit(os.environ["MMCRAWL_TEST_MONGODB"])
    opened = Proxy((partitions.hostname, partitions.port or 27017))
    yield opened
    opened.close()


@pytest.fixture
def connect(proxy, database):
    """Return how to open a shared store through the proxy."""
    options = "directConnection=true&serverSelectionTimeoutMS=300"
    uri = f"mongodb://127.0.0.1:{proxy.port}/{database.name}?{options}"
    opened = []

    def connected(patience=HANG):
        opened.append(open_shared_store(uri, job="j", arguments={}, patience=patience))
        return opened[-1]

    yield connected
    for shared in opened:
        shared.close()


def test_operations_wait_for_the_server(proxy, connect, caplog):
    shared = connect()
    done, away = [], threading.Event()

    def work(name):
        for number in range(60):
            if number == 50:
                assert away.wait(HANG)
            shared.insert("message", dict([shared.row_of(0, f"{name}{number:03d}", bytes=b"x")]))
        done.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    with caplog.at_level(logging.INFO, LOGGER):
        for thread in threads:
            thread.start()
        for _ in range(3):
            proxy.drop()
            time.sleep(0.05)
        proxy.cut()
        away.set()
        while caplog.text.count("has it a primary?; waiting") < 1:
            time.sleep(0.01)
        assert done == []
        proxy.open.set()
        for thread in threads:
            thread.join(HANG)
    assert sorted(done) == [*"abc"]
    assert shared.names("message") == [
        f"0000/{name}{number:03d}" for name in "abc" for number in range(60)
    ]
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    backs = [record for record in caplog.records if record.levelno == logging.INFO]
    assert any("waiting for it, 570 seconds" in w.message for w in warnings)
    assert len(warnings) == len(backs) <= 4
    assert "answers again" in backs[-1].message


def test_patience_ends(proxy, connect):
    shared = connect(patience=0.7)
    shared.put("worker", "ann", {"beat": 1, "facts": "1"})
    rows = dict([shared.row_of(0, "0", bytes=b"x")])
    proxy.cut()
    for operation in (
        lambda: shared.one("worker", "ann"),
        lambda: shared.insert("message", rows),
        lambda: shared.at("message", [0]),
        lambda: shared.delete("message", ["a"]),
    ):
        with pytest.raises(StoreError, match=r"^store mongodb://[^ ]* cannot be reached"):
            operation()
    proxy.open.set()
    assert shared.one("worker", "ann") == {"beat": 1, "facts": "1"}
    assert shared.insert("message", rows) == set()


@pytest.mark.parametrize("is_open", [False, True])
def test_closing_ends_waiting_for_a_server_and_for_an_answer(proxy, connect, caplog, is_open):
    shared = connect()
    shared.all("worker")
    (proxy.flowing.clear if is_open else proxy.cut)()
    heard = []

    def wait():
        with pytest.raises(StoreError, match="is closed") as caught:
            shared.all("worker")
        heard.append(caught.value)

    thread = threading.Thread(target=wait)
    thread.start()
    while not is_open and "has it a primary?; waiting" not in caplog.text:
        time.sleep(0.01)
    assert not is_open or proxy.held.wait(HANG)
    assert thread.is_alive()
    shared.close()
    thread.join(HANG)
    assert heard
