"""A shared crawl seen from outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from mmcrawl.cluster import Rules, Sign, open_shared_store, signs_of
from mmcrawl.cluster.views import CrawlView, Observation, Observer
from mmcrawl.crawl import Totals
from tests.tables import each

from .memory import JOB, Gang, MadeWeb, rows

BEGUN = {"started_at": 1.7e9, "finished_at": 0.0, "reason": ""}


def told(pages: int, **more: int) -> dict[str, object]:
    return Totals(pages=pages, **more).as_plain()


def look(
    observation: Observation, now: float, *, mail: int = 0, job: object = None, **signs: Sign
) -> CrawlView:
    observation.take(job or BEGUN, signs, mail, now)  # type: ignore[arg-type]
    return observation.view


ANN = Sign(number=5, parts={0: 1, 1: 4}, active=1, pages=40, crawled=30, totals=told(40, waiting=9))
BOB = Sign(number=9, parts={2: 2}, active=1, pages=10, crawled=10, totals=told(10, waiting=1))


# -- who is alive -----------------------------------------------------------------------------


def test_one_look_tells_neither_who_is_alive_nor_how_fast() -> None:
    seen = Observation(JOB, parts=4)
    view = look(seen, 100.0, ann=ANN, bob=BOB)
    assert (view.job.state, view.job.pages, view.pages_per_second) == ("", 50, None)
    assert [(one.name, one.alive) for one in view.workers] == [("ann", None), ("bob", None)]
    assert not seen.is_settled


def test_who_gives_another_sign_is_alive_and_who_does_not_is_silent() -> None:
    seen = Observation(JOB, parts=4)
    look(seen, 100.0, ann=ANN, bob=BOB)
    view = look(seen, 102.0, ann=replace(ANN, number=7), bob=BOB)
    assert [one.alive for one in view.workers] == [True, None]
    assert view.job.state == "running"
    view = look(seen, 104.5, ann=replace(ANN, number=9), bob=BOB)
    ann, bob = view.workers
    assert (ann.alive, ann.silent_seconds) == (True, 0.0)
    assert (bob.alive, bob.silent_seconds) == (False, 4.5)
    view = look(seen, 109.0, ann=replace(ANN, number=9), bob=BOB)
    assert view.job.state == "silent"
    assert seen.is_settled


# -- how fast ---------------------------------------------------------------------------------


def test_a_rate_is_of_what_a_worker_fetched_not_of_parts_it_was_given() -> None:
    seen = Observation(JOB, parts=4)
    look(seen, 100.0, ann=ANN, bob=BOB)
    look(seen, 101.0, ann=replace(ANN, number=6), bob=replace(BOB, number=10))
    assert not seen.is_settled
    given = {"parts": {0: 1, 1: 4, 2: 3}, "pages": 62, "totals": told(62)}
    ann = replace(ANN, number=8, crawled=36, **given)  # type: ignore[arg-type]
    bob = replace(BOB, number=12, crawled=16, parts={}, pages=0, totals={})
    view = look(seen, 103.0, ann=ann, bob=bob)
    assert [one.pages_per_second for one in view.workers] == [3.0, 3.0]
    assert (view.pages_per_second, view.job.pages) == (6.0, 62)
    assert seen.is_settled


def test_a_rate_is_of_the_last_seconds() -> None:
    seen = Observation(JOB, parts=4)
    for second in range(40):
        crawled = 100 * min(second, 20)
        view = look(seen, float(second), ann=replace(ANN, number=second, crawled=crawled))
    assert view.pages_per_second == 0.0


# -- where it stands --------------------------------------------------------------------------


def test_totals_are_of_all_workers_dead_and_gone_ones_too() -> None:
    seen = Observation(JOB, parts=4)
    gone = replace(BOB, gone=True)
    look(seen, 0.0, ann=ANN, bob=gone, eve=BOB)
    view = look(seen, 60.0, ann=replace(ANN, number=6), bob=gone, eve=BOB)
    assert (view.totals.pages, view.totals.waiting) == (60, 11)
    assert [(one.name, one.alive) for one in view.workers] == [("ann", True), ("eve", False)]


def test_parts_are_counted_that_nobody_has() -> None:
    seen = Observation(JOB, parts=8)
    ann = replace(ANN, gives={"bob": {3: 7}}, aside=[4])
    assert look(seen, 0.0, ann=ann, bob=BOB).unowned == 3
    view = look(seen, 60.0, ann=replace(ann, number=6), bob=BOB)
    assert view.unowned == 4, "those of a dead worker are nobody's"
    assert view.workers[0].sign.aside == [4]
    assert look(seen, 61.0, mail=12, ann=ann, bob=BOB).mail == 12


@each(
    "job, signs, state",
    [
        (BEGUN, {}, "starting"),
        (BEGUN | {"reason": "shutdown"}, {}, "stopped"),
        (BEGUN | {"reason": "shutdown"}, {"ann": replace(ANN, gone=True)}, "stopped"),
        (BEGUN, {"ann": replace(ANN, gone=True), "bob": BOB}, "silent"),
        (BEGUN | {"finished_at": 1.8e9, "reason": "finished"}, {"ann": ANN}, "finished"),
    ],
)
def test_a_state_is_told_by_the_job_and_the_signs(
    job: dict[str, object], signs: dict[str, Sign], state: str
) -> None:
    seen = Observation(JOB, parts=4)
    look(seen, 0.0, job=job, **signs)
    view = look(seen, 60.0, job=job, **signs)
    assert (view.job.state, view.job.reason) == (state, job["reason"])
    assert seen.is_settled


# -- workers that are there -------------------------------------------------------------------


def watched(gang: Gang, seen: Observation) -> CrawlView:
    signs = signs_of(rows(gang.tables, "worker"))
    seen.take(BEGUN, signs, len(rows(gang.tables, "mail")), gang.now)
    return seen.view


def test_a_crawl_of_workers_that_die_and_join_is_seen_whole() -> None:
    gang = Gang(MadeWeb(8, 60), Rules(parts=16, lease=9.0, rest=0.0))
    seen = Observation(JOB, parts=16)
    workers = [gang.join() for _ in range(3)]
    letters = 0
    for _ in range(24):
        gang.pass_time()
        letters = max(letters, watched(gang, seen).mail)
    view = watched(gang, seen)
    assert letters > 0
    assert [one.alive for one in view.workers] == [True, True, True]
    assert view.unowned == 0
    parts = [part for one in view.workers for part in one.sign.parts]
    assert len(parts) == len({*parts}) <= 16
    rates = [one.pages_per_second or 0.0 for one in view.workers]
    assert sum(rates) == view.pages_per_second
    assert view.pages_per_second > 10
    workers[0].die()
    for _ in range(18):
        gang.pass_time()
        watched(gang, seen)
    assert watched(gang, seen).unowned > 0
    assert gang.run() == "finished"
    view = watched(gang, seen)
    assert (view.workers, view.totals.pages) == ((), len(gang.web.urls))
    assert view.totals.media_pages == len(gang.web.media)
    assert (view.job.state, view.mail) == ("stopped", 0)


# -- a store ----------------------------------------------------------------------------------


@pytest.fixture
def observer(uri: str) -> Iterator[Observer]:
    for name in ("a", "a/b", "b"):
        with closing(open_shared_store(uri, job=name, arguments={})) as shared:
            shared.put("worker", f"w-{name}", {"facts": replace(ANN, pages=len(name)).encode()})
            shared.put("worker", "torn", {"facts": "{}"})
            shared.put("worker", "empty", {"facts": ""})
            for number in range(len(name)):
                shared.put("mail", f"0000/{number}", {"at": shared.key("0000"), "bytes": b""})
    with Observer(uri) as opened:
        yield opened


def test_each_job_has_its_own_workers_and_mail(observer: Observer) -> None:
    assert observer.jobs() == ["a", "a/b", "b"]
    for name in observer.jobs():
        seen = Observation(name)
        observer.look(seen, 0.0)
        [worker] = seen.view.workers
        assert (worker.name, worker.sign.pages) == (f"w-{name}", len(name))
        assert (seen.view.mail, seen.view.parts, seen.view.unowned) == (len(name), 1_024, 1_022)
