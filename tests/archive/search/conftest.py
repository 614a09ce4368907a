"""The index of an archive."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcrawl.archive import Archive, Search, open_search


@pytest.fixture
def uri(tmp_path: Path) -> str:
    """Return the URI of an archive in a file: the index is a file beside it whatever the store."""
    return f"sqlite:///{tmp_path / 'archive.db'}"


@pytest.fixture
def search(archive: Archive, uri: str) -> Iterator[Search]:
    with open_search(uri, archive) as opened:
        yield opened
