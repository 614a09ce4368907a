"""An archive in MongoDB that several write to."""

from __future__ import annotations

import random

from mmcrawl.archive import Capture, open_archive
from mmcrawl.store import MongoStore


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
