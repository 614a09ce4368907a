"""An archive in MongoDB that several write to, and a server that comes and goes."""

from __future__ import annotations

import logging
import random
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

import mmcrawl.archive.mongodb.backend as mongodb
import mmcrawl.archive.mongodb.leases as mongodb_leases
import mmcrawl.archive.mongodb.urls as mongodb_urls
import mmcrawl.stores.mongodb as mongodb_server
from mmcrawl.archive import Capture, VersionRow, open_archive
from mmcrawl.errors import StoreError
from tests.databases import own_server
from tests.waiting import HANG
from tests.warm import python

pytestmark = pytest.mark.processes

TOOL = Path(__file__).parents[3] / "tools" / "start_mongodb_server"


# -- several at once --------------------------------------------------------------------------


def test_numbers_are_given_once(backend, others):
    backends = [backend, *others]
    with ThreadPoolExecutor(3) as threads:
        made = list(
            threads.map(
                lambda b: [
                    row.id
                    for n in range(0, 20, 4)
                    for row in b.add_urls(
                        {f"http://a/{n + k}": (n + k, "a") for k in range(4)}
                    ).values()
                ],
                backends,
            )
        )
        assert sorted(made[0]) == sorted(made[1]) == sorted(made[2])
        assert len(set(made[0])) == 20
        streams = backend.streams_named("ab").values()
        wanted = dict.fromkeys(streams, (2, 3))
        taken = list(threads.map(lambda b: [b.reserve(wanted) for _ in range(20)], backends))
    for stream in streams:
        assert sorted(given[stream] for given in chain(*taken)) == [
            (2 * n, 3 * n) for n in range(60)
        ]


@pytest.fixture
def somebody_waits(caplog):
    """Return what waits until a process says that it waits for another."""
    caplog.set_level(logging.INFO)

    def wait():
        while "Waiting for another process" not in caplog.text:
            time.sleep(0.01)

    return wait


def test_a_purge_waits_for_those_who_write(backend, others, somebody_waits):
    events = []

    def purge():
        with others[0].sole():
            events.append("purge")

    with backend.writing():
        thread = threading.Thread(target=purge)
        thread.start()
        somebody_waits()
        events.append("written")
    thread.join()
    assert events == ["written", "purge"]


def test_those_who_write_wait_for_a_purge(backend, others, somebody_waits):
    events = []

    def write():
        with others[0].writing():
            events.append("written")

    with backend.sole():
        thread = threading.Thread(target=write)
        thread.start()
        somebody_waits()
        backend.add_urls({"http://a/": (1, "a")})
        events.append("purge")
    thread.join()
    assert events == ["purge", "written"]
    with backend.writing(), others[0].writing():
        pass


def test_the_lease_of_a_dead_process_is_taken_away(backend, database, monkeypatch):
    monkeypatch.setattr(mongodb_leases, "DEAD_AFTER", 0.5)
    database["archive_lease"].insert_one({"_id": "dead", "kind": "sole", "beat": 3})
    with backend.writing():
        assert database["archive_lease"].count_documents({"kind": "write"}) == 1
    backend.close()
    assert database["archive_lease"].count_documents({}) == 0


ROW = VersionRow(1, 1, 1.0, 200, bytes(32), 1, 7)


def slept(name, place, database, monkeypatch):
    """Have others take this process for dead at the moment of an insertion."""
    insert = mongodb_server.insert_new

    def asleep(documents, rows):
        if documents.name == name:
            database["archive_lease"].delete_many({})
        return insert(documents, rows)

    monkeypatch.setattr(place, "insert_new", asleep)


def test_who_was_taken_for_dead_leaves_no_version(backend, database, monkeypatch):
    other = replace(ROW, number=2, entry=3)
    backend.add_versions([other])
    slept("archive_version", mongodb_urls, database, monkeypatch)
    with backend.writing(), pytest.raises(StoreError, match="out of reach for too long"):
        backend.add_versions([ROW, replace(ROW, number=2)])
    assert backend.versions(1) == [other]


