"""Databases in MongoDB that are dropped after a test, and servers of a test's own."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MONGODB = "MMCRAWL_TEST_MONGODB"
"""The variable that names the server."""

_PROGRAM = "MMCRAWL_TEST_MONGODB_PROGRAM"
_TOOL = Path(__file__).parents[1] / "tools" / "start_mongodb_server"


@contextmanager
def mongodb_uri() -> Iterator[str]:
    """Give the URI of a database that does not exist yet; skip a test that has no server."""
    server = os.environ.get(MONGODB)
    if not server:
        pytest.skip(f"no MongoDB: name a server in the variable {MONGODB}")
    pymongo = pytest.importorskip("pymongo")
    name = f"mmcrawl_test_{uuid.uuid4().hex}"
    try:
        yield f"{server.rstrip('/')}/{name}"
    finally:
        with pymongo.MongoClient(server) as client:
            client.drop_database(name)


@contextmanager
def opened_uri(kind: str, folder: Path, name: str = "crawl.db") -> Iterator[str]:
    """Give the URI of a file that is not there yet, or of a database for the kind `mongodb`."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / name}"
        return
    with mongodb_uri() as uri:
        yield uri


@pytest.fixture(params=("sqlite", "mongodb"))
def each_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the URI of an empty store in a file, then in a database, which is dropped afterwards."""
    with opened_uri(request.param, tmp_path) as uri:
        yield uri


@pytest.fixture
def file_uri(tmp_path: Path) -> str:
    """Give the URI of an archive in a file that is not there yet."""
    return f"sqlite:///{tmp_path / 'archive.db'}"


@pytest.fixture
def database_uri() -> Iterator[str]:
    """Give the URI of a database that is dropped after the test."""
    with mongodb_uri() as uri:
        yield uri


class OwnServer:
    """A server that keeps its port and its data when it is started again.

    Attributes:
        address: Its URI.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder, self._options = folder, options
        self._port = "0"
        self.address = self.start()
        self._port = self.address.rpartition(":")[2]

    def start(self) -> str:
        return self._call("start", "--port", self._port, *self._options)

    def stop(self) -> None:
        self._call("stop")

    def signal(self, number: signal.Signals) -> None:
        os.kill(int((self._folder / "pid").read_text()), number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.stop()  # waits until it is gone

    def _call(self, action: str, *more: str) -> str:
        command = [sys.executable, str(_TOOL), action, str(self._folder), *more]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@contextmanager
def own_server(folder: Path, *options: str) -> Iterator[OwnServer]:
    """Start a server for a test alone; skip a test that has no program for it."""
    if not os.environ.get(_PROGRAM):
        pytest.skip(f"no server of its own: name the program's folder in the variable {_PROGRAM}")
    server = OwnServer(folder, *options)
    try:
        yield server
    finally:
        server.stop()
