"""Reaching a database in MongoDB, and the one sentence with which it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import AutoReconnect, OperationFailure

from mmcrawl.errors import StoreError
from mmcrawl.store import MongoStore, explained, open_documents
from tests.databases import database_uri, mongodb_uri
from tests.store.memory import CONTENTS, page
from tests.tables import each

uri = database_uri


@pytest.fixture
def database(uri: str) -> Iterator[Database[dict[str, Any]]]:
    with MongoClient[dict[str, Any]](uri) as client:
        yield client.get_default_database()


def refusal(uri: str) -> str:
    """Return why a store is not opened; that must not tell the password."""
    with pytest.raises(StoreError) as caught:
        open_documents(CONTENTS, uri, None)
    message = str(caught.value)
    assert "\n" not in message
    assert "s3cret" not in message
    return message


@each(
    "uri, reason",
    [
        ("mongodb://me:s3cret@127.0.0.1:9", "names no database"),
        ("mongodb://me:s3cret@127.0.0.1:9/a.b", "has a dot"),
        ("mongodb://me:p@s3cret@127.0.0.1:9/a", "catalogue of pages is not understood"),
        ("mongodb://me:p/s3cret@127.0.0.1:9/a", "not understood"),
        ("mongodb://[::1/a", "not understood"),
        (
            "mongodb://me:s3cret@127.0.0.1:9/a?serverSelectionTimeoutMS=50",
            "catalogue of pages mongodb://127.0.0.1:9/a cannot be reached",
        ),
    ],
)
def test_a_uri_that_cannot_be_used(uri: str, reason: str) -> None:
    assert reason in refusal(uri)


@each(
    "error, reason",
    [
        (OperationFailure("Authentication failed.", 18), "refuses the user name or password"),
        (OperationFailure("command find requires authentication", 13), "asks who you are"),
        (OperationFailure("not authorized on a to execute", 13), "give the role readWrite"),
        (OperationFailure("disk", 14031), "make room"),
        (OperationFailure("odd\nthing", 1), "failed: odd thing"),
        (AutoReconnect("gone"), "cannot be reached"),
    ],
)
def test_what_a_server_refuses_is_one_sentence(error: Exception, reason: str) -> None:
    with pytest.raises(StoreError) as caught, explained("archive mongodb://h/a"):
        raise error
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_others_keep_and_another_schema_are_left_alone(
    database: Database[dict[str, Any]], uri: str
) -> None:
    database["pages_films"].insert_one({"_id": 1})
    assert "is not a catalogue of pages of mmcrawl; name another database" in refusal(uri)
    database.drop_collection("pages_films")
    about = database["pages_about"]
    about.insert_one({"_id": "schema", "films": 7})
    assert "is not a catalogue of pages of mmcrawl" in refusal(uri)
    assert "pages_page" not in database.list_collection_names()
    about.drop()
    open_documents(CONTENTS, uri, None).close()
    indexes = database["pages_page"].index_information().values()
    assert [("status", 1), ("time", 1)] in [index["key"] for index in indexes]
    for version, age in ((0, "an older"), (99, "a newer")):
        about.update_one({"_id": "schema"}, {"$set": {"version": version}})
        told = f"written by {age} version of mmcrawl (schema {version}, this one has 3)"
        assert told in refusal(uri)


@each(
    "error, retried, journal",
    [
        (OperationFailure("Transaction numbers are not allowed", 20), False, True),
        (OperationFailure("cannot use 'j' option without journaling", 2), True, None),
    ],
)
def test_a_server_without_retryable_or_journaled_writes(
    monkeypatch: pytest.MonkeyPatch, error: Exception, retried: bool, journal: bool | None
) -> None:
    real, errors = Collection.delete_one, [error]

    def delete_one(self: Any, *args: Any, **kwargs: Any) -> Any:
        if errors:
            raise errors.pop()
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Collection, "delete_one", delete_one)
    with mongodb_uri() as uri:
        store = MongoStore(CONTENTS, uri)
        server = store._server
        assert server.client.options.retry_writes is retried
        assert server.database.write_concern.document.get("j") is journal
        assert server.database.write_concern.document["w"] == "majority"
        assert store.insert_new("page", {"a": page(1)}) == set()
        store.close()
        with pytest.raises(StoreError, match="is closed"):
            store.get("page", ["a"])
