"""Collections whose index is in a file or in a database."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mmcrawl.collecting import MediaIndex
from mmcrawl.collecting.shelf import Shelf, open_shelf
from tests.collecting.serving import Desk, MediaServer
from tests.databases import mongodb_uri


@pytest.fixture(params=("sqlite", "mongodb"))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URI of a store without a collection; a database is dropped afterwards."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'crawl.db'}"
        return
    with mongodb_uri() as uri:
        yield uri


@pytest.fixture
def opener(store: str, tmp_path: Path) -> Callable[[], Shelf]:
    """Open the works of a store, again and again."""
    return lambda: open_shelf(store, tmp_path / "crawl-media")


@pytest.fixture
def index(store: str, tmp_path: Path) -> Iterator[MediaIndex]:
    """An empty index."""
    with MediaIndex(store, tmp_path / "crawl-media") as opened:
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
