"""Catalogues of works in a file or in a database."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mmcrawl.works import Catalogue, open_catalogue
from tests.databases import each_store

store = each_store


@pytest.fixture
def opener(store: str, tmp_path: Path) -> Callable[[], Catalogue]:
    """Open the works of a store, again and again."""
    return lambda: open_catalogue(store, tmp_path / "crawl-media")
