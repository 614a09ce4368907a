"""Bringing the index up to date, interrupted and not."""

import multiprocessing
import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from mmcrawl.archive import Archive, Results, Search, open_search
from mmcrawl.archive.search import index, index_path, updating
from mmcrawl.errors import StoreError
from tests.archive.search.pages import (
    CHINESE,
    DAY,
    ENGLISH,
    GERMAN,
    JANUARY,
    capture,
    mixed_web,
    store_all,
)
from tests.archive.search.test_searching import QUERIES, urls


@pytest.fixture
def path(uri: str) -> Path:
    """The file of the index."""
    return index_path(uri)


def answers(search: Search) -> list[Results]:
    return [search.search(query) for query in QUERIES]


def anew(archive: Archive, folder: Path) -> list[Results]:
    """Return what an index says that is made of the archive as it is now."""
    with Search(archive, folder / "anew.db-search") as search:
        search.rebuild()
        return answers(search)


def test_a_query_that_was_asked_before_finds_what_came_since(archive, search):
    for day in range(3):
        archive.store(capture(f"http://lever.test/{day}", day, text=f"Day {day} of the lever."))
        search.update()
        for _ in range(2):
            assert search.search("lever").total == day + 1


def test_nothing_new_writes_nothing(archive: Archive, search: Search, path: Path) -> None:
    store_all(archive, mixed_web())
    search.update()
    before = path.read_bytes()
    assert search.update().versions == 0
    assert path.read_bytes() == before
    assert not Path(f"{path}-wal").stat().st_size


def test_blocks_that_stay_are_not_indexed_again(archive: Archive, search: Search) -> None:
    for day in range(4):
        archive.store(capture(ENGLISH, day, text=f"Day {day} of the lever."))
        assert search.update().blocks == (search.stats().blocks if day == 0 else 1)


def test_a_long_history_is_taken_in_by_parts(archive, search, tmp_path, monkeypatch):
    monkeypatch.setattr(updating, "_COMMIT_SECONDS", 0)
    monkeypatch.setattr(updating, "_PIECE", 3)
    for day in range(8):
        archive.store(capture(ENGLISH, day, text=f"Day {day} of the lever."))
    archive.note_unchanged(ENGLISH, JANUARY + 8 * DAY)
    search.update()
    archive.note_unchanged(ENGLISH, JANUARY + 9 * DAY)
    for day in range(10, 15):
        archive.store(capture(ENGLISH, day, text=f"Day {day} of the lever."))
    search.update()
    assert search.stats().versions == 13
    (hit,) = search.search("kind:title").hits
    assert (hit.first_version, hit.version) == (1, 13)
    assert answers(search) == anew(archive, tmp_path)


def test_a_version_that_comes_late_is_put_in_its_place(archive, search, tmp_path):
    store_all(archive, mixed_web())
    search.update()
    archive.store(capture(ENGLISH, 45, text="Only a seesaw for a while."))
    assert search.update().reset == 1
    (hit,) = search.search("seesaw").hits
    assert (hit.version, hit.time) == (4, JANUARY + 45 * DAY)
    assert search.search("seesaw from:2024-03-15").total == 0
    assert answers(search) == anew(archive, tmp_path)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_page_may_change_its_language(archive: Archive, search: Search, at_once: bool) -> None:
    for day, language in enumerate(("en", "en", "de", "de")):
        archive.store(capture(ENGLISH, day, text=f"Day {day}.", language=language))
        if not at_once:
            search.update()
    search.update()
    shown = {
        language: (hit.first_version, hit.version)
        for language in ("en", "de")
        for hit in search.search(f"lessons lang:{language}").hits
    }
    assert shown == {"en": (1, 2), "de": (3, 4)}


