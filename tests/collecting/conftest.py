"""Collections whose index is in a file or in a database."""

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mmcrawl.collecting import MediaIndex, open_index
from mmcrawl.collecting.shelf import Shelf, open_shelf
from tests.collecting.serving import Desk, MediaServer

MONGODB = "MMCRAWL_TEST_MONGODB"


@pytest.fixture(params=("sqlite", "mongodb"))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URI of a store without a collection; a database is dropped afterwards."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'crawl.db'}"
        return
    server = os.environ.get(MONGODB)
    if not server:
        pytest.skip(f"no MongoDB: name a server in the variable {MONGODB}")
    name = f"mmcrawl_test_{uuid.uuid4().hex}"
    yield f"{server.rstrip('/')}/{name}"
    from pymongo import MongoClient

    with MongoClient[dict[str, object]](server) as client:
        client.drop_database(name)


@pytest.fixture
def opener(store: str, tmp_path: Path) -> Callable[[], Shelf]:
    """Open the works of a store, again and again."""
    return lambda: open_shelf(store, tmp_path / "crawl-media")


@pytest.fixture
def index(store: str, tmp_path: Path) -> Iterator[MediaIndex]:
    """An empty index."""
    with open_index(store, tmp_path / "crawl-media") as opened:
        yield opened


@pytest.fixture
def server() -> Iterator[MediaServer]:
    """A server of media."""
    opened = MediaServer()
    yield opened
    opened.close()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A folder with a crawl's store in a file."""
    return Desk(tmp_path)
