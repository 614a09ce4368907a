"""What the shared store promises its users, of the one in RAM as of the real ones."""

from __future__ import annotations

import threading

import pytest

from mmcrawl.cluster import open_shared_store
from mmcrawl.errors import StoreError
from mmcrawl.frontier import MediaPageRecord, NearMiss
from mmcrawl.page import MediaResource
from tests.waiting import HANG

from .memory import memory_store


@pytest.fixture(params=["memory", "file", "server"])
def documents(request):
    if request.param == "memory":
        yield memory_store()
        return
    uri = request.getfixturevalue(f"{request.param}_uri")
    shared = open_shared_store(uri, job="job", arguments={})
    yield shared
    shared.close()


def test_documents_are_changed_if_they_are_as_they_were_read(documents):
    rows = {n: {"version": 4, "granted": n} for n in ("a", "b", "c")}
    documents.insert("budget", rows)
    assert documents.compare_and_set("budget", {"b": (4, {"granted": "x"})}) == set()
    asked = {n: (4, {"granted": f"{n}2"}) for n in ("a", "b", "gone")}
    assert documents.compare_and_set("budget", asked) == {"b", "gone"}
    found = {row["granted"]: row["version"] for row in documents.all("budget").values()}
    assert found == {"a2": 5, "x": 5, "c": 4}
    assert documents.compare_and_set("budget", {"b": (4, {"granted": "x"})}) == set()  # it was made


def test_of_changes_at_the_same_time_none_is_lost(documents, monkeypatch):
    documents.refuse_lost_updates()
    assert documents.names("budget") == []
    get = documents._documents.change

    def change(table, changes):
        return get(table, [([conditions[0]], fields) for conditions, fields in changes])

    monkeypatch.setattr(documents._documents, "change", change)
    one = documents.one
    all_four, first = threading.Barrier(4), iter(range(4))

    def at_once(table, name):
        row = one(table, name)
        if next(first, None) is not None:
            all_four.wait(HANG)
        return row

    monkeypatch.setattr(documents, "one", at_once)
    with pytest.raises(StoreError, match="does not change a document in one step: several"):
        documents.refuse_lost_updates()


def test_near_misses_are_apart_until_one_is_taken(documents):
    near = [NearMiss(f"http://a/{n}", "牛顿", n / 10) for n in range(6)]
    documents.publish([], near)
    assert documents.near_misses(0.5) == [near[4], near[3]]
    assert list(documents.media_pages()) == []
    taken = MediaPageRecord(*near[4], (), 200, 1.0, ())
    documents.publish([taken])
    assert documents.near_misses(0.5) == [near[3]]
    assert list(documents.media_pages()) == [taken]


def test_media_pages_come_best_first_and_in_place_of_what_they_were(documents):
    medium = MediaResource("http://a/f.mp4", "video", "a", "film", ("http://b/f.mp4",))
    pages = [
        MediaPageRecord(f"http://a/{n:02d}", "", n // 7 / 10, ("w",), 200, 1.0, (medium,))
        for n in range(30)
    ]
    documents.publish(pages)
    best = sorted(pages, key=lambda page: (-page.topic_score, page.url))
    assert list(documents.media_pages()) == best
    documents.publish([best[3]], dropped=[best[2].url])
    assert list(documents.media_pages()) == [*best[:2], *best[3:]]
    assert list(documents.media_pages(1, 3)) == [best[1], *best[3:5]]
