"""Opening a shared store: jobs, and the sentences with which it is refused."""

from __future__ import annotations

import subprocess
import time

import pytest

from mmcrawl.errors import StoreError
from mmcrawl.cluster import open_shared_store
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
        return observer.jobs()


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


def test_a_job_stops_for_all(stores):
    stores[0].stop_job("all is crawled", finished=True)
    assert stores[1].job.finished_at is None
    again = stores[1].refresh_job()
    assert again == stores[1].job == stores[0].job
    assert again.finished_at == pytest.approx(time.time(), abs=60)
    assert again.reason == "all is crawled"
    stores[1].stop_job("stopped", finished=False)
    assert (stores[0].refresh_job().finished_at, stores[0].job.reason) == (None, "stopped")


def test_looking_writes_nothing(database, uri):
    assert "there is no store" in refusal(uri, arguments=None)
    with pytest.raises(StoreError, match="there is no store"):
        jobs(uri)
    assert database.list_collection_names() == []
    open_shared_store(uri, job="j", arguments=ARGUMENTS).close()
    assert "there is no job 'k'" in refusal(uri, job="k", arguments=None)
    assert jobs(uri) == ["j"]
    looking = open_shared_store(uri, job="j", arguments=None)
    assert looking.job.arguments == ARGUMENTS
    assert looking.one("note", "over") is None
    assert (looking.all("worker"), looking.patterns(), list(looking.media_pages())) == ([], [], [])
    looking.close()


OPEN = """
import sys
from mmcrawl.cluster.store import open_shared_store
sys.stdin.readline()
shared = open_shared_store(sys.argv[1], job="j", arguments={"topic": "physics"})
row = {"_id": shared.key("0000/0"), "at": "j/0000", "owner": sys.argv[2]}
print(shared.insert("log", [row]) == set())
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
    assert [row["owner"] for row in looking.at("log", [0])] == [str(winner)]
    looking.close()
