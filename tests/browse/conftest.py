"""An application over an archive and the works of a crawl."""

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mmcrawl.browse import Context, Limits, programs
from tests.browse.catalogue import browsing, fill
from tests.browse.works import keep_works
from tests.waiting import HANG
from tests.warm import starts_warm


@pytest.fixture(autouse=True, scope="session")
def _patience() -> Iterator[None]:
    """No request is given up since the machine is busy, where a test gives no limits of its own."""
    values = {field.name: field.default for field in fields(Limits)}
    values |= {"seconds": HANG, "arriving": HANG}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Limits.__init__, "__defaults__", tuple(values.values()))
        yield


@pytest.fixture(autouse=True, scope="module")
def warm_programs() -> Iterator[None]:
    """Commands that the browser starts need not wait until all is imported."""
    starts_warm(programs)
    yield
    programs.sys = sys  # type: ignore[attr-defined]


@pytest.fixture
def with_works(tmp_path: Path) -> Iterator[tuple[TestClient, Context]]:
    with browsing(fill(tmp_path), keep_works(tmp_path)) as pair:
        yield pair


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client for tests that only look."""
    folder = tmp_path_factory.mktemp("shown")
    with browsing(fill(folder), keep_works(folder)) as (client, _):
        yield client
