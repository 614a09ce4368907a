"""A shared crawl seen from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from mmcrawl.cluster import (
    Heartbeat,
    Lease,
    Rules,
    heartbeats_of,
    leases_of,
    open_shared_store,
)
from mmcrawl.cluster.views import CrawlView, Observation, Observer
from mmcrawl.crawl import Totals
from tests.tables import each

from .memory import JOB, Gang, MadeWeb, made_lease, rows

BEGUN = {"started_at": 1.7e9, "finished_at": 0.0, "reason": ""}


def facts(pages: int, **more: int) -> str:
    return json.dumps({"totals": Totals(pages=pages, **more).as_plain()})


LEASES = (
    Lease(0, "ann", 1, busy=1, pages=25, facts=facts(25, waiting=9)),
    Lease(1, "ann", 4, pages=15, facts=facts(15)),
    Lease(2, "bob", 2, busy=1, pages=10, facts=facts(10, waiting=1)),
    Lease(7, fault="torn", facts=facts(0)),
)
ANN, BOB = Heartbeat(5, crawled=30), Heartbeat(9, crawled=10)


def look(
    observation: Observation,
    now: float,
    *,
    messages: int = 0,
    job: object = None,
    leases: tuple[Lease, ...] = LEASES,
    **heartbeats: Heartbeat,
) -> CrawlView:
    there = {lease.part: lease for lease in leases}
    observation.take(job or BEGUN, heartbeats, there, messages, now)  # type: ignore[arg-type]
    return observation.view


# -- who is alive -----------------------------------------------------------------------------


def test_one_look_tells_neither_who_is_alive_nor_how_fast() -> None:
    seen = Observation(JOB)
    view = look(seen, 100.0, ann=ANN, bob=BOB)
    assert (view.job.state, view.job.pages, view.pages_per_second) == ("", 50, None)
    assert [(one.name, one.alive) for one in view.workers] == [("ann", None), ("bob", None)]
    assert not seen.is_settled


def test_whose_heart_beats_is_alive_and_who_does_not_is_silent() -> None:
    seen = Observation(JOB)
    look(seen, 100.0, ann=ANN, bob=BOB)
    view = look(seen, 102.0, ann=replace(ANN, beat=7), bob=BOB)
    assert [one.alive for one in view.workers] == [True, None]
    assert view.job.state == "running"
    view = look(seen, 106.5, ann=replace(ANN, beat=9), bob=BOB)
    ann, bob = view.workers
    assert (ann.alive, ann.silent_seconds) == (True, 0.0)
    assert (bob.alive, bob.silent_seconds) == (False, 6.5)
    view = look(seen, 113.0, ann=replace(ANN, beat=9), bob=BOB)
    assert view.job.state == "silent"
    assert seen.is_settled


# -- how fast ---------------------------------------------------------------------------------


def test_a_rate_is_of_what_a_worker_fetched_not_of_parts_it_was_given() -> None:
    seen = Observation(JOB)
    look(seen, 100.0, ann=ANN, bob=BOB)
    look(seen, 101.0, ann=replace(ANN, beat=6), bob=replace(BOB, beat=10))
    assert not seen.is_settled
    given = (*LEASES[:2], replace(LEASES[2], owner="ann", pages=22, facts=facts(22)))
    ann, bob = Heartbeat(8, crawled=36), Heartbeat(12, crawled=16)
    view = look(seen, 103.0, leases=given, ann=ann, bob=bob)
    assert [one.pages_per_second for one in view.workers] == [3.0, 3.0]
    assert [(one.pages, one.busy) for one in view.workers] == [(62, 2), (0, 0)]
    assert (view.pages_per_second, view.job.pages) == (6.0, 62)
    assert seen.is_settled


def test_a_rate_is_of_the_last_seconds() -> None:
    seen = Observation(JOB)
    for second in range(40):
        crawled = 100 * min(second, 20)
        view = look(seen, float(second), ann=replace(ANN, beat=second, crawled=crawled))
    assert view.pages_per_second == 0.0


# -- where it stands --------------------------------------------------------------------------


def test_totals_are_of_all_partitions_and_those_are_counted_that_nobody_owns() -> None:
    seen = Observation(JOB)
    assert look(seen, 0.0, ann=ANN, bob=BOB).unowned == 0
    view = look(seen, 60.0, messages=12, ann=replace(ANN, beat=6), bob=BOB)
    assert (view.totals.pages, view.totals.waiting, view.messages) == (50, 10, 12)
    assert [(one.name, one.alive) for one in view.workers] == [("ann", True), ("bob", False)]
    assert view.unowned == 1, "those of a dead worker are nobody's"
    assert {part: one.epoch for part, one in view.workers[0].partitions.items()} == {0: 1, 1: 4}
    assert view.partitions[7].fault == "torn"


@each(
    "job, leases, heartbeats, state",
    [
        (BEGUN, (), {}, "starting"),
        (BEGUN | {"reason": "shutdown"}, (Lease(1),), {}, "stopped"),
        (BEGUN, (Lease(1, epoch=1),), {}, "stopped"),
        (BEGUN, LEASES, {}, "silent"),
        (BEGUN, LEASES, {"bob": BOB}, "silent"),
        (BEGUN | {"finished_at": 1.8e9, "reason": "finished"}, LEASES, {"ann": ANN}, "finished"),
    ],
)
def test_a_state_is_told_by_the_job_and_the_workers(
    job: dict[str, object],
    leases: tuple[Lease, ...],
    heartbeats: dict[str, Heartbeat],
    state: str,
) -> None:
    seen = Observation(JOB)
    look(seen, 0.0, job=job, leases=leases, **heartbeats)
    view = look(seen, 60.0, job=job, leases=leases, **heartbeats)
    assert (view.job.state, view.job.reason) == (state, job["reason"])
    assert seen.is_settled


# -- workers that are there -------------------------------------------------------------------


def watched(gang: Gang, seen: Observation) -> CrawlView:
    heartbeats = heartbeats_of(rows(gang.tables, "worker"))
    leases = leases_of(rows(gang.tables, "lease"))
    seen.take(BEGUN, heartbeats, leases, len(rows(gang.tables, "message")), gang.now)
    return seen.view


def test_a_crawl_of_workers_that_die_and_join_is_seen_whole() -> None:
    gang = Gang(MadeWeb(8, 60), Rules(parts=16, lease=20.0, rest=0.0))
    seen = Observation(JOB)
    workers = [gang.join() for _ in range(3)]
    messages = 0
    for _ in range(24):
        gang.pass_time()
        messages = max(messages, watched(gang, seen).messages)
    view = watched(gang, seen)
    assert messages > 0
    assert [one.alive for one in view.workers] == [True, True, True]
    assert view.unowned <= 1  # one is just being given
    rates = [one.pages_per_second or 0.0 for one in view.workers]
    assert sum(rates) == view.pages_per_second
    assert view.pages_per_second > 10
    workers[0].die()
    for _ in range(30):
        gang.pass_time()
        watched(gang, seen)
    assert watched(gang, seen).unowned > 0
    assert gang.run() == "finished"
    view = watched(gang, seen)
    assert (view.workers, view.totals.pages) == ((), len(gang.web.urls))
    assert view.totals.media_pages == len(gang.web.media)
    assert view.messages == 0


# -- a store ----------------------------------------------------------------------------------


@pytest.fixture
def observer(uri: str) -> Iterator[Observer]:
    for name in ("a", "a/b", "b"):
        with closing(open_shared_store(uri, job=name, arguments={})) as shared:
            shared.put("worker", f"w-{name}", Heartbeat(len(name)).row)
            made_lease(shared, 2, owner=f"w-{name}", pages=7)
            for number in range(len(name)):
                shared.insert("message", [shared.row_of(0, f"x/{number}", bytes=b"")])
    with Observer(uri) as opened:
        yield opened


def test_each_job_has_its_own_workers_and_messages(observer: Observer) -> None:
    assert observer.jobs() == ["a", "a/b", "b"]
    for name in observer.jobs():
        seen = Observation(name)
        observer.look(seen, 0.0)
        [worker] = seen.view.workers
        assert (worker.name, worker.heartbeat.beat) == (f"w-{name}", len(name))
        assert (worker.pages, [*worker.partitions]) == (7, [2])
        assert (seen.view.messages, seen.view.unowned) == (len(name), 0)
