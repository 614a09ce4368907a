"""An archive in MongoDB that several write to, and a server that comes and goes."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.errors import StoreError
from mmcrawl.store import MongoStore
from tests.databases import own_server
from tests.waiting import HANG

pytestmark = pytest.mark.processes

# -- several at once --------------------------------------------------------------------------


def test_numbers_are_given_once(uri):
    archives = [open_archive(uri) for _ in range(3)]
    indexes = [archive._index for archive in archives]
    with ThreadPoolExecutor(3) as threads:
        made = list(
            threads.map(
                lambda index: [
                    row.id
                    for n in range(0, 20, 4)
                    for row in index.add_urls([f"http://a/{n + k}" for k in range(4)]).values()
                ],
                indexes,
            )
        )
        assert sorted(made[0]) == sorted(made[1]) == sorted(made[2])
        assert len(set(made[0])) == 20
        wanted = {"a": 2, "b": 3}
        taken = list(threads.map(lambda i: [i.reserve(wanted) for _ in range(20)], indexes))
    for name, size in wanted.items():
        given = [one[name] for one in chain(*taken)]
        places = {first + n for first in given for n in range(size)}
        assert len(places) == 60 * size
    for archive in archives:
        archive.close()


def test_a_writer_that_sleeps_while_another_purges_leaves_nothing_damaged(uri, monkeypatch):
    body = random.Random(1).randbytes(20_000)
    insert = MongoStore.insert_new
    with open_archive(uri) as archive, open_archive(uri) as other:
        archive.store(Capture("http://a.test/", body, 1.0))

        def purged_first(self, table, documents):
            if table == "version":
                monkeypatch.undo()
                other.purge(url="http://a.test/")
            return insert(self, table, documents)

        monkeypatch.setattr(MongoStore, "insert_new", purged_first)
        again = Capture("http://a.test/", body + b"more", 2.0)
        assert archive.store_many([again, Capture("http://b.test/", body, 2.0)])
        assert archive.check().faults == ()
        archive.check(repair=True)
        assert (archive.check().faults, archive.check().orphans) == ((), 0)
        (version,) = archive.versions("http://a.test/")
        assert archive.rebuild(version) == again
        assert archive.rebuild(archive.get("http://b.test/")).body == body


# -- a server that comes and goes -------------------------------------------------------------


def test_a_server_that_was_stopped_and_started_again(tmp_path):
    with (
        own_server(tmp_path / "server") as server,
        open_archive(f"{server.address}/pages?serverSelectionTimeoutMS=2000") as archive,
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
