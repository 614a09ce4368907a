"""WARC files, and an archive they are taken into."""

from pathlib import Path

import pytest

from tests.archive.warc.warc_files import Warc


@pytest.fixture
def uri(tmp_path: Path) -> str:
    """Return the URI of an archive in a file: as good as any other store."""
    return f"sqlite:///{tmp_path / 'archive.db'}"


@pytest.fixture(params=["crawl.warc", "crawl.warc.gz"])
def warc(request: pytest.FixtureRequest, tmp_path: Path) -> Warc:
    """Return what writes a WARC file, plain and compressed."""
    return Warc(tmp_path / request.param)


@pytest.fixture
def other(tmp_path: Path) -> Warc:
    """Return what writes another one."""
    return Warc(tmp_path / "other.warc.gz")
