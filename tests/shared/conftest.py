"""Boards in a database that is dropped after the test."""

from __future__ import annotations

import os
import uuid

import pytest
from pymongo import MongoClient

from mmcrawl.shared.board import open_board

SERVER = "MMCRAWL_TEST_MONGODB"
ARGUMENTS = {"topic": "physics", "algo": "hits"}


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
def boards(uri):
    """Return three boards of one job."""
    opened = [open_board(uri, job="a/b é", arguments=ARGUMENTS) for _ in range(3)]
    yield opened
    for board in opened:
        board.close()


@pytest.fixture
def board(boards):
    return boards[0]
