"""How often the server is asked when many pages are stored at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pymongo import monitoring

from mmcrawl.archive import Capture, Unchanged, lookup, open_archive
from mmcrawl.errors import StoreError

_BACKGROUND = {"hello", "ping", "endSessions"}


class Counter(monitoring.CommandListener):
    """Counts what the server is asked, of one database."""

    database = ""
    asked = 0

    def started(self, event):
        if event.database_name == self.database and event.command_name not in _BACKGROUND:
            self.asked += 1

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


_counter = Counter()
monitoring.register(_counter)  # for connections that are opened from now on


@pytest.fixture
def asked(database):
    """Return a function that tells how often the server is asked by what it is given."""

    def count(do):
        _counter.asked = 0
        do()
        return _counter.asked

    _counter.database = database.name
    yield count
    _counter.database = ""


def pages(count, time, text=""):
    """Return pages of eight hosts."""
    filler = "".join(f"<div><p>Paragraph {n} of a template.</p></div>" for n in range(60))
    return [
        Capture(f"http://h{n % 8}.test/{n}", f"{filler}{n}{text}".encode(), time)
        for n in range(count)
    ]


def test_the_server_is_asked_as_often_for_many_pages_as_for_few(uri, asked):
    size = 64  # of eight hosts
    again = pages(size, 4.0, "again")
    mixed = [Unchanged(page.url, 4.0) if n % 2 else page for n, page in enumerate(again)]
    batches = [
        pages(size, 1.0),
        pages(size, 2.0, "changed"),
        [replace(page, time=3.0) for page in pages(size, 2.0, "changed")],
        mixed,
    ]
    with open_archive(uri) as archive:
        times = [asked(lambda batch=batch: archive.store_many(batch)) for batch in batches]
    assert times[2] <= 8
    with open_archive(uri) as archive:  # which knows nothing yet
        times.append(asked(lambda: archive.store_many(pages(size, 5.0, "more"))))
        assert archive.check().clean
    assert min(times) > 4
    assert max(times) <= 18


def test_one_version_is_stored_and_read_in_few_questions(uri, asked):
    def page(n):
        return Capture("http://h.test/", b"<html><p>%d" % n * 900, n, content_type="text/html")

    with open_archive(uri) as archive:
        for n in range(9):
            archive.store(page(n))
        assert asked(lambda: archive.store(page(9))) <= 14
        for n in (3, 4):
            assert asked(lambda n=n: archive.rebuild(archive.get("http://h.test/", n))) <= 5
    with open_archive(uri) as archive:
        assert asked(lambda: archive.rebuild(archive.get("http://h.test/", 5))) <= 6
        assert asked(lambda: archive.rebuild(archive.get("http://h.test/", 6))) <= 4


def test_what_another_process_purged_is_not_read_from_memory(uri, monkeypatch):
    monkeypatch.setattr(lookup, "REMEMBERED", 0)  # as if so much time had passed
    capture = Capture("http://h.test/", b"x" * 900, 1.0)
    with open_archive(uri) as archive, open_archive(uri) as other:
        archive.store(capture)
        version = archive.get("http://h.test/")
        other.purge(url="http://h.test/")
        with pytest.raises(StoreError, match="no longer"):
            archive.rebuild(version)