class TestPurging:
    def test_of_old_versions(self, archive: Archive, search: Search, tmp_path: Path) -> None:
        for each in mixed_web():
            archive.store(each)
            search.update()
        archive.purge(before=JANUARY + 61 * DAY)
        search.update()
        assert urls(search.search("beam")) == []
        (hit,) = search.search("motion newton").hits
        assert (hit.first_version, hit.version) == (3, 3)
        assert answers(search) == anew(archive, tmp_path)

    def test_overwrites_the_bytes_of_the_file(self, archive, search, path):
        store_all(archive, mixed_web())
        search.update()
        archive.store(capture("http://secret.test/", 0, text="An unmentionable xylophone."))
        search.update()
        assert b"xylophon" in path.read_bytes()  # no word before it begins so
        before = texts_in(path)
        assert all(content in path.read_bytes() for content in before if len(content) < 3_000)
        archive.purge(url="http://secret.test/")
        search.update()
        left = bytes_of(path)
        assert b"ylophon" not in left
        assert b"secret.test" not in left
        gone = before - texts_in(path)
        assert gone
        assert not any(content[-40:] in left for content in gone)


def bytes_of(path: Path) -> bytes:
    """Return all that stands in the file of an index, and in its log."""
    files = (path, Path(f"{path}-wal"))
    return b"".join(file.read_bytes() for file in files if file.exists())


def texts_in(path: Path) -> set[bytes]:
    with closing(sqlite3.connect(path)) as db:
        return {content for (content,) in db.execute("SELECT text FROM document")}


