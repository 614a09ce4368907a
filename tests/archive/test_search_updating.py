"""Bringing the index up to date, interrupted and not."""

from __future__ import annotations

import multiprocessing
import os
import random
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from mmcrawl.archive import Archive, Results, Search, open_archive, search_reading
from mmcrawl.archive.search_index import IndexStore
from mmcrawl.archive.search_sqlite import SqliteIndex
from mmcrawl.errors import StoreError

from .search_pages import CHINESE, DAY, ENGLISH, GERMAN, JANUARY, capture, mixed_web, store_all
from .test_search import QUERIES, mongodb_index, sqlite_index, urls


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with open_archive(f"sqlite:///{tmp_path / 'archive.db'}") as opened:
        yield opened


@pytest.fixture(params=[sqlite_index, mongodb_index])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexStore]:
    opened: IndexStore = request.param(tmp_path)
    yield opened
    opened.close()


def answers(search: Search) -> list[Results]:
    return [search.search(query) for query in QUERIES]


def anew(archive: Archive, folder: Path) -> list[Results]:
    """Return what an index says that is made of the archive as it is now."""
    with Search(archive, SqliteIndex(folder / "anew.db-search")) as search:
        search.rebuild()
        return answers(search)


def test_updating_after_each_page_is_as_good_as_at_the_end(
    archive: Archive, store: IndexStore, tmp_path: Path
) -> None:
    search = Search(archive, store)
    for each in mixed_web():
        archive.store(each)
        assert search.update().versions == 1
    assert answers(search) == anew(archive, tmp_path)


def test_an_update_may_look_at_some_urls_only(archive: Archive, store: IndexStore) -> None:
    search = Search(archive, store)
    store_all(archive, mixed_web())
    assert search.update([CHINESE, "http://unknown.test/"]).versions == 1
    assert urls(search.search("kind:title")) == [CHINESE]
    assert search.update().versions == 6


def test_nothing_new_writes_nothing(archive: Archive, store: IndexStore) -> None:
    search = Search(archive, store)
    store_all(archive, mixed_web())
    search.update()
    before = store.head()
    assert search.update().versions == 0
    assert store.head() == before


def test_blocks_that_stay_are_not_indexed_again(archive: Archive, store: IndexStore) -> None:
    search = Search(archive, store)
    for day in range(12):
        archive.store(capture(ENGLISH, day, text=f"Day {day} of the lever."))
        assert search.update().blocks == (search.stats().blocks if day == 0 else 1)


def test_many_small_updates_leave_few_segments(
    archive: Archive, store: IndexStore, tmp_path: Path
) -> None:
    search = Search(archive, store)
    for day in range(40):
        archive.store(capture(f"http://h.test/{day % 5}", day, text=f"Day {day} of the lever."))
        search.update()
    assert search.stats().segments <= 14
    assert answers(search) == anew(archive, tmp_path)
    assert search.search('"day 17 of"').total == 1


