"""SharedStores in a database that is dropped after the test."""

from __future__ import annotations

import pytest
from pymongo import MongoClient

from tests.databases import database_uri

server_uri = database_uri


@pytest.fixture
def file_uri(tmp_path):
    """Return the URI of a file that is not there yet."""
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture(params=["file", "server"])
def uri(request):
    """Return the URI of a store that is not there yet, in a file or on a server."""
    return request.getfixturevalue(f"{request.param}_uri")


@pytest.fixture
def database(server_uri):
    server, _, name = server_uri.rpartition("/")
    with MongoClient(server) as client:
        yield client[name]


@pytest.fixture
def web(request):
    """Return a web that is crawled in seconds, by workers as slow as `web.delay` makes them."""
    from .real_workers import Web

    made = Web(*getattr(request, "param", (8, 40)))
    yield made
    made.close()


def _gang(web, uri, folder):
    """Give who starts workers; they are ended after the test."""
    from .real_workers import Gang

    made = Gang(web, uri, folder)
    yield made
    made.end()


@pytest.fixture
def gang(web, uri, tmp_path):
    yield from _gang(web, uri, tmp_path)


@pytest.fixture
def file_gang(web, file_uri, tmp_path):
    yield from _gang(web, file_uri, tmp_path)


@pytest.fixture
def server_gang(web, server_uri, tmp_path):
    yield from _gang(web, server_uri, tmp_path)