def old_index(path: Path) -> None:
    """Make an index of the form before this one."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            f"PRAGMA journal_mode = WAL; PRAGMA application_id = {0x6D6D7378};"
            "CREATE TABLE head (id INTEGER PRIMARY KEY, generation INTEGER, content BLOB);"
            "CREATE TABLE object (id INTEGER PRIMARY KEY, key TEXT, content BLOB);"
            "INSERT INTO object VALUES (1, 'old/w0', 'unmentionable');"
        )


# ---------------------------------------------------------------- in several processes


def forty_versions(archive: Archive) -> None:
    for day in range(40):
        archive.store(capture(f"http://h.test/{day % 7}", day, text=f"Day {day} of a lever."))


def test_processes_make_the_same_index_also_after_one_update_was_stopped(archive, search, tmp_path):
    def stop(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    forty_versions(archive)
    with pytest.raises(KeyboardInterrupt):
        search.update(processes=2, progress=stop)
    assert not multiprocessing.active_children()
    told: list[tuple[int, int]] = []
    assert search.update(processes=2, progress=lambda *now: told.append(now)).versions == 40
    assert told == [(done, 40) for done in range(41)]
    assert answers(search) == anew(archive, tmp_path)


def test_processes_that_die_are_done_without(archive, search, tmp_path, monkeypatch):
    forty_versions(archive)
    monkeypatch.setattr("mmcrawl.archive.processes.begin_beside", _die)
    assert search.update(processes=2).versions == 40
    assert answers(search) == anew(archive, tmp_path)


def _die() -> None:
    os._exit(1)


# ---------------------------------------------------------------- interruptions


class _KilledError(BaseException):
    """The process died."""


@contextmanager
def dying(number: int, *, after: bool) -> Iterator[None]:
    """Let the n-th transaction that writes die, before or after it is there."""
    count = 0
    transaction = index._transaction

    @contextmanager
    def mortal(db: sqlite3.Connection, kind: str) -> Iterator[None]:
        nonlocal count
        count += kind == "IMMEDIATE"
        dies = kind == "IMMEDIATE" and count == number
        with transaction(db, kind):
            yield
            if dies and not after:
                raise _KilledError
        if dies:
            raise _KilledError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index, "_transaction", mortal)
        patched.setattr(updating, "_COMMIT_SECONDS", 0)
        yield


def test_an_update_that_dies_at_any_commit_is_finished_by_the_next(archive, search, tmp_path):
    chance = random.Random(1)
    deaths = 0
    for day in range(24):
        archive.store(capture(f"http://h.test/{day % 3}", day, text=f"Day {day} of the lever."))
        if day % 9 == 8:
            archive.purge(url=f"http://h.test/{chance.randrange(3)}")
        with dying(chance.randrange(1, 4), after=chance.random() < 0.5):
            try:
                search.update()
            except _KilledError:
                deaths += 1
        if day % 5 == 4:
            search.update()
    assert deaths > 5
    search.update()
    assert answers(search) == anew(archive, tmp_path)


def test_what_was_purged_is_gone_before_anything_else_is_read(archive, search, tmp_path, path):
    store_all(archive, mixed_web())
    search.update()
    archive.store(capture("http://secret.test/", 0, text="An unmentionable xylophone."))
    search.update()
    archive.purge(url="http://secret.test/")
    expected = anew(archive, tmp_path)
    archive.store(capture(ENGLISH, 99, text="A seesaw."))
    with dying(2, after=False), pytest.raises(_KilledError):
        search.update()
    assert answers(search) == expected
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert b"ylophon" not in bytes_of(path)


def test_two_who_update_at_once_lose_nothing(archive, search, uri, tmp_path, monkeypatch):
    left = 3
    write = updating.Updater._write

    def crossed(self: updating.Updater, batch: object) -> None:
        """Let another process update before the first transactions."""
        nonlocal left
        now, left = left, 0
        if now:
            archive.store(capture(ENGLISH, 100 - now, text=f"Left {now}."))
            other.update()
            archive.store(capture(GERMAN, 100 - now, text=f"Noch {now}."))
            left = now - 1
        write(self, batch)  # type: ignore[arg-type]

    with open_search(uri, archive) as other:
        store_all(archive, mixed_web())
        monkeypatch.setattr(updating.Updater, "_write", crossed)
        search.update()
        assert left == 0
        assert answers(search) == answers(other) == anew(archive, tmp_path)


def test_a_version_that_cannot_be_read_is_passed_over(archive, search, monkeypatch):
    store_all(archive, mixed_web())
    page = Archive.page

    def damaged(self: Archive, version: object) -> object:
        if getattr(version, "url", "") == CHINESE:
            raise StoreError("its bytes are not those that were stored")
        return page(self, version)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Archive, "page", damaged)
        assert search.update().failed == ((CHINESE, 1),)
        assert search.update().failed == ()
    assert CHINESE not in urls(search.search("牛顿"))
    search.rebuild()
    assert CHINESE in urls(search.search("牛顿"))


def test_an_index_of_another_form_is_made_anew(archive, tmp_path, caplog):
    path = tmp_path / "old.db-search"
    store_all(archive, mixed_web())
    old_index(path)
    with Search(archive, path, read_only=True) as search:
        assert search.search("lever").total == 0
        assert not caplog.records
        with Search(archive, path) as writer:
            assert [record.getMessage() for record in caplog.records] == [
                f"search index {path} has another format; it is rebuilt"
            ]
            writer.update()
            assert answers(writer) == answers(search) == anew(archive, tmp_path)
    assert b"unmentionable" not in path.read_bytes()


DAMAGES = {
    "texts": "UPDATE document SET text = zeroblob(100)",
    "words": "UPDATE word_data SET block = x'00' WHERE id > 10",
    "a table": "DROP TABLE version",
}


@pytest.fixture(params=DAMAGES.values(), ids=DAMAGES)
def damaged(archive: Archive, path: Path, uri: str, request: pytest.FixtureRequest) -> Path:
    """An index that was damaged when nobody had it open."""
    store_all(archive, mixed_web())
    with open_search(uri, archive) as search:
        search.update()
    with closing(sqlite3.connect(path)) as db:
        db.execute(request.param)
        db.commit()
    return path


@pytest.mark.usefixtures("damaged")
def test_a_damaged_index_says_so_and_an_update_makes_it_anew(archive, uri, tmp_path, caplog):
    archive.purge(url=CHINESE)
    with open_search(uri, archive) as search:
        with pytest.raises(StoreError, match="rebuild it"):
            search.search("lever")
        assert search.update().versions == 6
        assert "is rebuilt" in caplog.text
        assert answers(search) == anew(archive, tmp_path)
