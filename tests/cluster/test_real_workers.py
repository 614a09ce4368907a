"""Several processes crawl a web together: all of it, each page once, and they come and go."""

from __future__ import annotations

import re
import signal
import sqlite3
from contextlib import closing

import pytest

from mmcrawl.cluster.views import FoundMedia

from .real_workers import JOB, wait_until

pytestmark = pytest.mark.processes

ALL = "Finished: every link that may be followed was fetched."


def relevant_pages(store) -> list[str]:
    """Return the media pages of a crawl in a file."""
    with closing(sqlite3.connect(store)) as db:
        return [url for (url,) in db.execute("SELECT url FROM page WHERE relevant ORDER BY url")]


def test_four_workers_find_what_one_finds_and_fetch_each_page_once(web, server_gang, tmp_path):
    gang = server_gang
    alone = gang.start(uri=f"sqlite:///{tmp_path / 'alone.db'}", workers="")
    assert ALL in alone.ends()
    assert web.again() == {}
    web.forget()
    web.slow_down(4.0)  # all must have got hosts before three of them have fetched all there is
    web.shut()
    workers = [gang.start() for _ in range(4)]
    observer = gang.observer()
    wait_until(lambda: len(observer.view.workers) == 4, "four workers to join")
    web.open()
    for worker in workers:
        wait_until(lambda w=worker: w.seen(observer.view)[0], "each worker to fetch a page")
    gang.finish(observer)
    for worker in workers:
        assert ALL in worker.said
        assert worker.process.returncode == 0
        assert "Traceback" not in worker.said
    assert web.again() == {}
    job = observer.shared.refresh_job()
    assert (job.finished_at is not None, job.reason) == (True, "finished")
    assert sorted(observer.media()) == relevant_pages(tmp_path / "alone.db")
    assert observer.shared.names("worker") == ["over"]


def test_near_misses_are_those_of_one_alone_and_a_finished_crawl_says_so(web, file_gang, tmp_path):
    alone, high = f"sqlite:///{tmp_path / 'alone.db'}", 0.9
    file_gang.start(f"MMCRAWL_TOPIC_THRESHOLD={high}", uri=alone, workers="").ends()
    file_gang.start(f"MMCRAWL_TOPIC_THRESHOLD={high}").ends()
    shared, own = (FoundMedia(uri).near_misses(high) for uri in (file_gang.uri, alone))
    assert shared == own != []
    web.forget()
    said = file_gang.start(f"MMCRAWL_TOPIC_THRESHOLD={high}").ends()
    assert f"Job {JOB} was finished before" in said
    assert re.search(rf"pages crawled +{len(web.urls)}\b", said)
    assert not web.visits


def test_a_worker_joins_late_and_leaves_early(web, file_gang):
    web.slow_down()
    first = file_gang.start()
    observer = file_gang.observer()
    wait_until(lambda: len(web.fetched) > 8, "the first worker to crawl")
    second = file_gang.start()
    wait_until(lambda: second.seen(observer.view)[0] > 2, "hosts to move to the second worker")
    second.signal(signal.SIGTERM)
    assert "run the same command to continue" in second.ends()
    file_gang.finish(observer)
    assert ALL in first.said
    assert web.again() == {}


def test_max_pages_counts_the_pages_of_all_workers(web, server_gang):
    web.slow_down()
    workers = [server_gang.start(max_pages=150) for _ in range(3)]
    observer = server_gang.observer()
    wait_until(lambda: len(observer.view.workers) == 3, "all to have joined")
    web.release()
    for worker in workers:
        assert "Stopped at max_pages; raise it" in worker.ends()
    assert len(web.fetched) == 150
    assert observer.view.totals.pages == 150
    assert observer.shared.refresh_job().finished_at is None
    assert "Stopped at max_pages; raise it" in server_gang.start(max_pages=150).ends()
    assert len(web.fetched) == 150
    assert ALL in server_gang.start().ends()
    assert web.again() == {}
