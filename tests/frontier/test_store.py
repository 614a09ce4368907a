"""The file of a crawl: its jobs, and what is said when it cannot be used."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mmcrawl.errors import StoreError
from mmcrawl.frontier import (
    ALL,
    SCHEMA_VERSION,
    InterLink,
    Job,
    NewLink,
    Ranking,
    SqliteFrontier,
    SqliteStore,
    open_store,
)
from tests.tables import each

NOBODY = 65534


def opened(path: Path) -> SqliteStore:
    return open_store(f"sqlite:///{path}")


def refusal(path: Path) -> str:
    """Return the one sentence with which opening `path` fails."""
    with pytest.raises(StoreError) as caught:
        opened(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def filled(path: Path) -> None:
    with opened(path) as store:
        SqliteFrontier(store, store.job("crawl", {})).add([NewLink("http://h.test/")])
        store.commit()


# -- jobs -------------------------------------------------------------------------------------


def test_a_job_is_found_again_by_its_name(store):
    first = store.job("physics", {"topic": "物理", "max_layer": 5, "seeds": ("a", "b")})
    assert first == Job(
        0, "physics", {"topic": "物理", "max_layer": 5, "seeds": ("a", "b")}, None, ""
    )
    assert store.job("music", {}).number == 1
    again = store.job("physics", {"topic": "物理", "max_layer": 5, "seeds": ["a", "b"]})
    assert again.number == 0
    assert [job.name for job in store.jobs()] == ["physics", "music"]


def test_a_job_is_not_gone_on_with_under_other_arguments(store):
    store.job("physics", {"topic": "物理", "algo": "urlrule"})
    with pytest.raises(StoreError, match=r"topic='物理', not '化学'; use the same arguments"):
        store.job("physics", {"topic": "化学", "algo": "urlrule"})
    with pytest.raises(StoreError, match=r"m=None, not 3"):
        store.job("physics", {"topic": "物理", "algo": "urlrule", "m": 3})


def test_why_a_job_stopped_is_kept(store):
    number = store.job("crawl", {}).number
    store.stop_job(number, "shutdown", finished=False)
    assert (store.jobs()[0].reason, store.jobs()[0].finished_at) == ("shutdown", None)
    assert store.job("crawl", {}).reason == store.jobs()[0].reason == ""  # it goes on
    store.stop_job(number, "finished", finished=True)
    assert store.job("crawl", {}).reason == "finished"
    assert store.job("crawl", {}).finished_at is not None


def test_a_job_remembers_plain_data(store):
    one, two = store.job("one", {}).number, store.job("two", {}).number
    assert store.memory(one) == {}
    store.remember(one, {"words": {"光": 3}})
    store.remember(one, {"words": {"光": 4}})
    assert (store.memory(one), store.memory(two)) == ({"words": {"光": 4}}, {})


# -- what cannot be opened ----------------------------------------------------------------------


def test_what_is_no_database_is_left_alone(path, tmp_path):
    assert "there is no folder" in refusal(tmp_path / "missing" / "crawl.db")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "folder.db").mkdir()
    assert "cannot be opened" in refusal(tmp_path / "folder.db")
    path.write_bytes(b"These are my notes.\n" * 200)
    assert "is not a store of mmcrawl; name another file" in refusal(path)
    assert path.read_bytes() == b"These are my notes.\n" * 200


def test_the_database_of_another_program_is_left_alone(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE bookmark (url TEXT)")
        db.commit()
    before = path.read_bytes()
    assert "is not a store of mmcrawl" in refusal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (SCHEMA_VERSION + 1, "a newer version of mmcrawl"),
        (SCHEMA_VERSION - 1, "an older version of mmcrawl"),
    ],
)
def test_a_store_of_another_version_is_left_alone(path, version, told):
    filled(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    assert f"{told} (schema {version}, this one has {SCHEMA_VERSION})" in refusal(path)
    assert path.read_bytes() == before


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder that whoever runs the test may not write to once its permissions say so."""
    with tempfile.TemporaryDirectory() as name:
        root = os.geteuid() == 0
        if root:
            os.chown(name, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        yield Path(name)
        Path(name).chmod(0o700)
        if root:
            os.seteuid(0)


def test_a_read_only_file_is_refused_and_stays_as_it_was(unprivileged):
    path = unprivileged / "crawl.db"
    filled(path)
    before = path.read_bytes()
    path.chmod(0o400)
    with pytest.raises(StoreError, match="is read-only; change its permissions"):
        filled(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("ALTER TABLE link ADD COLUMN more TEXT", "its tables are not those of mmcrawl"),
        ("DROP TABLE section_media", "its tables are not those of mmcrawl"),
        ("UPDATE link SET settled = 9223372036854775807", "numbers out of range"),
        ("UPDATE link SET physical_layer = -5", "numbers out of range"),
        ("UPDATE link SET score = 9e999", "numbers out of range"),
        ("UPDATE job SET arguments = '[1]'", "notes of a job"),
        ("""UPDATE job SET archives = '{"archive.db": "many"}'""", "notes of a job"),
    ],
)
def test_a_store_that_a_stranger_changed_is_refused(path, change, told):
    filled(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(change)
    assert told in refusal(path)


def test_who_only_looks_sees_one_state_and_hinders_nobody(path: Path) -> None:
    filled(path)
    with opened(path) as store, open_store(f"sqlite:///{path}", read_only=True) as looking:
        frontier = SqliteFrontier(store, store.job("crawl", {}))
        links = InterLink(looking, 0, Ranking(ALL, None))
        assert len(links) == 1
        frontier.add([NewLink("http://h.test/lens")])
        frontier.commit()
        assert len(links) == 1
        assert links.lookup("http://h.test/lens") is None
        with open_store(f"sqlite:///{path}", read_only=True) as later:
            assert InterLink(later, 0, Ranking(ALL, None)).lookup("http://H.test/lens#top") == 1
        with pytest.raises(StoreError, match="is read-only"):
            looking.job("another", {})


@each("uri", ["memory:", "sqlite:///none.db"])
def test_there_must_be_something_to_look_at(uri: str) -> None:
    with pytest.raises(StoreError):
        open_store(uri, read_only=True)


def test_a_file_in_a_read_only_folder_is_refused(unprivileged):
    unprivileged.chmod(0o500)
    assert "cannot be opened: Permission denied" in refusal(unprivileged / "crawl.db")
