"""An archive in a database that is dropped after the test."""

from __future__ import annotations

import pytest
from pymongo import MongoClient

from mmcrawl.archive.mongodb import MongoBackend
from tests.databases import mongodb_uri


@pytest.fixture
def uri():
    """Return the URI of a database that is dropped after the test."""
    with mongodb_uri() as uri:
        yield uri


@pytest.fixture
def database(uri):
    server, _, name = uri.rpartition("/")
    with MongoClient(server) as client:
        yield client[name]


@pytest.fixture
def backend(uri):
    opened = MongoBackend(uri)
    yield opened
    opened.close()


@pytest.fixture
def others(uri):
    """Return two more connections to the archive of `backend`."""
    opened = [MongoBackend(uri) for _ in range(2)]
    yield opened
    for each in opened:
        each.close()
