"""Sealing while storing: whatever becomes of it, who stores and who closes goes on."""

import os

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.archive.format import Sealer, sealing
from mmcrawl.errors import StoreError
from tests.tables import each


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(sealing, "TAIL", 30_000)


def store(archive, count=12):
    for n in range(count):
        archive.store(Capture(f"http://h.test/{n}", os.urandom(20_000), 1.0))


@each("error", [StoreError("full"), MemoryError()])
def test_a_sealing_that_fails_stops_nobody(tmp_path, monkeypatch, error):
    def fail(self, stream, **how):
        tried.append(stream)
        raise error

    tried = []
    monkeypatch.setattr(Sealer, "seal", fail)
    uri = f"sqlite:///{tmp_path / 'archive.db'}"
    with open_archive(uri) as archive:
        store(archive)
    assert len(tried) > 1
    with open_archive(uri) as archive:
        assert archive.check().versions == 12


def test_what_grows_is_sealed_while_it_is_stored(archive):
    store(archive)
    (segments,) = archive._index.all_segments()
    assert any(segment.level for segment in segments)
    assert archive.check().clean


def test_many_small_tails_are_sealed_when_they_are_much_together(tmp_path, monkeypatch):
    """Each of 40 hosts grows too little to be sealed by itself."""
    monkeypatch.setattr(sealing, "TAIL", 8 << 20)
    monkeypatch.setattr(sealing, "TAILS", 400_000)
    with open_archive(f"sqlite:///{tmp_path / 'archive.db'}") as archive:
        most = 0
        for n in range(20):
            pages = [Capture(f"http://h{k}.test/{n}", os.urandom(2_000), 1.0) for k in range(40)]
            archive.store_many(pages)
            every = [one for some in archive._index.all_segments() for one in some]
            tails = sum(segment.raw for segment in every if not segment.level)
            segments = sum(segment.raw for segment in every if segment.level)
            assert tails < 400_000
            most = max(most, segments)
        assert most > 1_000_000
        assert archive.check().clean


def test_tails_of_a_process_that_was_killed_are_sealed_by_the_next_that_stores(tmp_path):
    uri = f"sqlite:///{tmp_path / 'archive.db'}"
    archive = open_archive(uri)
    for n in range(5):
        archive.store(Capture("http://h.test/", os.urandom(2_000), n))
    archive._index.store.close()  # as if it was killed before the tail was sealed
    with open_archive(uri):
        pass
    with open_archive(uri, read_only=True) as archive:
        assert len(next(archive._index.all_segments())) == 5
    with open_archive(uri) as archive:
        archive.store(Capture("http://other.test/", b"x", 1.0))
    with open_archive(uri, read_only=True) as archive:
        assert [segment.level for segment in next(archive._index.all_segments())] == [12]
