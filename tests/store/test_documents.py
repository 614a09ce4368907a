"""What any store of documents does: one in memory, one in a file, one in a database."""

from __future__ import annotations

import itertools
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.store import (
    KEY,
    Store,
    get_blob,
    open_documents,
    put_blob,
)
from tests.databases import mongodb_uri
from tests.store.memory import CONTENTS, MemoryStore, add_up, page
from tests.tables import each
from tests.waiting import HANG

Opener = Callable[[], Store]


@pytest.fixture(params=("memory", "sqlite", "mongodb"))
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Open the same store, again and again."""
    if request.param == "memory":
        only = MemoryStore()
        yield lambda: only
    elif request.param == "sqlite":
        yield lambda: open_documents(CONTENTS, "", tmp_path / "new" / "pages.db")
    else:
        with mongodb_uri() as uri:
            yield lambda: open_documents(CONTENTS, uri, None)


@pytest.fixture
def store(opener: Opener) -> Iterator[Store]:
    with closing(opener()) as opened:
        yield opened


def test_a_document_comes_back_with_all_it_has(store: Store) -> None:
    facts = {"title": "杠杆 \ud800", "at": None, "list": [1, 2.5, {"a.b": "$c"}]}
    whole = page(1, digest=b"\0\xff", facts=facts, status=(1 << 63) - 1)
    readable = page(2, facts={"title": "杠杆", "at": None})
    assert store.insert_new("page", {"a": whole, "b": readable}) == set()
    assert store.get("page", ["a", "b", "none"]) == {"a": whole, "b": readable}
    assert store.get("page", []) == {}


def test_who_inserts_first_has_the_key(store: Store) -> None:
    many = {f"{number:04d}": page(number) for number in range(1_200)}
    assert store.insert_new("page", many) == set()
    again = {f"{number:04d}": page(0, 404) for number in range(1_199, 1_300)}
    assert store.insert_new("page", again) == {"1199"}
    assert store.get("page", ["1199"]) == {"1199": page(1_199)}
    store.put("page", {"1199": page(5), "1300": page(6)})
    assert store.get("page", ["1199", "1300"]) == {"1199": page(5), "1300": page(6)}


def test_a_range_comes_in_order_by_any_condition(store: Store) -> None:
    every = {f"{n:04d}": page(n, (200, 404)[n % 2]) for n in range(2_500)}
    for start in range(0, 2_500, 500):
        store.insert_new("page", dict(itertools.islice(every.items(), start, start + 500)))
    assert dict(store.range("page")) == every
    assert [key for key, _ in store.range("page", order=("time",))] == sorted(every, reverse=True)
    odd = [key for key, _ in store.range("page", ("status", "=", 404), order=("time",), limit=2)]
    assert odd == ["2499", "2497"]
    assert list(store.range("page", limit=0)) == []
    between = store.range("page", (KEY, ">=", "0010"), (KEY, "<", "0013"), fields=("status",))
    assert list(between) == [(f"{n:04d}", {"status": (200, 404)[n % 2]}) for n in range(10, 13)]
    assert len(list(store.range("page", ("status", "not in", [200, 404])))) == 0
    assert (
        len(list(store.range("page", ("status", "in", [404, 500]), ("time", "<", -1.5)))) == 1_249
    )
    equal = [key for key, _ in store.range("page", order=("status",))]
    assert sorted(equal) == sorted(every)


def test_numbered_documents_come_in_order_of_their_numbers(store: Store) -> None:
    every = {n << 40: {"time": float(n % 3)} for n in range(1, 2_400)}
    for start in range(0, 2_400, 400):
        store.insert_new("event", dict(itertools.islice(every.items(), start, start + 400)))
    assert store.insert_new("event", {7 << 40: {"time": 9.0}, 1: {"time": 9.0}}) == {7 << 40}
    assert store.count("event") == 2_400
    assert [key for key, _ in store.range("event")] == [1, *every]
    last = store.range("event", ("time", "<=", 1.0), order=("time", KEY), backwards=True)
    wanted = sorted((n % 3, n << 40) for n in range(1, 2_400) if n % 3 < 2)
    assert [key for key, _ in last] == [key for _, key in reversed(wanted)]
    assert [key for key, _ in store.range("event", (KEY, ">", 2_398 << 40))] == [2_399 << 40]
    assert store.get("event", [1, 5]) == {1: {"time": 9.0}}
    assert store.delete("event", (KEY, "in", [1, 2])) == 1


def test_a_text_may_be_missing(store: Store) -> None:
    rows = {"a": {"of": None, "size": 1}, "b": {"of": "x", "size": 2}, "c": {"of": "x", "size": 3}}
    store.insert_new("name", rows)
    assert dict(store.range("name")) == rows
    assert dict(store.range("name", ("of", "=", "x"))) == {key: rows[key] for key in "bc"}
    store.put("name", {"b": rows["a"]})
    store.change("name", [([(KEY, "=", "c")], rows["a"]), ([(KEY, "=", "a")], rows["c"])])
    assert dict(store.range("name")) == {"a": rows["c"], "b": rows["a"], "c": rows["a"]}
    assert dict(store.range("name", ("size", "=", 1), fields=("size",)))["b"] == {"size": 1}
    assert dict(store.range("name", (KEY, "=", "b"), fields=("of",))) == {"b": {"of": None}}


def test_what_is_written_together_is_there(store: Store) -> None:
    with store.together():
        store.insert_new("event", {1: {"time": 1.0}})
        with store.together():
            store.put("event", {2: {"time": 2.0}})
        assert store.count("event") == 2
    assert [key for key, _ in store.range("event", backwards=True)] == [2, 1]
    assert store.problems() == []
    store.compact()
    assert store.size() >= 0


def test_what_fails_within_a_transaction_leaves_nothing(tmp_path: Path) -> None:
    with closing(open_documents(CONTENTS, "", tmp_path / "pages.db")) as store:
        store.insert_new("event", {5: {"time": 5.0}})
        with pytest.raises(KeyError), store.together():
            store.put("event", {number: {"time": 1.0} for number in range(9)} | {9: {}})
        assert dict(store.range("event")) == {5: {"time": 5.0}}


def test_a_document_changes_if_it_is_as_it_was(store: Store) -> None:
    store.insert_new("page", {"a": page(1), "b": page(2), "c": page(3, 404)})
    fresh, stale = ("status", "=", 200), ("status", "=", 500)
    assert store.change("page", [([(KEY, "=", "a"), stale], {"time": 9.0})]) == 0
    changes = [([(KEY, "=", key), fresh], {"status": 304, "facts": {"x": [1]}}) for key in "abc"]
    assert store.change("page", changes) == 2
    assert store.get("page", "abc") == {
        "a": page(1, 304, facts={"x": [1]}),
        "b": page(2, 304, facts={"x": [1]}),
        "c": page(3, 404),
    }
    assert store.change("page", [([("status", "=", 304)], {"status": 200})]) == 2
    assert store.change("page", []) == 0
    assert store.delete("page", (KEY, "=", "a"), stale) == 0
    assert store.delete("page", (KEY, "in", ["a", "b"]), fresh) == 2
    assert list(store.get("page", "abc")) == ["c"]


def test_blobs_are_as_long_as_they_are(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmcrawl.store.documents._PIECE", 10)
    for name, content in (("a", b""), ("a/b", b"x" * 10), ("ab", bytes(range(255)))):
        put_blob(store, "part", name, content)
        assert get_blob(store, "part", name) == content
    assert get_blob(store, "part", "b") is None


# -- several at once ----------------------------------------------------------------------------


def test_of_six_threads_none_loses_what_another_one_wrote(opener: Opener, store: Store) -> None:
    store.insert_new("page", {"n": page(0, 0)})

    def work(own: int) -> list[int]:
        used = opener() if own % 2 else store
        add_up(used, 10)
        found = [n for n in range(20) if not used.insert_new("page", {f"k{n}": page(own)})]
        if used is not store:
            used.close()
        return found

    with ThreadPoolExecutor(6) as pool:
        inserted = [number for some in pool.map(work, range(6)) for number in some]
    assert store.get("page", ["n"])["n"]["status"] == 60
    assert sorted(inserted) == list(range(20))


ADDING = """
import sys
from pathlib import Path
from mmcrawl.store import open_documents
from tests.store.memory import CONTENTS, add_up, page
uri, file = sys.argv[1:]
store = open_documents(CONTENTS, uri, Path(file) if file else None)
store.insert_new("page", {"n": page(0, 0)})
print("ready", flush=True)
sys.stdin.readline()
add_up(store, 20)
for number in range(10**6 if sys.stdin.readline() else 0):
    store.insert_new("page", {f"{number:06d}": page(number), f"{number:06d}b": page(number)})
