"""An archive with pages that link to each other; on both stores where a test says `both_stores`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mmcrawl.archive import Archive, Capture, open_archive
from tests.databases import opened_uri

HTML = (("Content-Type", "text/html; charset=utf-8"),)

Keep = Callable[..., None]


both_stores = pytest.mark.parametrize("uri", ["sqlite", "mongodb"], indirect=True)


@pytest.fixture
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URI of an archive that does not exist yet."""
    with opened_uri(getattr(request, "param", "sqlite"), tmp_path) as uri:
        yield uri


@pytest.fixture
def archive(uri: str) -> Iterator[Archive]:
    """Return an empty archive."""
    with open_archive(uri) as opened:
        yield opened


@pytest.fixture
def keep(archive: Archive) -> Keep:
    """Return what stores a page."""

    def keep(url: str, body: str = "", time: float = 1.0, status: int = 200, to: str = "") -> None:
        headers = HTML + ((("Location", to),) if to else ())
        archive.store(Capture(url, body.encode(), time, status=status, headers=headers))

    return keep
