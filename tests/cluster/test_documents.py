"""What the shared store promises its users, of the one in RAM as of the real ones."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from mmcrawl.cluster import name_of, open_shared_store
from mmcrawl.errors import StoreError
from mmcrawl.frontier import MediaPageRecord
from mmcrawl.page import MediaResource

from .memory import memory_store


@pytest.fixture(params=["memory", "file", "server"])
def documents(request):
    if request.param == "memory":
        yield memory_store()
        return
    uri = request.getfixturevalue(f"{request.param}_uri")
    shared = open_shared_store(uri, job="job", arguments={})
    other = open_shared_store(uri, job="job2", arguments={})
    other.put("worker", "a", {"beat": 1, "facts": "of another job"})
    yield shared
    shared.close()
    other.close()


def message(documents, part, number, data=b"x"):
    return documents.row_of(part, f"{number:03d}", bytes=data)


def entry(documents, part, number, data=b"x"):
    told = {"epoch": 1, "owner": "ann", "bytes": data}
    return documents.row_of(part, f"{number:03d}", **told)


def names(rows):
    return [one["_id"].partition("/")[2] for one in rows]


def test_who_inserts_first_decides(documents):
    first = [message(documents, 1, n, b"first") for n in range(3)]
    assert documents.insert("message", first) == set()
    second = [message(documents, 1, n, b"second") for n in range(5)]
    assert documents.insert("message", second) == {one["_id"] for one in first}
    found = documents.all("message")
    assert names(found) == documents.names("message") == [f"0001/00{n}" for n in range(5)]
    assert [one["bytes"] for one in found] == [b"first"] * 3 + [b"second"] * 2
    assert documents.insert("message", []) == set()


def test_those_of_some_parts_come_in_order(documents):
    rows = [message(documents, part, number) for number in (2, 0, 1) for part in (11, 3, 7)]
    documents.insert("message", rows)
    assert names(documents.at("message", {11, 3})) == [
        "0003/000", "0003/001", "0003/002", "0011/000", "0011/001", "0011/002",
    ]  # fmt: skip
    assert [*documents.at("message", set()), *documents.at("message", {4})] == []
    assert documents.one("message", "0003/001")["at"] == documents.key(name_of(3))


def test_a_document_is_put_in_place_of_another(documents):
    assert documents.one("worker", "ann") is None
    documents.put("worker", "ann", {"beat": 1, "facts": "1"})
    documents.put("worker", "ann", {"beat": 2, "facts": "3"})
    found = {"_id": documents.key("ann"), "beat": 2, "facts": "3"}
    assert documents.one("worker", "ann") == found
    assert names(documents.all("worker")) == ["ann"]


def test_documents_are_changed_if_they_are_as_they_were_read(documents):
    rows = [{"_id": documents.key(n), "version": 4, "granted": n} for n in ("a", "b", "c")]
    documents.insert("budget", rows)
    assert documents.compare_and_set("budget", {"b": (4, {"granted": "x"})}) == set()
    asked = {n: (4, {"granted": f"{n}2"}) for n in ("a", "b", "gone")}
    assert documents.compare_and_set("budget", asked) == {"b", "gone"}
    found = {row["granted"]: row["version"] for row in documents.all("budget")}
    assert found == {"a2": 5, "x": 5, "c": 4}
    assert documents.compare_and_set("budget", {"b": (4, {"granted": "x"})}) == set()  # it was made


def test_documents_are_removed_by_name(documents):
    documents.insert("message", [message(documents, 1, n) for n in range(4)])
    documents.delete("message", ["0001/001", "0001/003", "0001/009"])
    documents.delete("message", ["0001/001"])
    documents.delete("message", [])
    assert names(documents.all("message")) == ["0001/000", "0001/002"]


def test_documents_are_removed_between_names(documents):
    documents.insert("log", [*(entry(documents, 1, n) for n in range(8)), entry(documents, 2, 0)])
    documents.delete_between("log", "0001/", "0001/006")
    assert names(documents.all("log")) == ["0001/006", "0001/007", "0002/000"]
    assert names(documents.all("log", "0001")) == ["0001/006", "0001/007"]
    assert len(documents.at("log", {1, 2}, 2)) == 2


def test_of_changes_at_the_same_time_none_is_lost(documents, monkeypatch):
    documents.refuse_lost_updates()
    assert documents.names("budget") == []
    get = documents._documents.change

    def change(table, changes):
        return get(table, [([conditions[0]], fields) for conditions, fields in changes])

    monkeypatch.setattr(documents._documents, "change", change)
    one = documents.one
    both = threading.Barrier(4)

    def at_once(table, name):
        row = one(table, name)
        with suppress(threading.BrokenBarrierError):
            both.wait(30)
        return row

    monkeypatch.setattr(documents, "one", at_once)
    with pytest.raises(StoreError, match="does not change a document in one step: several"):
        documents.refuse_lost_updates()


def test_media_pages_come_best_first_and_in_place_of_what_they_were(documents):
    medium = MediaResource("http://a/f.mp4", "video", "a", "film", ("http://b/f.mp4",))
    pages = [
        MediaPageRecord(f"http://a/{n:02d}", "", n // 7 / 10, ("w",), 200, 1.0, (medium,))
        for n in range(30)
    ]
    documents.publish([documents.media_row(page) for page in pages])
    best = sorted(pages, key=lambda page: (-page.topic_score, page.url))
    assert list(documents.media_pages()) == best
    documents.publish([documents.media_row(best[3])], [documents.media_key(best[2].url)])
    assert list(documents.media_pages()) == [*best[:2], *best[3:]]
