"""Whoever is dead is found out, also by one who is held up all the time; whoever is not, is not."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.frontier import Job
from mmcrawl.sharing.coordinator import _Watch

from .leading import Leading, Memory
from .test_shared_crawl import Laboratory

LEASE = 15.0


class Clock:
    """The monotonic clock, which stands still unless it is put on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def leading(clock: Clock, tmp_path: Path):
    laboratory = Laboratory(tmp_path, "breadth")
    made = Leading(laboratory, tmp_path / "copy", LEASE)
    yield made
    made.leader.__exit__()
    laboratory.close()


def steps(leading: Leading, clock: Clock, seconds: float, most: int, *, alive: bool) -> int:
    """Let steps take so long; return after how many bob's links were taken from him."""
    for step in range(most):
        clock.now += seconds
        if alive:
            leading.beat()
        assert leading.leader.step()
        if not leading.held():
            return step + 1
    return 0


@pytest.mark.parametrize("seconds", [0.5, 0.6 * LEASE, 3 * LEASE])
def test_a_dead_worker_is_noticed_however_long_a_step_takes(
    leading: Leading, clock: Clock, seconds: float
) -> None:
    assert leading.held()
    assert steps(leading, clock, seconds, 40, alive=False) in range(2, 33)


@pytest.mark.parametrize("seconds", [0.6 * LEASE, 3 * LEASE])
def test_a_living_worker_is_not_given_up_by_a_slow_coordinator(
    leading: Leading, clock: Clock, seconds: float
) -> None:
    assert steps(leading, clock, seconds, 20, alive=True) == 0


def test_a_worker_gets_time_for_a_sign_after_the_coordinator_was_held_up(
    leading: Leading, clock: Clock
) -> None:
    assert steps(leading, clock, 10 * LEASE, 1, alive=False) == 0
    assert steps(leading, clock, 1.0, 6, alive=False) == 0
    assert steps(leading, clock, 1.0, 1, alive=True) == 0
    assert steps(leading, clock, 1.0, 12, alive=False) == 0


class Followed(Memory):
    """A shared store somebody led on, and gives no sign any more."""

    def refresh_job(self) -> Job:
        return self.job

    def leader(self) -> dict[str, Any]:
        return {"term": 1, "worker": "ann", "sign": 5}


def test_a_dead_coordinator_is_noticed_by_one_whose_looks_take_long(clock: Clock) -> None:
    watch = _Watch(Followed(), LEASE)
    seen = []
    for _ in range(6):
        watch.look()
        seen.append(watch.nobody_leads)
        clock.now += 0.6 * LEASE
    assert seen == [False, False, False, True, True, True]
