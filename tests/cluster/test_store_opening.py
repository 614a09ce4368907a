"""Opening a shared store: jobs, and the sentences with which it is refused."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from contextlib import closing
from threading import Thread

import pytest

from mmcrawl.cluster import is_shared, open_shared_store
from mmcrawl.errors import StoreError
from mmcrawl.frontier import open_store
from tests.waiting import HANG
from tests.warm import python

ARGUMENTS = {"topic": "physics", "algo": "hits"}


def refusal(uri, *, job="j", arguments=ARGUMENTS):
    """Return the one sentence with which opening fails; it must not tell the password."""
    with pytest.raises(StoreError) as caught:
        open_shared_store(uri, job=job, arguments=arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert "s3cret" not in message
    return message


def jobs(uri):
    from mmcrawl.cluster.views import Observer

    with Observer(uri) as observer:
        return [job.name for job in observer.jobs()]


# -- jobs -------------------------------------------------------------------------------------


def test_a_job_is_begun_once_and_found_by_others(uri):
    with_lists = {"kinds": ("audio",), "most.pages": 5}
    first = open_shared_store(uri, job="j", arguments=with_lists)
    second = open_shared_store(uri, job="j", arguments=with_lists)
    assert first.job == second.job
    assert (first.job.number, first.job.name, first.job.finished_at) == (0, "j", None)
    assert first.job.arguments == {"kinds": ["audio"], "most.pages": 5}
    open_shared_store(uri, job="i", arguments=ARGUMENTS).close()
    assert jobs(uri) == ["j", "i"]
    first.close()
    second.close()


def test_other_arguments_are_refused_and_nothing_is_overwritten(uri):
    open_shared_store(uri, job="j", arguments=ARGUMENTS).close()
    message = refusal(uri, arguments={**ARGUMENTS, "topic": "history"})
    assert "was started with topic='physics', not 'history'" in message
    looking = open_shared_store(uri, job="j", arguments=None)
    assert looking.job.arguments == ARGUMENTS
    looking.close()


def test_looking_writes_nothing(uri):
    for _ in range(2):
        assert "there is no store" in refusal(uri, arguments=None)
    with pytest.raises(StoreError, match="there is no store"):
        jobs(uri)
    open_shared_store(uri, job="j", arguments=ARGUMENTS).close()
    assert "there is no job 'k'" in refusal(uri, job="k", arguments=None)
    assert jobs(uri) == ["j"]
    looking = open_shared_store(uri, job="j", arguments=None)
    assert looking.job.arguments == ARGUMENTS
    assert looking.one("worker", "over") is None
    assert looking.all("worker") == {}
    assert [*looking.media_pages()] == []
    looking.close()


OPEN = """
import sys
from mmcrawl.cluster.store import open_shared_store
sys.stdin.readline()
shared = open_shared_store(sys.argv[1], job="j", arguments={"topic": "physics"})
row = shared.row_of(0, "0", epoch=1, owner=sys.argv[2], bytes=b"")
print(shared.insert("log", dict([row])) == set())
"""


def test_processes_that_open_a_new_store_at_the_same_time_agree(uri):
    processes = [
        subprocess.Popen(
            [python(), "-c", OPEN, uri, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=HANG) for process in processes]
    assert sorted(out.strip() for out, _ in answers) == ["False"] * 3 + ["True"], answers
    winner = [out.strip() for out, _ in answers].index("True")
    looking = open_shared_store(uri, job="j", arguments=None)
    assert [row["owner"] for row in looking.at("log", [0]).values()] == [str(winner)]
    looking.close()


# -- files --------------------------------------------------------------------------------------


def test_a_file_of_one_process_is_not_shared_and_the_reverse(file_uri, tmp_path):
    open_shared_store(file_uri, job="j", arguments=ARGUMENTS).close()
    assert is_shared(file_uri)
    with pytest.raises(
        StoreError, match=r"keeps a crawl of several workers; continue it .*workers=N"
    ):
        open_store(file_uri)
    with pytest.raises(StoreError, match="keeps a crawl of several workers"):
        open_store(file_uri, read_only=True)
    alone = f"sqlite:///{tmp_path}/alone.db"
    open_store(alone).close()
    assert not is_shared(alone)
    assert "keeps a crawl of one process; continue it without workers=" in refusal(alone)
    assert "is not a store of mmcrawl" in refusal(f"sqlite:///{__file__}")
    assert "several workers cannot share memory:" in refusal("memory:")


def test_a_folder_of_another_machine_is_refused(file_uri, tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    monkeypatch.setattr("mmcrawl.store.sqlite_files._MOUNTS", mounts)
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nhost:/x {tmp_path} nfs4 rw 0 0\n")
    assert "is of another machine (nfs4)" in refusal(file_uri)
    mounts.write_text(f"host:/x / nfs rw 0 0\n/dev/sda {tmp_path} ext4 rw 0 0\n")
    open_shared_store(file_uri, job="j", arguments=ARGUMENTS).close()


def test_a_file_that_is_locked_is_waited_for(file_uri, tmp_path, caplog):
    shared = open_shared_store(file_uri, job="j", arguments=ARGUMENTS)
    shared._documents._db.execute("PRAGMA busy_timeout = 10")
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        thread = Thread(target=shared.put, args=("worker", "ann", {"beat": 1, "facts": "1"}))
        thread.start()
        while "is locked by another process; wait until it has ended; waiting" not in caplog.text:
            time.sleep(0.01)
        other.execute("ROLLBACK")
        thread.join(HANG)
    assert shared.one("worker", "ann")["facts"] == "1"
    shared.close()
