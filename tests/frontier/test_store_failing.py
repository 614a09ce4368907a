"""A store that fails under a crawl: in use, full, damaged. What was committed is never lost."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcrawl.errors import StoreError
from mmcrawl.frontier import (
    LinkScores,
    NewLink,
    PageRecord,
    SqliteFrontier,
    SqliteStore,
    open_store,
)
from tests.waiting import HANG
from tests.warm import python

PAGE_SIZE = 4096


def opened(path: Path) -> SqliteStore:
    return open_store(f"sqlite:///{path}")


def frontier_of(store: SqliteStore) -> SqliteFrontier:
    return SqliteFrontier(store, store.job("crawl", {}))


def add_links(frontier: SqliteFrontier, start: int, count: int) -> None:
    links = [NewLink(f"http://h.test/{start + i}", anchor="x" * 200) for i in range(count)]
    ids = [number for number, _ in frontier.add(links)]
    frontier.apply(LinkScores(ids, [0.0] * count, [0.0] * count))


def filled(path: Path, links: int = 500) -> None:
    with opened(path) as store:
        frontier = frontier_of(store)
        add_links(frontier, 0, links)
        frontier.commit()


def walk(path: Path) -> None:
    """Do everything a crawl does with a store."""
    with opened(path) as store:
        frontier = frontier_of(store)
        while (link := frontier.next()) is not None:
            page = PageRecord(link.url, "", "", "", False, False, 0, 1.0)
            frontier.complete(link.id, page, [link.id])
        add_links(frontier, 0, 600)
        frontier.commit()
        assert sum(1 for _ in frontier.history()) == 500


# -- other processes ----------------------------------------------------------------------------

HOLD_A_STORE = """
import sys
from mmcrawl.frontier import LinkScores, NewLink, SqliteFrontier, open_store
store = open_store(sys.argv[1])
frontier = SqliteFrontier(store, store.job("crawl", {}))
frontier.add([NewLink("http://h.test/committed")])
frontier.commit()
frontier.add([NewLink("http://h.test/lost")])
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_process(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has the store open, with one link committed and another one not."""
    command = [sys.executable, "-c", HOLD_A_STORE, f"sqlite:///{path}"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


def test_a_store_that_another_crawl_uses_is_refused_until_it_is_done(path, other_process):
    with pytest.raises(StoreError, match="is in use by another crawl; wait for it"):
        opened(path)
    other_process.communicate()
    opened(path).close()


TAKE_TURNS = """
import os, sys
from mmcrawl.errors import StoreError
from mmcrawl.frontier import open_store
alone, turns = sys.argv[2], 0
while turns < 15:
    try:
        store = open_store(sys.argv[1])
    except StoreError as error:
        assert "in use" in str(error), error
        continue
    os.close(os.open(alone, os.O_CREAT | os.O_EXCL))  # fails beside another
    os.unlink(alone)
    store.close()
    turns += 1
"""


def test_no_two_processes_have_a_store_while_lock_files_come_and_go(path: Path) -> None:
    opened(path).close()
    command = [python(), "-c", TAKE_TURNS, f"sqlite:///{path}", str(path) + ".alone"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        for _ in range(2)
    ]
    for process in processes:
        _, said = process.communicate(timeout=HANG)
        assert process.returncode == 0, said
    assert os.listdir(path.parent) == ["crawl.db"]


def test_a_killed_crawl_leaves_what_it_committed_and_a_lock_file_that_goes_with_the_next_one(
    path, other_process
):
    other_process.kill()
    other_process.wait()
    assert path.with_name("crawl.db.lock").exists()
    with opened(path) as store:
        frontier = frontier_of(store)
        assert [frontier.url(link) for link in frontier.waiting()] == ["http://h.test/committed"]
    assert os.listdir(path.parent) == ["crawl.db"]


# -- full and damaged -----------------------------------------------------------


def fill_up(store: SqliteStore) -> int:
    """Commit links until the store is full; return how many were committed."""
    frontier = frontier_of(store)
    kept = len(frontier)
    try:
        while kept < 50_000:
            add_links(frontier, kept, 50)
            frontier.commit()
            kept = len(frontier)
    except StoreError as error:
        assert "make room and run the same command again" in str(error)  # noqa: PT017
        return kept
    pytest.fail("the store never filled up")


def damage(path: Path, page: int) -> None:
    content = bytearray(path.read_bytes())
    start = page * PAGE_SIZE + (100 if page == 0 else 0)  # leave the file its header
    end = (page + 1) * PAGE_SIZE
    content[start:end] = b"\xff" * (end - start)
    path.write_bytes(content)


def test_damage_to_any_page_of_the_file_is_told_or_harmless(path):
    filled(path)
    sound = path.read_bytes()
    told = 0
    for page in range(len(sound) // PAGE_SIZE):
        path.write_bytes(sound)
        damage(path, page)
        try:
            walk(path)
        except StoreError as error:
            assert "is damaged" in str(error)  # noqa: PT017 - some pages hold nothing of use
            told += 1
    assert told > len(sound) // PAGE_SIZE // 2


def test_a_file_cut_short_is_damaged(path):
    filled(path)
    path.write_bytes(path.read_bytes()[: 10 * PAGE_SIZE])
    with pytest.raises(StoreError, match="is damaged"):
        walk(path)


def test_a_store_is_free_after_it_could_not_be_opened(path):
    path.write_bytes(b"no database" * 100)
    with pytest.raises(StoreError):
        opened(path)
    path.unlink()
    opened(path).close()


def test_a_full_store_keeps_what_was_committed(path):
    filled(path)
    with opened(path) as store:
        pages = store.db.execute("PRAGMA page_count").fetchone()[0]
        store.db.execute(f"PRAGMA max_page_count = {pages + 40}")
        kept = fill_up(store)
        assert kept > 500
    with opened(path) as store:
        frontier = frontier_of(store)
        assert len(frontier) == frontier.ready == kept
        add_links(frontier, kept, 50)
        frontier.commit()
        assert len(frontier) == kept + 50
