"""A shared crawl seen from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from mmcrawl.cluster import Heartbeat, Rules, SharedStore, open_shared_store
from mmcrawl.cluster.views import CrawlView, Observer
from mmcrawl.crawl import Totals
from tests.tables import each

from .memory import JOB, Gang, MadeWeb, MemoryDocuments, Tables, made_lease, memory_store


def facts(pages: int, **more: int) -> dict[str, Any]:
    return {"totals": Totals(pages=pages, **more).as_plain()}


@pytest.fixture
def observer_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Tables], Observer]:
    """Return how to look at a store in RAM."""

    def made(tables: Tables) -> Observer:
        documents = MemoryDocuments(tables)
        opening = "mmcrawl.cluster.views.observing.open_contents"
        monkeypatch.setattr(opening, lambda uri, create: documents)
        return Observer("")

    return made


class Crawl:
    """A crawl in RAM, and who looks at it."""

    def __init__(self, observer_of: Callable[[Tables], Observer], reason: str = "") -> None:
        tables: Tables = {}
        self.shared: SharedStore = memory_store(tables)
        self.shared.begin({})
        if reason:
            self.shared.stop_job(reason, finished=reason == "finished")
        self._observer = observer_of(tables)

    def leases(self) -> Crawl:
        for partition, owner, epoch, busy, pages, waiting in (
            (0, "ann", 1, 1, 25, 9),
            (1, "ann", 4, 0, 15, 0),
            (2, "bob", 2, 1, 10, 1),
        ):
            told = {"owner": owner, "epoch": epoch, "busy": busy, "pages": pages}
            made_lease(self.shared, partition, **told, facts=facts(pages, waiting=waiting))
        made_lease(self.shared, 7, fault="torn", facts=facts(0))
        return self

    def look(self, now: float, **beats: Heartbeat) -> CrawlView:
        """Look after the hearts of some have beaten."""
        for name, beat in beats.items():
            self.shared.put("worker", name, beat.row)
        return self._observer.look(JOB, now)


# -- who is alive, and how fast ---------------------------------------------------------------


def test_whose_heart_beats_is_alive_and_who_does_not_is_silent(observer_of) -> None:
    crawl = Crawl(observer_of).leases()
    view = crawl.look(100.0, ann=Heartbeat(5), bob=Heartbeat(9))
    assert (view.job.state, view.job.pages, view.pages_per_second) == ("", 50, None)
    assert [(one.name, one.alive) for one in view.workers] == [("ann", None), ("bob", None)]
    assert not view.is_settled
    view = crawl.look(102.0, ann=Heartbeat(7, rate=3.0))
    assert [one.alive for one in view.workers] == [True, None]
    assert view.job.state == "running"
    assert not view.is_settled
    view = crawl.look(106.5, ann=Heartbeat(9, rate=2.5))
    ann, bob = view.workers
    assert (ann.alive, ann.silent_seconds, ann.pages_per_second) == (True, 0.0, 2.5)
    assert (bob.alive, bob.silent_seconds) == (False, 6.5)
    assert (view.pages_per_second, view.is_settled) == (2.5, True)
    view = crawl.look(113.0)
    assert (view.job.state, view.pages_per_second, view.is_settled) == ("silent", None, True)


def test_totals_are_of_all_partitions_and_those_are_counted_that_nobody_owns(observer_of) -> None:
    crawl = Crawl(observer_of).leases()
    assert crawl.look(0.0, ann=Heartbeat(1), bob=Heartbeat(1)).unowned == 0
    messages = (crawl.shared.row_of(2, str(n), bytes=b"") for n in range(12))
    crawl.shared.insert("message", dict(messages))
    view = crawl.look(60.0, ann=Heartbeat(2))
    assert (view.totals.pages, view.totals.waiting, view.messages) == (50, 10, 12)
    assert [(one.name, one.alive) for one in view.workers] == [("ann", True), ("bob", False)]
    assert view.unowned == 1, "those of a dead worker are nobody's"
    assert [(one.pages, one.busy) for one in view.workers] == [(40, 1), (10, 1)]
    assert {partition: one.epoch for partition, one in view.workers[0].partitions.items()} == {
        0: 1,
        1: 4,
    }
    assert view.partitions[7].fault == "torn"


@each(
    "reason, taken, owned, beats, state",
    [
        ("", False, False, {}, "starting"),
        ("shutdown", False, False, {}, "stopped"),
        ("", True, False, {}, "stopped"),
        ("", True, True, {}, "silent"),
        ("", True, True, {"bob": Heartbeat(9)}, "silent"),
        ("finished", True, True, {"ann": Heartbeat(9)}, "finished"),
    ],
)
def test_a_state_is_told_by_the_job_and_the_workers(
    observer_of, *, reason: str, taken: bool, owned: bool, beats: dict[str, Heartbeat], state: str
) -> None:
    crawl = Crawl(observer_of, reason)
    if taken:
        made_lease(crawl.shared, 1, epoch=1, owner="bob" if owned else "")
    crawl.look(0.0, **beats)
    view = crawl.look(60.0)
    assert (view.job.state, view.job.reason) == (state, reason)
    assert view.is_settled


# -- workers that are there -------------------------------------------------------------------


def test_a_crawl_of_workers_that_die_and_join_is_seen_whole(observer_of) -> None:
    gang = Gang(MadeWeb(8, 60), Rules(partitions=16, lease=20.0, rest=0.0))
    observer = observer_of(gang.tables)
    workers = [gang.join() for _ in range(3)]
    messages = 0
    for _ in range(24):
        gang.pass_time()
        messages = max(messages, observer.look(JOB, gang.now).messages)
    view = observer.look(JOB, gang.now)
    assert messages > 0
    assert [one.alive for one in view.workers] == [True, True, True]
    assert view.unowned <= 1  # one is just being given
    rates = [one.pages_per_second or 0.0 for one in view.workers]
    assert sum(rates) == view.pages_per_second
    assert view.pages_per_second > 10
    workers[0].die()
    for _ in range(30):
        gang.pass_time()
        view = observer.look(JOB, gang.now)
    assert view.unowned > 0
    assert gang.run() == "finished"
    view = observer.look(JOB, gang.now)
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
                shared.insert("message", dict([shared.row_of(0, f"x/{number}", bytes=b"")]))
    with Observer(uri) as opened:
        yield opened


def test_each_job_has_its_own_workers_and_messages(observer: Observer) -> None:
    names = [job.name for job in observer.jobs()]
    assert names == ["a", "a/b", "b"]
    for name in names:
        view = observer.look(name, 0.0)
        [worker] = view.workers
        assert (worker.name, worker.heartbeat.beat) == (f"w-{name}", len(name))
        assert (worker.pages, [*worker.partitions]) == (7, [2])
        assert (view.messages, view.unowned) == (len(name), 0)
