"""WARC files, and an archive they are taken into."""

from pathlib import Path

import pytest

from tests.archive.warc.warc_files import Warc
from tests.databases import file_uri

uri = file_uri


@pytest.fixture
def warc(tmp_path: Path) -> Warc:
    """Return what writes a WARC file."""
    return Warc(tmp_path / "crawl.warc.gz")


@pytest.fixture
def other(tmp_path: Path) -> Warc:
    """Return what writes another one."""
    return Warc(tmp_path / "other.warc.gz")
