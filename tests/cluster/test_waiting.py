"""Who has nothing to do gets partitions soon, and a crawl that is done ends soon."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from mmcrawl.cluster import Rules, SharedStore
from tests.tables import each

from .memory import Gang, MadeWeb, Worker


class BarrenWeb(MadeWeb):
    """Hosts with a page each that holds a script only; there are `others` with a film besides."""

    def __init__(self, hosts: int, others: int = 0) -> None:
        super().__init__(hosts + others, 1)
        self._barren = hosts

    def body(self, url: str) -> bytes:
        is_barren = int(url.split("/")[2][1:].partition(".")[0]) < self._barren
        return b"<script>run()</script>" if is_barren else super().body(url)


class SeldomWorker(Worker):
    """A worker that is always fetching a page, and reports once a second, as with Scrapy."""

    def crawl(self) -> None:
        self.fetch()
        if self.gang.now % 1 == 0:
            self.job.commit()


class ShyWorker(Worker):
    """A worker that leaves the first host alone."""

    def __init__(self, gang: Gang, name: str, store: SharedStore) -> None:
        super().__init__(gang, name, store)
        self.asked: list[bool] = []
        self.job.next = partial(self.job.next, self._may_ask)  # type: ignore[method-assign]
        self.job._is_left_alone = lambda: bool(self.asked) and not any(self.asked)

    def fetch(self) -> None:
        self.asked.clear()
        super().fetch()

    def _may_ask(self, origin: str) -> bool:
        self.asked.append(not origin.endswith("//h0.test"))
        return self.asked[-1]


def gang_of_one(seed: int) -> Gang:
    """Return a worker that has links to pages of eight hosts."""
    rules = Rules(partitions=16, rest=0.0)
    gang = Gang(MadeWeb(8, 30, seed), rules, seed=seed, kind=SeldomWorker)
    gang.pages_a_step = 1
    gang.join()
    while len(gang.web.fetched) < 10:
        gang.pass_time()
    return gang


def test_who_joins_has_links_soon() -> None:
    for seed in range(2):
        gang = gang_of_one(seed)
        joined, began = gang.join(), gang.now
        while not joined.under_way:
            gang.pass_time()
        assert gang.now - began <= 4.5, seed


def test_hosts_are_not_asked_for_links_that_may_not_be_fetched() -> None:
    """Else each look for a link takes as long as there are partitions, once a budget is short."""
    gang = Gang(MadeWeb(40, 20), Rules(partitions=256, lease=4.0, rest=0.0, max_pages=80))
    worker = gang.join()
    asked: list[str] = []

    def ready(origin: str) -> bool:
        asked.append(origin)
        return True

    while gang.web.fetched.total() < 40:
        gang.pass_time()
    while worker.job.partitions.next(ready)[0] is not None:
        asked.clear()
    assert len(worker.job.partitions.jobs) > 10
    assert len(asked) == 1


def test_partitions_with_little_history_are_handed_over_first() -> None:
    gang = gang_of_one(0)
    [worker] = gang.workers.values()
    partitions = worker.job.partitions
    jobs = {number: job for number, job in partitions.jobs.items() if job.ready}
    largest = max(jobs, key=lambda number: jobs[number].ready)
    gains = {n: job.ready / (1 + job.frontier.settled) for n, job in jobs.items() if n != largest}
    partitions.choose(2)
    assert len(partitions.giving) == 2
    assert len(gains) > 2
    kept = gains.keys() - partitions.giving
    assert min(map(gains.get, partitions.giving)) >= max(map(gains.get, kept))


def test_a_crawl_ends_soon_after_its_last_page() -> None:
    for seed in range(2):
        gang = gang_of_one(seed)
        gang.join()
        last = 0.0
        while gang.workers:
            gang.pass_time()
            gang.see_off()
            if gang.web.fetched.keys() != gang.web.urls:
                last = gang.now
        assert gang.now - last <= 3.0, seed


def test_who_waits_for_the_store_longer_than_its_lease_keeps_its_partitions() -> None:
    gang = gang_of_one(0)
    [first] = gang.workers.values()
    second = gang.join()
    while not second.under_way:
        gang.pass_time()

    def takes_long(operation: str, table: str) -> None:
        if (operation, table) == ("range", "lease"):
            first.documents.before = lambda *_: None
            for _ in range(3 * int(gang.rules.lease)):
                gang.now += 1
                first.job.exchange.beat(first.clock())
                second.act("live")

    held = {partition: lease.epoch for partition, lease in first.job.exchange.leases.own.items()}
    first.documents.before = takes_long
    while first.documents.before is takes_long:
        gang.pass_time()
    own = first.job.exchange.leases.own
    assert held
    assert {partition: own[partition].epoch for partition in held} == held


def test_who_joins_while_the_others_end_ends_as_well() -> None:
    gang = Gang(MadeWeb(2, 4), Rules(partitions=16, rest=0.0))
    exchange, late = gang.join().job.exchange, []
    conclude = exchange._conclude

    def conclude_when_another_came(*told: Any) -> Any:
        late.append(gang.join())
        late[0].act("live")
        late[0].act("live")
        return conclude(*told)

    exchange._conclude = conclude_when_another_came  # type: ignore[method-assign]
    assert gang.run(90.0) == "finished"
    assert late[0].over == "finished"
    assert gang.web.fetched.total() == len(gang.web.urls)


@each("max_pages", [0, 500])
def test_a_crawl_ends_unfinished_once_only_hosts_wait_that_are_left_alone(max_pages: int) -> None:
    web = MadeWeb(4, 20, seed=1)
    rules = Rules(partitions=16, rest=0.0, max_pages=max_pages)
    gang = Gang(web, rules, seed=1, kind=ShyWorker)
    gang.join()
    gang.join()
    assert gang.run(90.0) == "hosts_unreachable"
    assert web.fetched.keys() == {url for url in web.urls if "//h0.test/" not in url}


@each(
    "others, before, reason",
    [(0, "", "nothing_found"), (1, "", "finished"), (0, "shutdown", "finished")],
)
def test_a_fresh_crawl_whose_seeds_gave_nothing_says_so_of_each_to_every_worker(
    others: int, before: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    gang = Gang(BarrenWeb(3, others), Rules(partitions=16, rest=0.0))
    gang.pages_a_step = 1
    workers = [gang.join() for _ in range(2)]
    for worker in workers:
        worker.job.partitions.contents = {
            partition << 32: "a script only" for partition in range(16)
        }
        worker.job.exchange._is_fresh = not before
    assert gang.run(90.0) == reason
    told = Counter(line for line in caplog.messages if line.startswith("Nothing was found"))
    lines = [f"Nothing was found at the seed {seed}: a script only" for seed in gang.web.seeds]
    assert told == (dict.fromkeys(lines, 2) if reason == "nothing_found" else {})
