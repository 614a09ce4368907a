"""An archive in a database that is dropped after the test."""

from __future__ import annotations

import os
import uuid

import pytest
from pymongo import MongoClient

from mmcrawl.archive.mongodb.backend import MongoBackend

SERVER = "MMCRAWL_TEST_MONGODB"


@pytest.fixture
def database():
    """Return a database that is dropped after the test."""
    server = os.environ.get(SERVER)
    if not server:
        pytest.skip(f"no MongoDB: name a server in the variable {SERVER}")
    with MongoClient(server) as client:
        name = f"mmcrawl_test_{uuid.uuid4().hex}"
        yield client[name]
        client.drop_database(name)


@pytest.fixture
def uri(database):
    return f"{os.environ[SERVER].rstrip('/')}/{database.name}"


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
