"""The MongoDB database: what is refused, and how rows and packs are kept."""

from __future__ import annotations

import random

import pytest
from bson import ObjectId
from pymongo.collection import Collection
from pymongo.errors import AutoReconnect, OperationFailure

from mmcrawl.archive import PackRow, open_archive, place
from mmcrawl.archive.mongodb import MongoBackend, explained
from mmcrawl.errors import StoreError
from tests.tables import each


def refusal(uri, **options):
    """Return the one sentence with which opening fails; it must not tell the password."""
    with pytest.raises(StoreError) as caught:
        open_archive(uri, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert "s3cret" not in message
    return message


# -- what is refused --------------------------------------------------------------------------


def test_a_server_that_does_not_answer():
    uri = "mongodb://me:s3cret@127.0.0.1:9/pages?serverSelectionTimeoutMS=200"
    assert "mongodb://127.0.0.1:9/pages cannot be reached" in refusal(uri)


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("mongodb://me:s3cret@127.0.0.1:9", "names no database"),
        ("mongodb://me:s3cret@127.0.0.1:9/a.b", "has a dot"),
        ("mongodb://me:p@s3cret@127.0.0.1:9/a", "not understood"),
        ("mongodb://me:p/s3cret@127.0.0.1:9/a", "not understood"),
        ("mongodb://me:9:s3cret/a", "not understood"),
        ("mongodb:///a", "not understood"),
    ],
)
def test_a_uri_that_cannot_be_used(uri, reason):
    assert reason in refusal(uri)


@each(
    "error, reason",
    [
        (OperationFailure("Authentication failed.", 18), "refuses the user name or password"),
        (OperationFailure("command find requires authentication", 13), "asks who you are"),
        (OperationFailure("not authorized on a to execute", 13), "does not allow this user"),
        (OperationFailure("disk", 14031), "make room"),
        (OperationFailure("odd\nthing", 1), "failed: odd thing"),
        (AutoReconnect("gone"), "cannot be reached"),
    ],
)
def test_what_the_server_refuses_is_one_sentence(error, reason):
    with pytest.raises(StoreError) as caught, explained("mongodb://h/a"):
        raise error
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_newer_schema_is_refused(database, uri):
    open_archive(uri).close()
    database["archive_about"].update_one({"_id": "schema"}, {"$set": {"version": 99}})
    assert "newer version of mmcrawl (schema 99, this one has 1)" in refusal(uri)


def test_what_another_program_keeps_is_no_archive(database, uri):
    database["archive_films"].insert_one({"_id": 1})
    assert "is not an archive" in refusal(uri)
    database.drop_collection("archive_films")
    database["archive_about"].insert_one({"_id": "schema", "films": 7})
    assert "is not an archive" in refusal(uri)


def test_a_closed_archive_says_so(backend):
    backend.close()
    with pytest.raises(StoreError, match="is closed"):
        backend.counts()


@pytest.mark.parametrize(
    ("error", "retried", "journal"),
    [
        (OperationFailure("Transaction numbers are not allowed", 20), False, True),
        (OperationFailure("cannot use 'j' option without journaling", 2), True, None),
    ],
)
def test_a_server_without_retryable_or_journaled_writes(uri, monkeypatch, error, retried, journal):
    real, errors = Collection.delete_one, [error]

    def delete_one(self, *args, **kwargs):
        if errors:
            raise errors.pop()
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Collection, "delete_one", delete_one)
    backend = MongoBackend(uri)
    server = backend._server
    assert server.client.options.retry_writes is retried
    assert server.database.write_concern.document.get("j") is journal
    assert server.database.write_concern.document["w"] == "majority"
    assert added(backend, "http://a.test/").id == 1
    backend.close()


# -- rows and packs ---------------------------------------------------------------------------


def added(backend, url, key=1):
    """Return the row of a URL that is made now."""
    return backend.add_urls({url: (key, "a")})[url]


def stream_of(backend):
    return backend.streams_named(["a"])["a"]


def pack_of(stream, data, *, entry=0, entries=1, chunk=0, chunks=1, level=0):
    return PackRow(stream, entry, entries, chunk, chunks, len(data), level, len(data) + 1)


def test_a_pack_is_cut_into_parts(backend, database):
    data = random.Random(1).randbytes((20 << 20) + 1)
    pack = pack_of(stream_of(backend), data)
    backend.add_packs([(pack, b"m", data)])
    sizes = [len(part["bytes"]) for part in database["archive_part"].find()]
    assert sorted(sizes) == [1, (4 << 20) + 1, 8 << 20, 8 << 20]
    backend._known.forget()
    assert backend.pack_with_chunk(place(pack.stream, 0)) == pack
    assert (backend.manifest(pack), backend.data(pack)) == (b"m", data)
    backend.remove_pack(pack)
    assert backend.data(pack) is None
    assert database["archive_part"].count_documents({}) == 0


def test_what_was_replaced_but_not_removed_is_not_met(backend, others):
    stream = stream_of(backend)
    old = [pack_of(stream, b"x", entry=n, chunk=n) for n in range(9)]
    for pack in (*old[6:], pack_of(stream, b"x" * 9, entries=9, chunks=9, level=3)):
        backend.add_packs([(pack, b"m", b"x")])
    backend.add_packs([(pack_of(stream, b"y", entry=9, chunk=9), b"m", b"y")])
    for n in range(10):
        for found in (
            others[0].pack_with_entry(place(stream, n)),
            others[1].pack_with_chunk(place(stream, n)),
        ):
            assert found.entry <= n < found.entry + found.entries
    assert [pack.entry for pack in others[0].tail(stream)] == [0, 9]


def test_parts_that_nobody_names_are_removed_after_a_day(backend, database):
    old, new = ObjectId("5f0000000000000000000000"), ObjectId()
    rows = [{"_id": f"00000001/00000000/00000001/{made}/d0", "bytes": b""} for made in (old, new)]
    database["archive_part"].insert_many(rows)
    backend.compact()
    assert [row["_id"] for row in database["archive_part"].find()] == [rows[1]["_id"]]
