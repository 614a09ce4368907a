"""Databases in MongoDB that are dropped after a test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

MONGODB = "MMCRAWL_TEST_MONGODB"
"""The variable that names the server."""


@contextmanager
def mongodb_uri() -> Iterator[str]:
    """Give the URI of a database that does not exist yet; skip a test that has no server."""
    server = os.environ.get(MONGODB)
    if not server:
        pytest.skip(f"no MongoDB: name a server in the variable {MONGODB}")
    pymongo = pytest.importorskip("pymongo")
    name = f"mmcrawl_test_{uuid.uuid4().hex}"
    try:
        yield f"{server.rstrip('/')}/{name}"
    finally:
        with pymongo.MongoClient(server) as client:
            client.drop_database(name)