"""


def test_of_two_processes_none_loses_anything_and_a_kill_leaves_whole_documents(
    store: Store, tmp_path: Path
) -> None:
    if isinstance(store, MemoryStore):
        pytest.skip("of one process")
    file = str(tmp_path / "new" / "pages.db") if Path(store.name).exists() else ""
    command = [sys.executable, "-c", ADDING, "" if file else store.name, file]
    both = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in both:
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
    first, second = both
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    second.communicate(timeout=HANG)
    first.stdin.write("go\n")
    first.stdin.flush()
    while not store.get("page", ["000003"]):
        assert first.poll() is None
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert store.get("page", ["n"])["n"]["status"] == 40
    there = dict(store.range("page", (KEY, "<", "n")))
    for key, document in there.items():
        assert document == page(int(key[:6]))
    assert store.insert_new("page", {"after": page(1)}) == set()


# -- what cannot be used ------------------------------------------------------------------------


def test_a_store_that_is_not_there_is_not_made_to_be_read(opener: Opener, tmp_path: Path) -> None:
    with pytest.raises(
        MissingStoreError, match=r"no catalogue of pages .*none\.db; make one first"
    ):
        open_documents(CONTENTS, "", tmp_path / "none.db", create=False)
    if isinstance(opener(), MemoryStore):
        return
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be made"):
        open_documents(CONTENTS, "", tmp_path / "file" / "pages.db")


@each(
    "statement, says",
    [
        ("PRAGMA user_version = 2", r"an older version of mmcrawl \(schema 2, this one has 3\)"),
        ("PRAGMA application_id = 7", "is not a catalogue of pages of mmcrawl; name another file"),
        ("ALTER TABLE page ADD COLUMN more TEXT", "tables are not those of mmcrawl"),
        ("INSERT INTO page VALUES ('a', '', 0, 0, x'', '{')", "damaged .*; restore it from a copy"),
        (f"INSERT INTO page VALUES ('a', '', 0, 0, x'', '{100_000 * '['}')", "damaged .*; restore"),
    ],
)
def test_a_file_that_is_none_of_ours_is_a_sentence(
    tmp_path: Path, statement: str, says: str
) -> None:
    path = tmp_path / "pages.db"
    open_documents(CONTENTS, "", path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(statement)
    with (
        pytest.raises(StoreError, match=says),
        closing(open_documents(CONTENTS, "", path)) as store,
    ):
        store.get("page", ["a"])


def test_a_text_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "pages.db"
    path.write_bytes(b"no database at all, but a text of mine" * 50)
    with pytest.raises(StoreError, match="is not a catalogue of pages of mmcrawl"):
        open_documents(CONTENTS, "", path)
    assert path.read_bytes().startswith(b"no database")


def test_a_full_disk_is_a_sentence_and_nothing_is_half_written(tmp_path: Path) -> None:
    with closing(open_documents(CONTENTS, "", tmp_path / "pages.db")) as store:
        store.insert_new("page", {"a": page(1)})
        store._db.execute("PRAGMA max_page_count = 20")  # type: ignore[attr-defined]
        with pytest.raises(StoreError, match=r"disk is full.*make room"):
            store.insert_new("page", {f"{n}": page(n, url="x" * 9_000) for n in range(20)})
        assert list(store.range("page")) == [("a", page(1))]
