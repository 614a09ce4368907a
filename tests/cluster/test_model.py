"""Shared crawls, step by step in all orders, with trouble between any two operations.

Whatever happens, no link may be lost, no two workers may own a partition, and in the end all
pages are crawled.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mmcrawl.cluster import Rules

from .memory import MadeWeb
from .trouble import TroubledGang, TroubledWorker

LEASE = 4.0
SECONDS = st.sampled_from([0, 1, 2, 6])
OPERATIONS = st.integers(0, 40)
WHICH = st.integers(0, 4)


class SharedCrawls(RuleBasedStateMachine):
    """A crawl whose workers come and go."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        numbers = itertools.count()
        self._patch.setattr("secrets.token_hex", lambda size: f"{next(numbers):0{2 * size}x}")
        self._patch.setattr("mmcrawl.cluster.exchange._SMALLEST_LOG", 1_500)
        self._patch.setattr("mmcrawl.cluster.worker._STEPS_AT_ONCE", 3)
        self._patch.setattr("secrets.randbits", lambda size: next(numbers))
        self._patch.setattr("mmcrawl.crawl.history._SCORED_AT_ONCE", 2)
        self.gang: TroubledGang | None = None

    @initialize(
        seed=st.integers(0, 1 << 16),
        hosts=st.integers(1, 4),
        pages=st.integers(1, 12),
        partitions=st.integers(1, 6),
        most=st.sampled_from([0, 0, 3, 8, 20]),
        a_step=st.integers(1, 4),
        workers=st.integers(1, 3),
    )
    def begin(
        self,
        *,
        seed: int,
        hosts: int,
        pages: int,
        partitions: int,
        most: int,
        a_step: int,
        workers: int,
    ) -> None:
        web = MadeWeb(hosts, pages, seed)
        rules = Rules(partitions=partitions, lease=LEASE, rest=0.5, max_pages=most)
        self.gang = TroubledGang(web, rules, seed=seed)
        self.gang.pages_a_step = a_step
        for _ in range(workers):
            self.gang.join()
        self.pass_time(0.25, 6)

    def worker(self, index: int) -> TroubledWorker | None:
        workers = [*self.gang.workers.values()]
        return workers[index % len(workers)] if workers else None

    @precondition(lambda self: len(self.gang.workers) < 5)
    @rule()
    def join(self) -> None:
        self.gang.join()

    @rule(seconds=st.sampled_from([0.25, 0.5, 1.0, 5.0]), times=st.integers(1, 6))
    def pass_time(self, seconds: float, times: int) -> None:
        if seconds * 1.5 > LEASE:
            self.gang.harmed = True
        for _ in range(times):
            self.gang.pass_time(seconds)
            self.gang.see_off()

    @rule(
        index=WHICH,
        action=st.sampled_from(["crawl", "correspond", "live"]),
        seconds=st.sampled_from([0.0, 0.1, 1.0]),
    )
    def act(self, index: int, action: str, seconds: float) -> None:
        self.gang.now += seconds
        if worker := self.worker(index):
            worker.act(action)

    @rule(
        index=WHICH,
        kind=st.sampled_from(["crash", "hold", "again", "crawl"]),
        at=OPERATIONS,
        seconds=SECONDS,
    )
    def trouble(self, index: int, kind: str, at: int, seconds: int) -> None:
        if worker := self.worker(index):
            worker.trouble(kind, at, seconds)

    @rule(index=WHICH, asleep=st.booleans())
    def sleep_or_wake(self, index: int, asleep: bool) -> None:
        if worker := self.worker(index):
            worker.asleep = asleep
            self.gang.harmed = True

    @rule(index=WHICH, after=st.integers(0, 3), seconds=st.sampled_from([6, 9]))
    def oversleep(self, index: int, after: int, seconds: int) -> None:
        """Let a worker fetch, and sleep until others have its partitions."""
        self.sleep_or_wake(index, asleep=False)
        if worker := self.worker(index):
            for _ in range(after):
                worker.act("crawl")
            worker.asleep = True
            self.pass_time(0.5, 2 * seconds)
            worker.asleep = False
            worker.act("live")

    @rule(index=WHICH)
    def leave(self, index: int) -> None:
        if worker := self.worker(index):
            worker.act("leave")

    @rule(index=st.integers(0, 30), wholly=st.booleans())
    def damage(self, index: int, wholly: bool) -> None:
        self.gang.destroy(index, wholly=wholly)

    @invariant()
    def holds(self) -> None:
        if self.gang:
            self.gang.check()

    def teardown(self) -> None:
        try:
            if self.gang:
                self.gang.finish()
        finally:
            if self.gang:
                for worker in [*self.gang.workers.values()]:
                    worker.job.close()
            self._patch.undo()


TestSharedCrawls = SharedCrawls.TestCase
TestSharedCrawls.settings = settings(
    max_examples=int(2.5 * settings().max_examples),
    stateful_step_count=25,
    report_multiple_bugs=False,
)
