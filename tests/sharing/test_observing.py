"""A shared crawl seen from outside: what one look tells, and what several do."""

from __future__ import annotations

from typing import Any

from mmcrawl.crawling.reports import Totals
from mmcrawl.sharing.observing import CrawlView, Observation, WorkerView

ANN, BOB = "ann-1-aa", "bob-2-bb"


class Scene:
    """A job whose documents a test changes between looks."""

    def __init__(self) -> None:
        self.job: dict[str, Any] = {"started_at": 100.0, "finished_at": None, "reason": ""}
        self.leader: dict[str, Any] = {"term": 2, "worker": ANN, "sign": 40}
        self.pages = {ANN: 10, BOB: 5}
        self.signs: dict[str, int] = {ANN: 41, BOB: 30}
        self.observation = Observation("j")
        self.now = 1_000.0

    def look(self, seconds: float = 0.0) -> CrawlView:
        self.now += seconds
        status: dict[str, Any] = {}
        if self.leader:
            workers = {
                name: {"hosts": 3, "leased": 7, "pages": pages}
                for name, pages in self.pages.items()
            }
            totals = Totals(pages=sum(self.pages.values())).as_plain()
            status = {"totals": totals, "workers": workers}
        self.observation.take(self.job, self.leader, status, self.signs, self.now)
        return self.observation.view

    def go_on(self, *names: str, pages: int = 0, seconds: float = 1.0) -> CrawlView:
        """Look after a second in which some gave a sign and crawled pages."""
        for name in names:
            self.signs[name] += 1
            self.pages[name] += pages
        self.leader["sign"] += ANN in names
        return self.look(seconds)


def worker(view: CrawlView, name: str) -> WorkerView:
    return {worker.name: worker for worker in view.workers}[name]


def test_one_look_tells_neither_who_is_alive_nor_rates() -> None:
    view = Scene().look()
    assert (view.job.state, view.coordinator, view.term, view.term_seconds) == ("", ANN, 2, 40)
    assert (view.totals.pages, view.pages_per_second) == (15, None)
    assert worker(view, BOB) == WorkerView(BOB, None, 0.0, 3, 7, 5, None)


def test_rates_are_those_between_numbers_whose_coming_was_seen() -> None:
    scene = Scene()
    scene.look()
    scene.go_on(ANN, BOB, pages=100, seconds=0.1)  # of which the first look saw an older state
    assert not scene.observation.is_settled
    scene.go_on(ANN, BOB, pages=4)
    view = scene.go_on(ANN, BOB, pages=4)
    assert scene.observation.is_settled
    assert view.job.state == "running"
    assert worker(view, BOB).alive
    assert worker(view, BOB).pages_per_second == 4.0
    assert view.pages_per_second == 8.0


def test_a_rate_is_that_of_the_last_seconds() -> None:
    scene = Scene()
    scene.look()
    for pages in [50] * 5 + [1] * 15:
        view = scene.go_on(ANN, BOB, pages=pages)
    assert worker(view, ANN).pages_per_second == 1.0


def test_a_worker_without_a_new_sign_is_silent() -> None:
    scene = Scene()
    for _ in range(4):
        assert worker(scene.go_on(ANN), BOB).alive is None
    scene.go_on(ANN)
    view = scene.go_on(ANN)
    assert scene.observation.is_settled
    assert (worker(view, ANN).alive, worker(view, BOB).alive) == (True, False)
    assert worker(view, BOB).silent_seconds == 5.0
    assert worker(scene.go_on(ANN, BOB), BOB).alive is True


def test_a_coordinator_without_a_new_sign_is_silent_and_its_numbers_are_old() -> None:
    scene = Scene()
    for _ in range(3):
        scene.go_on(ANN, BOB, pages=2)
    for _ in range(5):
        view = scene.go_on(BOB)
    assert view.job.state == "silent"
    assert (view.pages_per_second, worker(view, BOB).pages_per_second) == (None, None)
    assert worker(view, BOB).alive is True


def test_who_died_long_ago_is_not_told_of() -> None:
    scene = Scene()
    scene.signs["old-9-zz"] = 3
    for _ in range(6):
        view = scene.go_on(ANN, BOB)
    assert [worker.name for worker in view.workers] == [ANN, BOB]


def test_a_worker_that_has_just_come_is_told_of() -> None:
    scene = Scene()
    scene.go_on(ANN)
    scene.signs["new-3-cc"] = 1
    scene.look(0.5)
    scene.signs["new-3-cc"] = 2
    view = scene.look(0.5)
    assert (worker(view, "new-3-cc").alive, worker(view, "new-3-cc").pages) == (True, 0)


def test_of_a_finished_job_one_look_is_enough_and_nobody_works_on_it() -> None:
    scene = Scene()
    scene.job.update(finished_at=200.0, reason="finished")
    scene.leader.update(gone=True, sign=-1)
    view = scene.look()
    assert scene.observation.is_settled
    assert (view.job.state, view.workers, view.term_seconds) == ("finished", (), 0)


def test_a_stopped_job_and_one_that_has_no_coordinator_yet() -> None:
    scene = Scene()
    scene.signs.clear()
    scene.job["reason"] = "max_pages"
    scene.leader.update(gone=True, sign=-1)
    assert (scene.look().job.state, scene.look().job.reason) == ("stopped", "max_pages")
    scene.leader.clear()
    view = scene.look()
    assert (view.job.state, view.coordinator, view.workers) == ("starting", "", ())
    assert scene.observation.is_settled
