"""An archive in a database that is dropped after the test."""

from __future__ import annotations

import pytest
from pymongo import MongoClient

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
