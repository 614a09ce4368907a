"""The index of an archive in a file: it is a file whatever the store."""

from collections.abc import Iterator

import pytest

from mmcrawl.archive import Archive, Search, open_search
from tests.databases import file_uri

uri = file_uri


@pytest.fixture
def search(archive: Archive, uri: str) -> Iterator[Search]:
    with open_search(uri, archive) as opened:
        yield opened
