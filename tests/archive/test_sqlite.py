"""The SQLite file: what is said when it cannot be used."""

import random
import sqlite3

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.errors import StoreError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "archive.db"


def opened(path, **options):
    return open_archive(f"sqlite:///{path}", **options)


def refusal(path, **options):
    """Return the one sentence with which opening `path` fails."""
    with pytest.raises(StoreError) as caught:
        opened(path, **options)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_a_folder_or_no_folder(tmp_path):
    assert "is a folder" in refusal(tmp_path)
    assert "no folder" in refusal(tmp_path / "missing" / "archive.db")


def test_one_that_is_locked_by_another(path, monkeypatch):
    monkeypatch.setattr("mmcrawl.store.sqlite_files._WAIT", 0.1)
    with opened(path) as archive:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another process"):
            archive.store(Capture("http://h.test/", b"x", 1.0))
        other.execute("ROLLBACK")
        other.close()
        assert archive.store(Capture("http://h.test/", b"x", 1.0)).version is not None


def test_it_can_be_read_where_nothing_may_be_written(path):
    with opened(path) as archive:
        archive.store(Capture("http://h.test/", b"x", 1.0))
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        with opened(path, read_only=True) as archive:
            assert archive.rebuild(archive.get("http://h.test/")).body == b"x"
    finally:
        path.parent.chmod(0o700)


def test_a_name_with_odd_characters(tmp_path):
    path = tmp_path / "a?b#c %20 物理.db"
    opened(path).close()
    assert path.exists()
    opened(path, create=False).close()


@pytest.mark.parametrize("share", [0.001, 0.3, 0.9])
def test_a_file_that_is_cut_off_is_told_with_what_can_be_done(path, share):
    with opened(path) as archive:
        for n in range(40):
            archive.store(Capture(f"http://h{n}.test/", random.Random(n).randbytes(4_000), 1.0))
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * share))
    try:
        with opened(path) as archive:
            said = [fault.what for fault in archive.check().faults]
    except StoreError as error:
        said = [str(error)]
    assert any("damaged" in what or "is not an archive" in what for what in said)
    assert "check it" not in " ".join(said)
