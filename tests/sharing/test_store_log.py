"""The log: who decides an entry, and what a coordinator meets that slept."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from pymongo.collection import Collection
from pymongo.errors import AutoReconnect

from mmcrawl.errors import StoreError
from mmcrawl.sharing.store import open_shared_store


def save(shared, number, tmp_path):
    path = tmp_path / f"copy{number}"
    path.write_bytes(b"copy")
    shared.save_snapshot(number, path, {})


def test_entries_come_in_order_until_the_first_missing_one(stores):
    for number in (0, 1, 2, 3, 5, 12):
        assert stores[0].append(number, b"%d" % number)
    expected = [(number, b"%d" % number) for number in range(4)]
    assert list(stores[1].entries(0)) == expected
    assert list(stores[1].entries(2)) == expected[2:]
    assert list(stores[1].entries(4)) == []


def test_an_entry_is_decided_once(stores):
    assert stores[0].append(0, b"mine")
    assert not stores[1].append(0, b"yours")
    assert not stores[1].append(0, b"mine")
    assert stores[0].append(0, b"mine")
    assert not stores[0].append(0, b"other")
    assert list(stores[2].entries(0)) == [(0, b"mine")]


def test_of_many_that_append_one_wins_each_entry(stores):
    def won(shared):
        return [number for number in range(30) if shared.append(number, shared._writer.encode())]

    with ThreadPoolExecutor(3) as threads:
        numbers = list(threads.map(won, stores))
    assert sorted(chain(*numbers)) == list(range(30))
    writers = [entry.decode() for _, entry in stores[0].entries(0)]
    for shared, its_own in zip(stores, numbers, strict=True):
        assert [n for n, writer in enumerate(writers) if writer == shared._writer] == its_own


def test_an_answer_that_was_lost_is_no_loss(shared, monkeypatch):
    real, lost = Collection.insert_one, []

    def insert_one(self, *args, **kwargs):
        done = real(self, *args, **kwargs)
        if not lost:
            lost.append(1)
            raise AutoReconnect("connection closed")
        return done

    monkeypatch.setattr(Collection, "insert_one", insert_one)
    assert shared.append(0, b"mine")
    assert list(shared.entries(0)) == [(0, b"mine")]


def test_reading_meets_what_is_appended_meanwhile(stores):
    for number in range(5):
        stores[0].append(number, b"x")
    seen = []
    for number, _ in stores[1].entries(0):
        seen.append(number)
        if number < 40:
            stores[0].append(len(seen) + 4, b"y")
    assert seen == list(range(45))


def test_reading_while_another_thread_appends(stores):
    def append():
        for number in range(200):
            stores[0].append(number, b"%d" % number)

    writer = threading.Thread(target=append)
    writer.start()
    for _ in range(10):
        found = list(stores[1].entries(0))
        assert found == [(number, b"%d" % number) for number in range(len(found))]
    writer.join()
    assert len(list(stores[1].entries(0))) == 200


def test_only_what_a_snapshot_covers_is_forgotten(shared, database, tmp_path):
    for number in range(10):
        shared.append(number, b"x")
    shared.trim(8)
    assert len(list(shared.entries(0))) == 10
    save(shared, 6, tmp_path)
    shared.trim(8)
    assert [number for number, _ in shared.entries(6)] == [6, 7, 8, 9]
    assert database["crawl_log"].count_documents({}) == 4


def test_who_slept_gets_no_entry_in_the_place_of_a_forgotten_one(stores, database, tmp_path):
    slept, awake, _ = stores
    for number in range(3):
        assert slept.append(number, b"old")
    for number in range(3, 9):
        assert awake.append(number, b"new")
    save(awake, 8, tmp_path)
    awake.trim(8)
    assert not slept.append(3, b"old")
    assert list(slept.entries(3)) == []
    assert database["crawl_log"].count_documents({}) == 1
    assert awake.append(9, b"new")


def test_jobs_do_not_meet(uri, shared, tmp_path):
    """The name of one job begins with that of the other."""
    other = open_shared_store(uri, job="a/b é/c", arguments={})
    third = open_shared_store(uri, job="a", arguments={})
    for each in (shared, other, third):
        name = each.job.name.encode()
        assert each.append(0, name)
        each.send([("m", name)])
        each.put_mail({"w": name})
        each.beat("w", {"sign": 1, "capacity": 0, "job": each.job.name})
        save(each, 1, tmp_path)
    other.trim(1)
    other.remove(["m"])
    other.forget("w")
    for each in (shared, third):
        name = each.job.name.encode()
        assert list(each.entries(0)) == [(0, name)]
        assert each.receive() == [("m", name)]
        assert each.mail("w") == name
        assert each.beats() == {"w": {"sign": 1, "capacity": 0, "job": each.job.name}}
    other.close()
    third.close()


def test_large_entries(stores):
    entries = [random.Random(number).randbytes(12 << 20) for number in range(5)]
    for number, entry in enumerate(entries):
        assert stores[0].append(number, entry)
    # More than one answer of the server may hold.
    assert [entry for _, entry in stores[1].entries(0)] == entries
    with pytest.raises(StoreError, match=r"an entry of the log of 12.6 MB is too large for store"):
        stores[0].append(5, bytes((12 << 20) + 1))


def test_an_append_takes_two_round_trips_and_other_operations_one(shared):
    shared.append(0, b"x")
    shared.put_mail({"v": b"1", "w": b"1"})
    for operation, most in (
        (lambda: shared.append(1, b"x"), 2),
        (lambda: shared.send([(f"m{n}", b"x") for n in range(400)]), 1),
        (shared.receive, 1),
        (lambda: shared.remove(["m1", "m2"]), 1),
        (lambda: shared.put_mail({"v": b"2", "w": b"2"}), 1),
        (lambda: shared.mail("v"), 1),
        (lambda: shared.beat("v", {"sign": 1, "capacity": 1}), 1),
        (shared.beats, 1),
        (lambda: shared.lead({"term": 1}), 1),
        (shared.leader, 1),
        (shared.refresh_job, 1),
    ):
        before = shared.round_trips
        operation()
        assert shared.round_trips - before == most