def test_a_version_that_comes_late_is_put_in_its_place(
    archive: Archive, store: IndexStore, tmp_path: Path
) -> None:
    search = Search(archive, store)
    store_all(archive, mixed_web())
    search.update()
    archive.store(capture(ENGLISH, 45, text="Only a seesaw for a while."))
    assert search.update().reset == 1
    (hit,) = search.search("seesaw").hits
    assert (hit.version, hit.time) == (4, JANUARY + 45 * DAY)
    assert search.search("seesaw from:2024-03-15").total == 0
    assert answers(search) == anew(archive, tmp_path)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_page_may_change_its_language(archive: Archive, store: IndexStore, at_once: bool) -> None:
    search = Search(archive, store)
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
    def test_of_a_url(self, archive: Archive, store: IndexStore, tmp_path: Path) -> None:
        search = Search(archive, store)
        store_all(archive, mixed_web())
        search.update()
        archive.purge(url=CHINESE)
        assert search.update().reset == 1
        assert answers(search) == anew(archive, tmp_path)
        assert CHINESE not in urls(search.search("牛顿"))

    def test_of_old_versions(self, archive: Archive, store: IndexStore, tmp_path: Path) -> None:
        search = Search(archive, store)
        for each in mixed_web():
            archive.store(each)
            search.update()
        archive.purge(before=JANUARY + 61 * DAY)
        search.update([ENGLISH])
        assert urls(search.search("beam")) == []
        (hit,) = search.search("motion newton").hits
        assert (hit.first_version, hit.version) == (3, 3)
        search.update()
        assert answers(search) == anew(archive, tmp_path)

    def test_leaves_no_word_and_no_address_behind(self, archive: Archive, tmp_path: Path) -> None:
        secret = "http://secret.test/secret"
        store = sqlite_index(tmp_path)
        search = Search(archive, store)
        archive.store(capture(secret, 0, title="Whistle", text="An unmentionable xylophone."))
        search.update()
        store_all(archive, mixed_web())
        search.update()
        assert _holds(tmp_path / "archive.db-search", "xylophon")
        archive.purge(url=secret)
        search.update()
        for word in ("xylophon", "secret.test", "unmention"):
            assert not _holds(tmp_path / "archive.db-search", word)

    def test_and_storing_again(self, archive: Archive, store: IndexStore, tmp_path: Path) -> None:
        search = Search(archive, store)
        store_all(archive, mixed_web())
        search.update()
        archive.purge(url=GERMAN)
        archive.store(
            capture(GERMAN, 99, title="Neu", text="Ganz neu ist der Text.", language="de")
        )
        search.update()
        assert urls(search.search("Balken")) == []
        assert urls(search.search("ganz neu")) == [GERMAN]
        assert answers(search) == anew(archive, tmp_path)

    def test_overwrites_the_bytes_of_the_file(self, archive: Archive, tmp_path: Path) -> None:
        path = tmp_path / "archive.db-search"
        search = Search(archive, sqlite_index(tmp_path))
        archive.store(capture("http://secret.test/", 0, text="An unmentionable xylophone."))
        store_all(archive, mixed_web())
        search.update()
        frames = _frames(path)
        assert all(frame in path.read_bytes() for frame in frames.values() if len(frame) < 4_000)
        archive.purge(url="http://secret.test/")
        search.forget_purged()
        left = path.read_bytes() + Path(f"{path}-wal").read_bytes()
        gone = set(frames.values()) - set(_frames(path).values())
        assert len(gone) >= 4
        assert not any(frame[-40:] in left for frame in gone)

    def test_can_be_followed_without_taking_in_what_is_new(
        self, archive: Archive, store: IndexStore, tmp_path: Path
    ) -> None:
        search = Search(archive, store)
        store_all(archive, mixed_web())
        search.update()
        archive.purge(url=CHINESE)
        archive.store(capture(ENGLISH, 99, text="A seesaw."))
        done = search.forget_purged()
        assert (done.reset, done.versions) == (1, 0)
        assert CHINESE not in urls(search.search("lang:zh"))
        assert search.search("seesaw").total == 0
        search.update()
        assert answers(search) == anew(archive, tmp_path)

    def test_empties_an_index_of_another_format(self, archive: Archive, store: IndexStore) -> None:
        store.commit(0, b'{"format":0}', {"old/w0": b"unmentionable"})
        Search(archive, store).forget_purged()
        assert store.get(["old/w0"]) == {}


def _frames(path: Path) -> dict[str, bytes]:
    with sqlite3.connect(path) as db:
        return dict(db.execute("SELECT key, content FROM object"))


def _holds(path: Path, text: str) -> bool:
    """Whether a text stands in an object of an index."""
    from mmcrawl.archive.search_codec import unpack_columns

    with sqlite3.connect(path) as db:
        frames = [frame for (frame,) in db.execute("SELECT content FROM object")]
    return any(text.encode() in column for frame in frames for column in unpack_columns(frame))


