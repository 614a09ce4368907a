"""What is done to the collections behind the archive's back is told, and made good if it can be."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from bson import BSON
from bson.errors import BSONError
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from mmcrawl.archive import Capture, open_archive
from mmcrawl.errors import StoreError
from tests.databases import mongodb_uri
from tests.tables import each

URLS = [f"http://{name}.test/" for name in "abc"]


def body(url: str, n: int) -> bytes:
    return random.Random(f"{url}{n}").randbytes(9_000)


@pytest.fixture
def filled(uri):
    """Return the URI of an archive of three URLs, 12 versions each, with visits."""
    with open_archive(uri) as archive:
        for n in range(12):
            archive.store_many([Capture(url, body(url, n), float(n)) for url in URLS])
        for url in URLS:
            archive.note_unchanged(url, 50.0)
        assert archive.check().faults == ()
    return uri


def test_a_lost_row_is_restored_from_its_entry(filled, database):
    rows = database["archive_version"]
    (before,) = rows.find({"url": 2, "number": 3})
    rows.delete_one({"_id": before["_id"]})
    with open_archive(filled) as archive:
        name = archive._backend.url_by_id(2).url
        (fault,) = archive.check().faults
        assert fault.what == f"version 3 of {name} of 1970-01-01 00:00:02 UTC: its row is gone"
        report = archive.check(repair=True)
        assert (report.clean, report.removed) == (True, 0)
        assert archive.check().faults == ()
    assert rows.find_one({"_id": before["_id"]}) == before


def test_a_lost_last_row_is_completed_not_removed(filled, database):
    rows = database["archive_version"]
    (before,) = rows.find({"url": 2, "number": 12})
    rows.delete_one({"_id": before["_id"]})
    database["archive_visit"].delete_many({"url": 2})
    database["archive_url"].update_many({}, {"$unset": {"visited": ""}})
    with open_archive(filled) as archive:
        assert archive.check().leftovers == 1  # as if its process had died before it was written
        report = archive.check(repair=True)
        assert (report.faults, report.removed, report.completed) == ((), 0, 1)
        assert archive.check().faults == ()
    assert rows.find_one({"_id": before["_id"]}) == before


@pytest.mark.parametrize(
    ("field", "value"), [("status", 404), ("digest", bytes(32)), ("entry", 1 << 33)]
)
def test_an_altered_row_is_restored_from_its_entry(filled, database, field, value):
    rows = database["archive_version"]
    (before,) = rows.find({"url": 2, "number": 3})
    rows.update_one({"_id": before["_id"]}, {"$set": {field: value}})
    with open_archive(filled) as archive:
        (fault,) = archive.check().faults
        assert f"its {field} is not what was stored" in fault.what
        assert archive.check(repair=True).clean
        assert archive.check().faults == ()
    assert rows.find_one({"_id": before["_id"]}) == before


def test_a_lost_url_is_named_and_restored_by_its_first_version(filled, database):
    (before,) = database["archive_url"].find({"url": "http://b.test/"})
    database["archive_url"].delete_one({"_id": before["_id"]})
    with open_archive(filled) as archive:
        told = [fault.what for fault in archive.check().faults]
        assert "the row of http://b.test/ is gone" in told
        assert archive.check(repair=True).faults[0].repaired
        assert archive.check().faults == ()
        assert archive.rebuild(archive.version("http://b.test/", 12)).body == body(
            "http://b.test/", 11
        )
        assert archive.store(Capture("http://b.test/", b"x" * 9_000, 99.0)).version.number == 13
        assert archive.check().faults == ()


def test_a_lost_visit_is_named_by_url_and_time(filled, database):
    with open_archive(filled) as archive:
        archive.note_unchanged(URLS[1], 60.0)
        archive.note_unchanged(URLS[1], 70.0)
    for time in (60.0, 70.0):
        database["archive_visit"].delete_one({"time": time})
        with open_archive(filled) as archive:
            told = {fault.what for fault in archive.check().faults}
            assert (
                f"the visit of {URLS[1]} at 1970-01-01 00:01:{time - 60:02.0f} UTC is gone" in told
            )


def test_after_a_purge_no_visit_is_missed_that_went_with_it(filled):
    with open_archive(filled) as archive:
        for time in (60.0, 70.0, 80.0, 90.0):
            number = 12 if time < 85 else 13
            if time == 80.0:
                archive.store(Capture(URLS[0], body(URLS[0], 99), time))
            archive.note_unchanged(URLS[0], time + number / 100)
        archive.purge(url=URLS[1])
        archive.purge(before=75.0)
        assert archive.check().faults == ()
        archive.note_unchanged(URLS[0], 95.0)
        assert archive.check().faults == ()


@pytest.mark.parametrize("both", [False, True])
def test_lost_and_mistaken_streams_get_their_names_again(filled, database, both):
    streams = database["archive_stream"]
    rows = list(streams.find())
    streams.delete_many({})
    if both:  # as if the names of two had been swapped
        names = [row["name"] for row in rows]
        streams.insert_many(
            {**row, "name": name} for row, name in zip(rows, names[1:] + names[:1], strict=True)
        )
    with open_archive(filled) as archive:
        assert len(archive.check().faults) == 3
        archive.check(repair=True)
        archive.check(repair=True)
        assert archive.check().faults == ()
    assert {row["_id"]: row["name"] for row in streams.find()} == {
        row["_id"]: row["name"] for row in rows
    }


def test_a_stream_that_would_give_numbers_again_is_told_and_goes_on_behind(filled, database):
    stream = database["archive_claim"].find_one({})["_id"].split("/")[0]
    database["archive_claim"].delete_many({"_id": {"$gt": f"{stream}/", "$lt": f"{stream}0"}})
    with open_archive(filled) as archive:
        number = int(stream, 16)
        told = [fault.what for fault in archive.check().faults]
        assert told == [f"stream {number} would give numbers again that are taken"]
        assert archive.check(repair=True).clean
        assert archive.check().faults == ()
        for url in URLS:
            archive.store(Capture(url, body(url, 99), 99.0))
        assert archive.check().faults == ()


# -- each collection, each field: deleted, changed, taken away -----------------------------------
# Fields of two documents that are swapped are seen in a file (tests/archive/test_tampering.py).

FIELDS = {
    "chunk": "_id at",
    "claim": "_id entry chunk",
    "pack": "_id entry chunk chunks raw level size parts m d sum",
    "part": "_id bytes",
    "stream": "_id name claimed",
    "url": "_id url key host last visited",
    "version": "_id url number time status digest size entry method level location changes name",
    "visit": "_id url time number status head sum after",
}
CASES = [
    *[(how, table, "") for table in FIELDS for how in ("delete", "empty")],
    *[
        (how, table, name)
        for table, names in FIELDS.items()
        for name in names.split()
        for how in ("change", "unset")
        if (how, name) != ("unset", "_id")
    ],
]
HARMLESS = {
    ("change", "claim", "entry"): "numbers that are never given, as of a process that died",
    ("change", "claim", "chunk"): "the same",
    ("unset", "stream", "claimed"): "claims are looked for from the first on",
    ("change", "url", "last"): "it is no greater than the greatest number of a version",
    ("unset", "url", "last"): "versions are looked for from the first on",
    ("unset", "url", "visited"): "a witness, the visit is there",
    ("unset", "visit", "after"): "the same",
    ("unset", "version", "name"): "the same",
    ("unset", "version", "changes"): "found again when it is asked for",
    ("unset", "version", "location"): "nothing, as it was",
}


def captures() -> Iterator[Capture]:
    for n in range(4):
        for url in URLS:
            text = [random.Random(f"{url}{n // 2}{k}").randbytes(300).hex() for k in range(20)]
            parts = "".join(f"<div><p>{n} {part}</p></div>" for part in text)
            yield Capture(url, parts.encode(), float(n), headers=(("Content-Type", "text/html"),))
    for url in URLS:
        yield Capture(f"{url}old", b"", 7.0, status=301, headers=(("Location", url),))


@pytest.fixture(scope="module")
def whole():
    """Yield an archive with all kinds of documents: its URI, its database, and these."""
    with mongodb_uri() as uri:
        server, _, name = uri.rpartition("/")
        with MongoClient(server) as client, open_archive(uri) as archive:
            archive.store_many(captures())
            archive.pack()
            for n, url in enumerate(URLS):
                last = archive.rebuild(archive.get(url)).body
                archive.store(Capture(url, last, 40.0 + n, headers=(("X", "again"),)))
                archive.note_unchanged(url, 50.0 + n)
                archive.changed_kinds(url, [(1, 3), (3, 5)])
            archive.store(Capture(URLS[0], body(URLS[0], 9), 60.0))
            assert archive.check().faults == ()
            database = client[name]
            rows = {table: list(database[f"archive_{table}"].find()) for table in FIELDS}
            yield uri, database, rows, everything(archive)


def everything(archive) -> list[tuple[Any, ...]]:
    """Return all that is told to who reads an archive."""
    return [
        (visit, version.digest, version.headers, archive.rebuild(version).body)
        for url in archive.urls()
        for visit, version in archive.found(url)
    ]


@contextmanager
def written_again(documents, rows: list[dict[str, Any]]) -> Iterator[None]:
    """Write the documents of a collection again behind what is done to them inside."""
    try:
        yield
    finally:
        documents.delete_many({})
        documents.insert_many(rows)


def altered(value: Any) -> Any:
    if isinstance(value, bytes):
        middle = len(value) // 2
        return value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :]
    if isinstance(value, dict):
        return {name: altered(one) for name, one in value.items()}
    return value + ("x" if isinstance(value, str) else 1)


def tamper(documents, rows: list[dict[str, Any]], how: str, name: str) -> None:
    with_it = [row for row in rows if not name or name in row]
    row = with_it[len(with_it) // 2]
    if how == "empty":
        documents.delete_many({})
        return
    if how == "unset":
        documents.update_one({"_id": row["_id"]}, {"$unset": {name: ""}})
        return
    documents.delete_one({"_id": row["_id"]})
    if how == "change":
        documents.insert_one({**row, name: altered(row[name])})


@each("how, table, name", CASES)
def test_every_tampering_is_told_or_harmless(whole, how, table, name):
    uri, database, rows, before = whole
    documents = database[f"archive_{table}"]
    is_harmless = (how, table, name) in HARMLESS
    with written_again(documents, rows[table]):
        tamper(documents, rows[table], how, name)
        try:
            with open_archive(uri) as archive:
                report = archive.check()
                assert is_harmless or report.faults or report.leftovers
                if is_harmless:
                    assert everything(archive) == before
        except StoreError:
            assert not is_harmless


@each("seed", range(12))
def test_a_flipped_bit_of_a_document_is_told_or_changes_nothing(whole, seed):
    uri, database, rows, before = whole
    chance = random.Random(seed)
    table = chance.choice(sorted(FIELDS))
    documents, row = database[f"archive_{table}"], chance.choice(rows[table])
    with written_again(documents, rows[table]):
        flip(documents, row, chance)
        try:
            with open_archive(uri) as archive:
                report = archive.check()
                if not (report.faults or report.leftovers):
                    assert everything(archive) == before
        except StoreError:
            pass  # told when it is read


def flip(documents, row: dict[str, Any], chance: random.Random) -> None:
    """Flip a bit of a document, one that makes it no other document's and is still BSON."""
    documents.delete_one({"_id": row["_id"]})
    while True:
        raw = bytearray(BSON.encode(row))
        raw[chance.randrange(4, len(raw) - 1)] ^= 1 << chance.randrange(8)
        try:
            documents.insert_one(BSON(raw).decode())
        except (BSONError, PyMongoError, UnicodeError):
            continue
        return
