"""An archive copied into another one, broken off, and done again."""

from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from mmcrawl.archive import Archive, Capture, Version, copy_archive, open_archive
from mmcrawl.errors import StoreError
from tests.archive.test_killed_anywhere import DyingStore, KilledError

TYPE = (("Content-Type", "text/html; charset=utf-8"), ("Server", "old"))
TIME = 1_700_000_000.25


def body(number: int) -> bytes:
    return b"<html><body>" + f"<div><p>Lever {number}</p></div>".encode() * 20 + b"</body></html>"


@pytest.fixture
def filled(archive: Archive) -> Archive:
    """An archive with all that visits may be."""
    for host in ("a.test", "b.test"):
        url = f"http://{host}/x"
        archive.store(Capture(url, body(1), TIME, 200, TYPE, "OK"))
        archive.store(Capture(url, body(1), TIME + 60, 200, (*TYPE, ("X", "again")), "OK"))
        archive.note_unchanged(url, TIME + 120)
        archive.store(Capture(url, body(2), TIME + 180, 200, TYPE, "OK"), method="spcola")
        archive.note_unchanged(url, TIME + 200, 503)
        archive.store(Capture(url, body(1), TIME - 60, 200, TYPE, "OK"))  # older, stored later
        archive.store(Capture(f"{url}.gif", b"GIF89a", TIME, 200, (("Content-Type", "image/gif"),)))
    return archive


def facts(archive: Archive) -> dict[str, tuple[list[Version], list[object], list[object]]]:
    """Return all that an archive holds of each URL."""
    return {
        url: (
            archive.versions(url),
            [*archive.visits(url)],
            [archive.blocks_of(version) for version in archive.versions(url)],
        )
        for url in archive.urls()
    }


def test_a_copy_is_equal_and_done_again_writes_nothing(filled: Archive, tmp_path: Path) -> None:
    with open_archive(f"sqlite:///{tmp_path}/copy.db") as copy:
        report = copy_archive(filled, copy)
        assert report.problems == ()
        assert facts(copy) == facts(filled)
        assert (report.urls, report.versions) == (4, filled.counts()["versions"])
        assert report.copied == report.visits
        assert copy.check().clean
        for version in filled.all_versions():
            assert copy.rebuild(copy.version(version.url, version.number)) == filled.rebuild(
                version
            )
        assert copy_archive(filled, copy).copied == 0


def test_a_copy_that_was_broken_off_goes_on(filled, tmp_path, monkeypatch):
    monkeypatch.setattr("mmcrawl.archive.opening._MOST_AT_ONCE", 1)
    uri = f"sqlite:///{tmp_path}/copy.db"
    for number in count():
        with open_archive(uri) as copy, suppress(KilledError):
            store = copy._index.store
            monkeypatch.setattr(copy._index, "store", DyingStore(store, number))
            try:
                copy_archive(filled, copy)
            finally:
                copy._index.store = store
            break
    assert number > 5
    with open_archive(uri) as copy:
        assert facts(copy) == facts(filled)
        assert copy.check().clean


def test_what_came_since_the_last_copy_is_copied(filled: Archive, tmp_path: Path) -> None:
    with open_archive(f"sqlite:///{tmp_path}/copy.db") as copy:
        copy_archive(filled, copy)
        filled.store(Capture("http://a.test/x", body(7), TIME + 999, 200, TYPE, "OK"))
        filled.pack()
        assert copy_archive(filled, copy).copied == 1
        assert facts(copy) == facts(filled)
        assert (copy.check().faults, copy.check().orphans) == ((), 0)


def test_what_is_not_of_the_source_is_not_written_over(filled: Archive, tmp_path: Path) -> None:
    with open_archive(f"sqlite:///{tmp_path}/copy.db") as copy:
        copy.store(Capture("http://a.test/x", body(9), TIME))
        with pytest.raises(StoreError, match="holds other pages"):
            copy_archive(filled, copy)
        assert copy.counts() == {"urls": 1, "versions": 1}


def test_what_was_purged_from_the_source_is_not_taken_from_a_copy(filled, tmp_path):
    with open_archive(f"sqlite:///{tmp_path}/copy.db") as copy:
        copy_archive(filled, copy)
        filled.purge(url="http://a.test/x")
        with pytest.raises(StoreError, match="holds other pages"):
            copy_archive(filled, copy)


def test_spellings_of_one_page_are_copied_one_by_one(archive: Archive, tmp_path: Path) -> None:
    for number, url in enumerate(("http://A.test:80/x", "http://a.test/x", "http://a.test/x#y")):
        archive.store(Capture(url, body(number), TIME + number))
    with open_archive(f"sqlite:///{tmp_path}/copy.db") as copy:
        for copied in (3, 0):
            assert copy_archive(archive, copy).copied == copied
            assert facts(copy) == facts(archive)
