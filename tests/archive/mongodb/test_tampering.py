"""What is done to the collections behind the archive's back is told, and made good if it can be."""

from __future__ import annotations

import random

import pytest

from mmcrawl.archive import Capture, open_archive

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
    with open_archive(filled) as archive:
        assert archive.check().leftovers == 1  # as if its process had died before it was written
        report = archive.check(repair=True)
        assert (report.faults, report.removed, report.completed) == ((), 0, 1)
        assert archive.check().faults == ()
    assert rows.find_one({"_id": before["_id"]}) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("time", 2.5),
        ("status", 404),
        ("digest", bytes(32)),
        ("size", 7),
        ("entry", 1 << 33),
        ("method", "nom"),
        ("level", 7),
        ("location", "http://x.test/"),
    ],
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


@pytest.mark.parametrize(
    ("collection", "change", "told"),
    [
        ("url", {"key": 5}, "is kept under a key that is not its own"),
        ("url", {"host": "x.test"}, "is kept under the host 'x.test'"),
        ("url", {"url": "http://x.test/"}, "is kept under"),
        ("visit", {"number": 99}, "found version 99, which is gone"),
    ],
)
def test_what_disagrees_with_itself_or_others_is_told(filled, database, collection, change, told):
    database[f"archive_{collection}"].update_one({}, {"$set": change})
    with open_archive(filled) as archive:
        assert any(told in fault.what for fault in archive.check().faults)


def test_a_lost_url_is_told_with_the_times_of_its_versions(filled, database):
    database["archive_url"].delete_one({"_id": f"{2:016x}"})
    with open_archive(filled) as archive:
        told = [fault.what for fault in archive.check().faults]
    assert told == [
        "URL 2 is gone, which has 12 versions and 1 visits"
        " from 1970-01-01 00:00:00 UTC to 1970-01-01 00:00:50 UTC"
    ]


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
