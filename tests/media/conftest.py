"""Collections whose index is in a file or in a database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcrawl.media import MediaIndex
from tests.databases import each_store
from tests.media.serving import MediaDesk, MediaServer

store = each_store


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
def desk(tmp_path: Path) -> MediaDesk:
    """A folder with a crawl's store in a file."""
    return MediaDesk(tmp_path)
