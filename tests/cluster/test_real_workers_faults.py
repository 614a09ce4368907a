"""Workers are killed and held up, the server goes away: nothing is lost, nothing found twice."""

from __future__ import annotations

import random
import signal
import time
from itertools import pairwise
from urllib.parse import urlsplit

import pytest

from .real_workers import LEASE, TELLING, Gang, Observer, Web, wait_until
from .test_real_workers import ALL
from .test_store_patience import Proxy

pytestmark = pytest.mark.processes

KILLS = 8


@pytest.fixture
def proxy(server_uri):
    """Return a way to the server that can be cut."""
    partitions = urlsplit(server_uri)
    opened = Proxy((partitions.hostname, partitions.port or 27017))
    yield opened
    opened.close()


def through(proxy: Proxy, uri: str) -> str:
    """Return the URI of a store behind a proxy."""
    name = urlsplit(uri).path
    return f"mongodb://127.0.0.1:{proxy.port}{name}?directConnection=true"


def check_end(web: Web, gang: Gang, observer: Observer) -> None:
    """Check what must hold at the end of a crawl, whatever befell it."""
    assert web.fetched.keys() == web.urls
    assert observer.too_often(web) == {}
    media = observer.media()
    assert len(media) == len(set(media)) == observer.view.totals.media_pages
    assert set(media) == web.media
    job = observer.shared.refresh_job()
    assert (job.finished_at is not None, job.reason) == (True, "finished")
    assert observer.view.totals.pages == len(web.urls)
    for worker in gang.workers:
        assert worker.is_killed or ALL in worker.said
        assert "Traceback" not in worker.said


def test_kills_lose_nothing(web, gang):
    chance = random.Random(20)
    web.slow_down()
    for _ in range(4):
        gang.start()
    observer = gang.observer()
    wait_until(lambda: len(observer.view.workers) >= 4, "four workers to join")
    web.delay = 0.1
    for number in range(KILLS):
        goal = min((number + 1) * len(web.urls) // (KILLS + 1), len(web.urls) - 1)
        wait_until(lambda goal=goal: len(web.fetched) >= goal, "the next pages")
        time.sleep(chance.uniform(0, 0.5))
        alive = [worker for worker in gang.workers if worker.process.poll() is None]
        chance.choice(alive).signal(signal.SIGKILL)
        observer.upset()
        gang.start()
    gang.finish(observer)
    check_end(web, gang, observer)


def test_a_server_that_is_away_for_longer_than_leases_only_delays(web, server_gang, proxy):
    web.slow_down()
    for _ in range(2):
        server_gang.start(uri=through(proxy, server_gang.uri))
    observer = server_gang.observer()
    for worker in server_gang.workers:
        wait_until(lambda w=worker: w.seen(observer.view)[0], "each worker to fetch a page")
    proxy.cut()
    observer.upset()
    time.sleep(2 * LEASE)
    proxy.open.set()
    for worker in server_gang.workers:
        wait_until(lambda w=worker: "answers again" in w.said, "a worker to reach the server")
    before = len(observer.known())
    wait_until(lambda: len(observer.known()) > before, "the crawl to go on")
    proxy.flowing.clear()
    time.sleep(1.5 * LEASE)
    proxy.flowing.set()
    server_gang.finish(observer)
    check_end(web, server_gang, observer)


@pytest.mark.parametrize("web", [(8, 10)], indirect=True)
def test_a_host_never_sees_two_requests_at_once_or_too_close(web, file_gang):
    gang, delay = file_gang, 1.0
    polite = (
        TELLING,
        f"DOWNLOAD_DELAY={delay}",
        "CONCURRENT_REQUESTS_PER_DOMAIN=1",
        "RANDOMIZE_DOWNLOAD_DELAY=0",
    )
    for _ in range(3):
        gang.start(*polite)
    observer = gang.observer()
    wait_until(lambda: len(web.fetched) > 20, "some pages")
    victim = next(w for w in gang.workers if w.seen(observer.view)[0])
    victim.signal(signal.SIGKILL)
    gang.start(*polite)
    wait_until(lambda: len(web.fetched) > 35, "more pages")
    next(w for w in gang.workers if not w.is_killed).signal(signal.SIGTERM)
    for worker in gang.workers:
        assert worker.is_killed or worker.ends()
    assert web.fetched.keys() == web.urls
    for host in {visit.host for visit in web.visits}:
        visits = sorted((v for v in web.visits if v.host == host), key=lambda visit: visit.began)
        for earlier, later in pairwise(visits):
            assert later.began >= earlier.ended, host
        visits.sort(key=lambda visit: visit.allowed)
        pages = [visit for visit in visits if not visit.url.endswith("/robots.txt")]
        after_pages = [pair for pair in pairwise(visits) if pair[0] in pages]
        for earlier, later in (*pairwise(pages), *after_pages):  # no delay after robots.txt
            gap = later.allowed - earlier.allowed
            assert gap >= 0.999 * delay, host  # the clock's own roundings


def test_a_worker_whose_server_is_gone_says_so_and_ends(web, server_gang, proxy):
    assert "cannot be reached" in server_gang.start(uri="mongodb://127.0.0.1:1/nowhere").ends()
    web.slow_down()
    worker = server_gang.start("LOG_LEVEL=DEBUG", uri=through(proxy, server_gang.uri))
    server_gang.observer()
    wait_until(lambda: len(web.fetched) > 5, "some pages")
    proxy.cut()
    wait_until(lambda: "waiting for it" in worker.said, "a word of the server")
    worker.signal(signal.SIGINT)
    wait_until(lambda: "Closing spider (shutdown)" in worker.said, "the worker to take leave")
    worker.signal(signal.SIGINT)
    said = worker.ends()
    assert "Traceback" not in said
    assert "pymongo" not in said
