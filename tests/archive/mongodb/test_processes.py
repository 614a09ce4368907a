"""An archive in MongoDB that several write to, and a server that comes and goes."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.errors import StoreError
from mmcrawl.store import MongoStore
from tests.databases import own_server
from tests.waiting import HANG

pytestmark = pytest.mark.processes

TOOL = Path(__file__).parents[3] / "tools" / "start_mongodb_server"


# -- several at once --------------------------------------------------------------------------


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
