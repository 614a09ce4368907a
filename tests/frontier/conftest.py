from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcrawl.frontier import SqliteFrontier, SqliteStore, open_store


@pytest.fixture(params=["memory:", "sqlite:///"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty store of each kind."""
    uri = request.param if request.param == "memory:" else f"sqlite:///{tmp_path}/crawl.db"
    with open_store(uri) as opened:
        yield opened


@pytest.fixture
def frontier(store: SqliteStore) -> SqliteFrontier:
    """The empty frontier of a job that is not the store's first."""
    store.job("another", {})
    return SqliteFrontier(store, store.job("crawl", {}))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file of a store may be."""
    return tmp_path / "crawl.db"
