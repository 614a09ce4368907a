"""Opening a shared store: jobs, and the sentences with which it is refused."""

from __future__ import annotations

import subprocess
import time

import pytest
from pymongo.collection import Collection
from pymongo.errors import OperationFailure

from mmcrawl.errors import StoreError
from mmcrawl.sharing import SCHEMA_VERSION, open_shared_store
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
    from mmcrawl.sharing.views import Observer

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
from mmcrawl.sharing.store import open_shared_store
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


# -- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 99])
def test_another_schema_is_refused(database, uri, version):
    open_shared_store(uri, job="j", arguments=ARGUMENTS).close()
    database["crawl_about"].update_one({"_id": "schema"}, {"$set": {"version": version}})
    age = "a newer" if version else "an older"
    message = refusal(uri)
    assert (
        f"was written by {age} version of mmcrawl (schema {version}, this one has {SCHEMA_VERSION})"
        in message
    )
    assert refusal(uri, arguments=None) == message
    with pytest.raises(StoreError, match="version of mmcrawl"):
        jobs(uri)


def test_what_another_program_keeps_is_no_store(database, uri):
    database["crawl_films"].insert_one({"_id": 1})
    assert "is not a store of mmcrawl" in refusal(uri)
    database.drop_collection("crawl_films")
    database["crawl_about"].insert_one({"_id": "schema", "films": 7})
    assert "is not a store of mmcrawl" in refusal(uri)
    assert "crawl_job" not in database.list_collection_names()


def test_a_server_that_does_not_answer_is_told_at_once():
    message = refusal("mongodb://me:s3cret@127.0.0.1:9/crawls?serverSelectionTimeoutMS=200")
    assert "store mongodb://127.0.0.1:9/crawls cannot be reached" in message


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("mongodb://me:s3cret@127.0.0.1:9", "names no database"),
        ("mongodb://me:s3cret@127.0.0.1:9/a.b", "has a dot"),
        ("mongodb://me:p@s3cret@127.0.0.1:9/a", "the URI of the store is not understood"),
        ("mongodb://me:9:s3cret/a", "not understood"),
        ("mongodb://[::1/a", "not understood"),
        ("mongodb:///a", "not understood"),
    ],
)
def test_a_uri_that_cannot_be_used(uri, reason):
    assert reason in refusal(uri)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OperationFailure("Authentication failed.", 18), "refuses the user name or password"),
        (OperationFailure("command insert requires authentication", 13), "asks who you are"),
        (OperationFailure("not authorized on a to execute", 13), "give the role readWrite"),
    ],
)
def test_a_server_that_refuses(uri, monkeypatch, error, reason):
    def insert_one(self, *args, **kwargs):
        raise error

    monkeypatch.setattr(Collection, "insert_one", insert_one)
    assert reason in refusal(uri)