# ---------------------------------------------------------------- in several processes


class TestProcesses:
    def test_make_the_same_index(self, archive: Archive, tmp_path: Path) -> None:
        for day in range(40):
            archive.store(capture(f"http://h.test/{day % 7}", day, text=f"Day {day} of a lever."))
        told: list[tuple[int, int]] = []
        with Search(archive, sqlite_index(tmp_path)) as search:
            updated = search.update(processes=2, progress=lambda *now: told.append(now))
            assert updated.versions == 40
            assert told == [(done, 40) for done in range(41)]
            assert answers(search) == anew(archive, tmp_path)

    def test_are_done_without_when_they_die(
        self, archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for day in range(40):
            archive.store(capture(f"http://h.test/{day % 7}", day, text=f"Day {day} of a lever."))
        monkeypatch.setattr(search_reading, "_begin", _die)
        with Search(archive, sqlite_index(tmp_path)) as search:
            assert search.update(processes=2).versions == 40
            assert answers(search) == anew(archive, tmp_path)

    def test_an_update_that_is_stopped_leaves_none_behind(
        self, archive: Archive, tmp_path: Path
    ) -> None:
        def stop(done: int, _: int) -> None:
            if done == 3:
                raise KeyboardInterrupt

        for day in range(40):
            archive.store(capture(f"http://h.test/{day % 7}", day, text=f"Day {day} of a lever."))
        with Search(archive, sqlite_index(tmp_path)) as search:
            with pytest.raises(KeyboardInterrupt):
                search.update(processes=2, progress=stop)
            assert not multiprocessing.active_children()
            assert search.update().versions == 40


def _die() -> None:
    os._exit(1)


# ---------------------------------------------------------------- interruptions


class _Killed(BaseException):
    """The process died."""


class _Mortal:
    """A store whose process dies in its n-th commit, before or after the head was written."""

    def __init__(self, store: IndexStore, commits: int, *, after: bool) -> None:
        self._store = store
        self._left = commits
        self._after = after
        self.name = store.name

    def commit(
        self,
        generation: int,
        head: bytes,
        objects: Mapping[str, bytes] | None = None,
        removed: Iterable[str] = (),
    ) -> bool:
        self._left -= 1
        if self._left:
            return self._store.commit(generation, head, objects, removed)
        if self._after:
            self._store.commit(generation, head, objects, ())  # the old segments stay
        elif objects and "Mongo" in type(self._store).__name__:
            # Where there are no transactions, objects may be there without a head.
            assert not self._store.commit(generation + 1_000, head, objects, ())
        raise _Killed

    def head(self) -> tuple[int, bytes] | None:
        return self._store.head()

    def get(self, keys: Collection[str]) -> dict[str, bytes]:
        return self._store.get(keys)

    def sweep(self, kept: Collection[str]) -> None:
        self._store.sweep(kept)

    def clear(self) -> None:
        self._store.clear()

    def size(self) -> int:
        return self._store.size()

    def close(self) -> None:
        self._store.close()


@pytest.mark.parametrize("after", [False, True])
def test_an_update_that_dies_at_any_commit_is_finished_by_the_next(
    archive: Archive, store: IndexStore, tmp_path: Path, after: bool
) -> None:
    chance = random.Random(1)
    deaths = 0
    for day in range(24):
        archive.store(capture(f"http://h.test/{day % 3}", day, text=f"Day {day} of the lever."))
        if day % 9 == 8:
            archive.purge(url=f"http://h.test/{chance.randrange(3)}")
        mortal = Search(archive, _Mortal(store, chance.randrange(1, 4), after=after))
        try:
            mortal.update()
        except _Killed:
            deaths += 1
        if day % 5 == 4:
            Search(archive, store).update()
    assert deaths > 5
    search = Search(archive, store)
    search.update()
    assert answers(search) == anew(archive, tmp_path)


def test_what_was_purged_counts_no_more_even_before_it_is_cleaned_away(
    archive: Archive, store: IndexStore, tmp_path: Path
) -> None:
    store_all(archive, mixed_web())
    Search(archive, store).update()
    archive.purge(url=CHINESE)
    with pytest.raises(_Killed):  # the first commit voids the page, the second cleans up
        Search(archive, _Mortal(store, 2, after=False)).update()
    assert answers(Search(archive, store)) == anew(archive, tmp_path)


def test_two_who_update_at_once_lose_nothing(
    archive: Archive, store: IndexStore, tmp_path: Path
) -> None:
    class Crossed(_Mortal):
        """Another process updates before each of the first commits."""

        def commit(self, *args: object, **kwargs: object) -> bool:  # type: ignore[override]
            if self._left > 0:
                self._left -= 1
                archive.store(capture(ENGLISH, 100 - self._left, text=f"Left {self._left}."))
                other.update()
            return self._store.commit(*args, **kwargs)  # type: ignore[arg-type]

    other = Search(archive, store)
    search = Search(archive, Crossed(store, 3, after=False))
    store_all(archive, mixed_web())
    search.update()
    assert answers(search) == answers(other) == anew(archive, tmp_path)


def test_a_reader_goes_on_while_segments_are_replaced(archive: Archive, store: IndexStore) -> None:
    search, reader = Search(archive, store), Search(archive, store)
    for day in range(30):
        archive.store(capture(f"http://h.test/{day % 3}", day, text=f"Day {day} of the lever."))
        search.update()
        assert reader.search("lever day").total == min(day + 1, 3)


def test_a_version_that_cannot_be_read_is_passed_over(
    archive: Archive, store: IndexStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_all(archive, mixed_web())
    rebuild = Archive.rebuild

    def damaged(self: Archive, version: object) -> object:
        if getattr(version, "url", "") == CHINESE:
            raise StoreError("its bytes are not those that were stored")
        return rebuild(self, version)  # type: ignore[arg-type]

    search = Search(archive, store)
    with monkeypatch.context() as patched:
        patched.setattr(Archive, "rebuild", damaged)
        assert search.update().failed == ((CHINESE, 1),)
        assert search.update().failed == ()
    assert CHINESE not in urls(search.search("牛顿"))
    search.rebuild()
    assert CHINESE in urls(search.search("牛顿"))


def test_an_index_of_another_format_is_made_anew(
    archive: Archive, store: IndexStore, tmp_path: Path
) -> None:
    store_all(archive, mixed_web())
    store.commit(0, b'{"format":0}')
    search = Search(archive, store)
    assert search.search("lever").total == 0
    search.update()
    assert answers(search) == anew(archive, tmp_path)


def test_a_damaged_index_says_so_and_can_be_rebuilt(archive: Archive, tmp_path: Path) -> None:
    store_all(archive, mixed_web())
    with Search(archive, sqlite_index(tmp_path)) as search:
        search.update()
    with sqlite3.connect(tmp_path / "archive.db-search") as db:
        db.execute("UPDATE object SET content = zeroblob(100)")
    with Search(archive, sqlite_index(tmp_path)) as search:
        with pytest.raises(StoreError, match="rebuild it"):
            search.search("lever")
        search.rebuild()
        assert answers(search) == anew(archive, tmp_path)


def test_an_update_makes_a_damaged_index_anew(
    archive: Archive, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store_all(archive, mixed_web())
    with Search(archive, sqlite_index(tmp_path)) as search:
        search.update()
    with sqlite3.connect(tmp_path / "archive.db-search") as db:
        db.execute("UPDATE object SET content = zeroblob(100) WHERE key LIKE '%/sightings'")
    with Search(archive, sqlite_index(tmp_path)) as search:
        assert search.update().versions == 7
        assert "made anew" in caplog.text
        assert answers(search) == anew(archive, tmp_path)
