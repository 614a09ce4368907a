"""What the shared store promises its users, of the one in RAM as of the real one."""

from __future__ import annotations

import os

import pytest

from mmcrawl.cluster import name_of, open_shared_store

from .memory import MemoryStore


@pytest.fixture(params=["memory", "server"])
def documents(request):
    if request.param == "memory":
        yield MemoryStore()
        return
    if "MMCRAWL_TEST_MONGODB" not in os.environ:
        pytest.skip("no MongoDB server; MMCRAWL_TEST_MONGODB names one")
    shared = open_shared_store(request.getfixturevalue("uri"), job="job", arguments={})
    other = open_shared_store(request.getfixturevalue("uri"), job="job2", arguments={})
    other.put("note", "a", {"of": "another job"})
    yield shared
    shared.close()
    other.close()


def row(documents, part, number, **fields):
    return {
        "_id": documents.key(f"{part:04d}/{number:03d}"),
        "at": documents.key(name_of(part)),
        **fields,
    }


def names(rows):
    return [one["_id"].partition("/")[2] for one in rows]


def test_who_inserts_first_decides(documents):
    first = [row(documents, 1, n, bytes=b"first") for n in range(3)]
    assert documents.insert("log", first) == set()
    second = [row(documents, 1, n, bytes=b"second") for n in range(5)]
    assert documents.insert("log", second) == {one["_id"] for one in first}
    found = documents.all("log")
    assert names(found) == [f"0001/00{n}" for n in range(5)]
    assert [one["bytes"] for one in found] == [b"first"] * 3 + [b"second"] * 2
    assert documents.insert("log", []) == set()


def test_those_of_some_parts_come_in_order(documents):
    rows = [row(documents, part, number) for number in (2, 0, 1) for part in (11, 3, 7)]
    documents.insert("mail", rows)
    assert names(documents.at("mail", {11, 3})) == [
        "0003/000", "0003/001", "0003/002", "0011/000", "0011/001", "0011/002",
    ]  # fmt: skip
    assert [*documents.at("mail", set()), *documents.at("mail", {4})] == []


def test_a_document_is_put_in_place_of_another(documents):
    assert documents.one("worker", "ann") is None
    documents.put("worker", "ann", {"facts": "1", "more": 2})
    documents.put("worker", "ann", {"facts": "3"})
    assert documents.one("worker", "ann") == {"_id": documents.key("ann"), "facts": "3"}
    assert names(documents.all("note")) == []


def test_documents_are_removed_by_name(documents):
    documents.insert("mail", [row(documents, 1, n) for n in range(4)])
    documents.delete("mail", ["0001/001", "0001/003", "0001/009"])
    documents.delete("mail", ["0001/001"])
    documents.delete("mail", [])
    assert names(documents.all("mail")) == ["0001/000", "0001/002"]


def test_documents_are_removed_between_names(documents):
    rows = [row(documents, 1, n, bytes=b"" if n % 3 == 0 else b"x") for n in range(8)]
    documents.insert("log", [*rows, row(documents, 2, 0, bytes=b"x")])
    documents.delete_between("log", "0001/", "0001/005", but={"bytes": b""})
    assert names(documents.at("log", {1})) == [f"0001/{n:03d}" for n in (0, 3, 5, 6, 7)]
    documents.delete_between("log", "0001/", "0001/006")
    assert names(documents.all("log")) == ["0001/006", "0001/007", "0002/000"]


def test_a_media_page_is_published_in_place_of_another(documents):
    known = {"_id": documents.key("a"), "job": documents.key("")[:-1], "url": "http://a/1"}
    documents.publish([known])
    new = {**known, "_id": documents.key("b"), "url": "http://a/2"}
    documents.publish([{"_id": known["_id"]}, new])
    assert documents.all("media") == [{"_id": known["_id"]}, new]
