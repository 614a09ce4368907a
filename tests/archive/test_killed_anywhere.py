"""A process is killed at each of its writes, on a store with transactions and on one without."""

import copy
import random
import shutil
from itertools import count

import pytest

from mmcrawl.archive import Archive, Capture, Unchanged, open_archive
from tests.store.memory import MemoryStore
from tests.tables import each

URLS = [f"http://h.test/{name}" for name in "abc"]
WRITES = ("insert_new", "put", "change", "delete")


class KilledError(BaseException):
    """The process is gone: no handler of errors goes on."""


class DyingStore:
    """A store that is gone in the middle of a write: of many documents some are written.

    Args:
        store: Where to.
        left: Writes that go well before.
    """

    def __init__(self, store, left: int) -> None:
        self._store = store
        self._left = left

    def __getattr__(self, name):
        if self._left < 0:
            raise KilledError
        method = getattr(self._store, name)
        return self._writer(name, method) if name in WRITES else method

    def _writer(self, name, method):
        def write(table, *what):
            self._left -= 1
            if self._left >= 0:
                return method(table, *what)
            if name in ("insert_new", "put"):
                (documents,) = what
                method(table, dict([*documents.items()][: len(documents) // 2]))
            elif name == "change":
                (changes,) = what
                changes = [*changes]
                method(table, changes[: len(changes) // 2])
            raise KilledError

        return write


def body(url: str, n: int) -> bytes:
    shared = random.Random(0).randbytes(1_500)
    return shared + random.Random(f"{url}{n}").randbytes(500)


def capture(url: str, n: int) -> Capture:
    return Capture(url, body(url, n), float(n), headers=(("X-Number", str(n)),))


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr("mmcrawl.archive.format.sealing.CLOSED", 6_000)
    monkeypatch.setattr("mmcrawl.archive.format.writing.OWN_FROM", 1)
    monkeypatch.setattr("mmcrawl.archive.format.sealing.LARGEST_SEGMENT", 9_000)
    monkeypatch.setattr("mmcrawl.archive.index._CLAIMED", -1.0)
    monkeypatch.setattr("mmcrawl.archive.purging._LOOK", 0.0)


@pytest.fixture(params=["transactions", "none"])
def opened(request, tmp_path):
    """Give what opens the filled archive anew, and what opens it once more after a kill."""
    file = tmp_path / "archive.db"
    memory, path, numbers = MemoryStore(), file, count()

    def on(left, *, fresh):
        nonlocal memory, path
        if fresh:
            path = shutil.copy(file, tmp_path / f"{next(numbers)}.db")
            memory = MemoryStore()
            for table, rows in whole.items():
                memory.put(table, copy.deepcopy(rows))
        archive = open_archive(f"sqlite:///{path}", keep_blocks=False)
        if request.param == "none":
            archive._index.store.close()
            archive._index.store = memory
        archive._index.store = DyingStore(archive._index.store, left)
        return archive

    with open_archive(f"sqlite:///{file}", keep_blocks=False) as archive:
        fill(archive)
        whole = {
            table: dict(archive._index.store.range(table))
            for table in ("url", "version", "visit", "stream", "segment", "part", "counter")
        }
    return on


def fill(archive: Archive) -> None:
    for n in range(1, 7):
        archive.store_many(capture(url, n) for url in URLS)
        if n % 2:
            archive.pack()
    archive.store_many([Unchanged(url, 6.5) for url in URLS])


def stores(archive: Archive, tmp_path) -> None:
    again = Capture(URLS[1], body(URLS[1], 6), 7.0, headers=(("X-Number", "again"),))
    new = [capture("http://new.test/", 7), capture(URLS[0], 7), again]
    archive.store_many([*new, Unchanged(URLS[2], 7.0)])


def packs(archive: Archive, tmp_path) -> None:
    archive.pack()
    archive.pack(3)


def purges(archive: Archive, tmp_path) -> None:
    if archive.known([URLS[0]]):
        archive.purge(url=URLS[0])


def repairs(archive: Archive, tmp_path) -> None:
    store = archive._index.store
    if not store.count("loss"):
        store.delete("version", ("time", "=", 2.0))
        store.delete("visit")
        store.delete("url", ("key", "=", URLS[1]))
    archive.check(repair=True)


def assert_acknowledged(archive: Archive, gone: frozenset[str]) -> None:
    for url in URLS:
        found = {version.time: version for version in archive.versions(url)}
        for n in range(1, 7):
            if url not in gone or float(n) in found:
                assert archive.rebuild(found[float(n)]).body == body(url, n)


@each("work", [stores, packs, purges, repairs])
def test_killed_at_any_write_all_that_was_acknowledged_is_there(opened, tmp_path, work):
    gone = frozenset(URLS[:1] if work is purges else ())
    for left in count():
        archive = opened(left, fresh=True)
        try:
            work(archive, tmp_path)
        except KilledError:
            pass
        else:
            break
        after = opened(1_000, fresh=False)
        if work is not repairs:
            assert after.check().faults == (), left
        after.check(repair=True)
        report = after.check()
        assert (report.faults, report.orphans) == ((), 0), left
        assert_acknowledged(after, gone)
        work(after, tmp_path)
        report = after.check()
        assert (report.faults, report.orphans) == ((), 0), left
        assert_acknowledged(after, gone)
        assert work is not purges or not after.known([URLS[0]])
    assert left > 4