def test_who_was_taken_for_dead_leaves_no_chunk_in_the_index(backend, database, monkeypatch):
    known, new = bytes(16), bytes([1] * 16)
    backend.add_chunks([(known, 5)])
    slept("archive_chunk", mongodb, database, monkeypatch)
    with backend.writing(), pytest.raises(StoreError, match="out of reach for too long"):
        backend.add_chunks([(known, 6), (new, 7)])
    assert dict(backend.chunks()) == {known: 5}


def test_a_writer_that_sleeps_while_another_purges_leaves_nothing_damaged(
    uri, database, monkeypatch
):
    body = random.Random(1).randbytes(20_000)
    with open_archive(uri) as archive, open_archive(uri) as other:
        archive.store(Capture("http://a.test/", body, 1.0))
        insert = mongodb_server.insert_new

        def purged_first(documents, rows):
            if documents.name == "archive_version":
                monkeypatch.undo()
                database["archive_lease"].delete_many({})
                other.purge(url="http://a.test/")
            return insert(documents, rows)

        monkeypatch.setattr(mongodb_urls, "insert_new", purged_first)
        copy = Capture("http://b.test/", body, 2.0)
        with pytest.raises(StoreError, match="try again"):
            archive.store(copy)
        assert archive.check().faults == ()
        assert archive.rebuild(archive.store(copy).version) == copy
        assert archive.check().faults == ()


STORE = """
import random, sys
from mmcrawl.archive import Capture, open_archive
archive = open_archive(sys.argv[1])
for n in range(1000):
    body = random.Random(n).randbytes(20_000)
    archive.store(Capture("http://a.test/" + sys.argv[2], body, float(n)))
    archive.store(Capture("http://a.test/both", body + sys.argv[2].encode(), float(n)))
    print(n, flush=True)
"""


def test_two_processes_store_in_one_archive_until_they_are_killed(uri, monkeypatch):
    open_archive(uri).close()
    processes = [
        subprocess.Popen([python(), "-c", STORE, uri, name], stdout=subprocess.PIPE, text=True)
        for name in "xy"
    ]
    heard = [[process.stdout.readline() for _ in range(12)] for process in processes]
    for process, lines in zip(processes, heard, strict=True):
        process.kill()
        lines.extend(process.communicate()[0].splitlines(keepends=True))
    last = [sum(line.endswith("\n") for line in lines) - 1 for lines in heard]
    assert min(last) >= 11
    monkeypatch.setattr(mongodb_leases, "DEAD_AFTER", 1.0)  # nobody else is alive to be mistaken
    with open_archive(uri) as archive:
        for name, n in zip("xy", last, strict=True):
            for time_ in range(n + 1):
                body = random.Random(time_).randbytes(20_000)
                assert archive.rebuild(archive.get(f"http://a.test/{name}", time_)).body == body
        both = {archive.rebuild(version).body for version in archive.versions("http://a.test/both")}
        assert {random.Random(n).randbytes(20_000) + b"x" for n in range(last[0] + 1)} <= both
        assert {random.Random(n).randbytes(20_000) + b"y" for n in range(last[1] + 1)} <= both
        # A chunk that a killed process wrote may be unknown to the index; no version is damaged.
        assert [fault for fault in archive.check(repair=True).faults if fault.version] == []
        assert archive.check().faults == ()


# -- a server that comes and goes -------------------------------------------------------------


def test_a_server_that_was_stopped_and_started_again(tmp_path):
    with (
        own_server(tmp_path / "server") as server,
        open_archive(f"{server.address}/pages?serverSelectionTimeoutMS=300") as archive,
    ):
        archive.store(Capture("http://a.test/", b"<p>one", 1.0))
        server.stop()
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be reached"):
                archive.store(Capture("http://a.test/", b"<p>two", 2.0))
            with pytest.raises(StoreError, match="cannot be reached"):
                archive.get("http://a.test/")
        server.start()
        end = time.monotonic() + HANG
        while True:
            try:
                stored = archive.store(Capture("http://a.test/", b"<p>two", 2.0))
            except StoreError:
                assert time.monotonic() < end
                continue
            break
        assert stored.version.number == 2
        bodies = [archive.rebuild(version).body for version in archive.versions("http://a.test/")]
        assert bodies == [b"<p>one", b"<p>two"]
        assert archive.check().faults == ()
