"""Documents that lack a field, or have one of another type, as only a database lets them.

What else is done behind the archive's back is seen in a file: tests/archive/test_tampering.py.
"""

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

from mmcrawl.archive import open_archive
from mmcrawl.errors import StoreError
from tests.archive.tampering import COLUMNS, HARMLESS, fill
from tests.databases import mongodb_uri
from tests.tables import each


@pytest.fixture(scope="module")
def whole():
    """Yield an archive with all kinds of documents: its URI, its database, and these."""
    with mongodb_uri() as uri:
        server, _, name = uri.rpartition("/")
        with MongoClient(server) as client, open_archive(uri) as archive:
            fill(archive)
            assert archive.check().faults == ()
            database = client[name]
            rows = {table: list(database[f"archive_{table}"].find()) for table in COLUMNS}
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


FIELDS = [(table, name) for table, names in COLUMNS.items() for name in names.split()[1:]]


@each("table, name", FIELDS)
def test_a_field_that_is_gone_is_told(whole, table, name):
    uri, database, rows, before = whole
    documents = database[f"archive_{table}"]
    having = [row["_id"] for row in rows[table] if name in row]
    with written_again(documents, rows[table]):
        documents.update_one({"_id": having[len(having) // 2]}, {"$unset": {name: ""}})
        try:
            with open_archive(uri) as archive:
                report = archive.check()
                is_harmless = ("change", table, name) in HARMLESS
                assert is_harmless or report.faults or report.orphans
                if is_harmless:
                    assert everything(archive) == before
        except StoreError:
            pass  # told when it is read


SEGMENT = ("stream", "first", "entries", "raw", "level", "size")


@each("change", [{"$set": dict.fromkeys(SEGMENT, "x")}, {"$unset": dict.fromkeys(SEGMENT, "")}])
def test_what_is_no_number_in_the_row_of_a_segment_is_made_again(whole, change):
    uri, database, rows, before = whole
    documents = database["archive_segment"]
    with written_again(documents, rows["segment"]):
        documents.update_many({}, change)
        with open_archive(uri) as archive:
            assert archive.check().faults
            assert archive.check(repair=True).clean
            assert archive.check().faults == ()
            assert everything(archive) == before


@each("seed", range(6))
def test_a_flipped_bit_of_a_document_is_told_or_changes_nothing(whole, seed):
    uri, database, rows, before = whole
    chance = random.Random(seed)
    table = chance.choice(sorted(COLUMNS))
    documents, row = database[f"archive_{table}"], chance.choice(rows[table])
    with written_again(documents, rows[table]):
        flip(documents, row, chance)
        try:
            with open_archive(uri) as archive:
                report = archive.check()
                if not (report.faults or report.orphans):
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
