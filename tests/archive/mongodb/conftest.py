"""An archive in a database that is dropped after the test."""

from __future__ import annotations

import pytest
from pymongo import MongoClient

from tests.databases import database_uri

uri = database_uri


@pytest.fixture
def database(uri):
    server, _, name = uri.rpartition("/")
    with MongoClient(server) as client:
        yield client[name]
