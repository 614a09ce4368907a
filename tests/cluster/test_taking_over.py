"""Partitions of a worker that died, as the one who takes them over has them."""

from __future__ import annotations

from collections import Counter, deque
from itertools import chain, islice
from types import SimpleNamespace

import pytest

from mmcrawl.cluster import Logs, Rules, SharedJob
from mmcrawl.engine import FocusedScheduler
from tests.tables import each

from .memory import Gang, MadeWeb, Worker, memory_store


def scores(worker: Worker) -> dict[str, float]:
    """Return the scores of the links that wait in the partitions of a worker."""
    found = {}
    for job in worker.job.partitions.jobs.values():
        for link in job.frontier.waiting():
            record = job.frontier.record(link)
            found[record.url] = record.score
    return found


def next_links(worker: Worker, most: int) -> list[tuple[str, float]]:
    """Take the links that come next, and their scores."""
    found = scores(worker)
    links = iter(worker.job.next, None)
    return [(link.url, found[link.url]) for link in islice(links, most)]


def evidence(worker: Worker) -> list[float]:
    """Return how many links a worker has learnt from, and what they were."""
    return worker.job.partitions._link_model.evidence.counts[0].tolist()


def told_at_the_end(gang: Gang) -> SharedJob:
    """Return the crawl as the process that started its workers has it, which did not join."""
    store = memory_store(gang.tables)
    return SharedJob(store, gang.crawl, gang.rules, name="parent", clock=lambda: gang.now)


@each("algo, most", [("shark", 1e-9), ("hits", 1e-9), ("learned", 0.1)])
def test_links_that_wait_have_the_scores_they_had(algo: str, most: float) -> None:
    """Logs have older ones; what other partitions learnt meanwhile counts for all at once."""
    gang = Gang(MadeWeb(3, 40), Rules(partitions=16, lease=4.0, rest=0.0), algo=algo)
    first = gang.join()
    for _ in range(12):
        gang.pass_time()
    gang.pages_a_step = 0
    for _ in range(8):  # what is under way comes, and is written down
        gang.pass_time()
    before = scores(first)
    assert len(before) > 10
    first.die()
    second = gang.join()
    for _ in range(40):
        gang.pass_time()
    after = scores(second)
    assert after.keys() == before.keys()
    assert after == {url: pytest.approx(score, abs=most) for url, score in before.items()}


def test_the_next_links_are_those_that_would_have_come_next() -> None:
    gang = Gang(MadeWeb(8, 200), Rules(partitions=16, lease=4.0, rest=0.0))
    first = gang.join()
    while gang.web.fetched.total() < 300:
        gang.pass_time()
    gang.pages_a_step = 0
    for _ in range(8):  # what is under way comes, and is written down
        gang.pass_time()
    would_come = next_links(first, 200)
    first.die()
    second = gang.join()
    for _ in range(40):
        gang.pass_time()
    come = next_links(second, 200)
    assert len(come) == 200
    assert [score for _, score in come] == [score for _, score in would_come]
    for host in gang.web.hosts:  # whose turn it is among equals nobody promises
        own = [[link for link in some if host in link[0]] for some in (come, would_come)]
        assert own[0][: len(own[1])] == own[1][: len(own[0])]


@each("algo", ["learned", "urlrule"])
def test_a_history_is_learnt_by_who_takes_it_over_and_once(algo: str) -> None:
    gang = Gang(MadeWeb(3, 40), Rules(partitions=16, lease=4.0, rest=0.0), algo=algo)
    first = gang.join()
    while gang.web.fetched.total() < 60:
        gang.pass_time()
    gang.pages_a_step = 0
    for _ in range(8):  # what is under way comes, and is written down
        gang.pass_time()
    waiting, learnt = scores(first).keys(), evidence(first)
    first.act("leave")
    second = gang.join()
    for _ in range(40):
        gang.pass_time()
    assert scores(second).keys() == waiting
    assert evidence(second) == learnt
    for partition in [*second.job.partitions.jobs]:
        second.job.partitions.forget(partition)
    for stored in Logs(second.store).read([*second.job.exchange.leases.own.values()]):
        deque(second.job.partitions.take(stored), maxlen=0)
    assert scores(second).keys() == waiting
    assert evidence(second) == learnt


def test_pages_that_were_not_written_do_not_count_as_learnt() -> None:
    """Another worker has other pages in their place, once the partition comes back."""
    gang = Gang(MadeWeb(1, 60), Rules(partitions=1, lease=4.0, rest=0.0), algo="learned")
    first = gang.join()
    gang.pages_a_step = 1
    while gang.web.fetched.total() < 10:
        gang.pass_time()
    for _ in range(5):
        first.fetch()
    written = told_at_the_end(gang).pages
    first.asleep = True
    second = gang.join()
    while gang.web.fetched.total() < 40:
        gang.pass_time()
    gang.pages_a_step = 0
    for _ in range(8):  # what is under way comes, and is written down
        gang.pass_time()
    first.asleep = False
    first.live()
    first.live()
    assert not first.job.partitions.jobs
    learnt = evidence(first)[0]
    second.act("leave")
    for _ in range(40):
        gang.pass_time()
    assert evidence(first)[0] == learnt + first.job.pages - written


def test_the_harvest_rate_is_of_the_pages_that_former_owners_fetched_too() -> None:
    gang = Gang(MadeWeb(3, 40), Rules(partitions=16, lease=4.0, rest=0.0))
    first = gang.join()
    while gang.web.fetched.total() < 60:
        gang.pass_time()
    gang.pages_a_step = 0
    for _ in range(8):  # what is under way comes, and is written down
        gang.pass_time()
    before = first.job.totals().harvest_rate
    assert 0 < before < 1
    first.act("leave")
    second = gang.join()
    for _ in range(40):
        gang.pass_time()
    assert len(second.job.partitions.jobs) > 1
    assert second.job.totals().harvest_rate == pytest.approx(before)


def test_a_crawl_that_is_stopped_tells_reasons_of_errors_and_patterns_of_all_workers() -> None:
    gang = Gang(MadeWeb(3, 60), Rules(partitions=16, lease=4.0, rest=0.0), algo="urlrule")
    workers = [gang.join(), gang.join()]
    while gang.web.fetched.total() < 100 or not all(one.under_way for one in workers):
        gang.pass_time()
    for one in workers:
        one.job.failed(one.under_way.pop().id, "HTTP 500")
    found = [job.scorer.patterns() for one in workers for job in one.job.partitions.jobs.values()]
    patterns = sorted(chain(*found), key=lambda one: (-one.urls, one.pattern))
    assert len(patterns) > 1
    for one in workers:
        one.act("leave")
    parent = told_at_the_end(gang)
    assert parent.error_reasons() == {"HTTP 500": 2}
    assert parent.patterns() == patterns
    parent.close()


def test_pages_are_fetched_while_a_partition_is_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    gang = Gang(MadeWeb(8, 40), Rules(partitions=8, lease=4.0, rest=0.0))
    first, second = gang.join(), gang.join()
    gang.pages_a_step = 4
    while gang.web.fetched.total() < 160 or not second.job.partitions.ready:
        gang.pass_time()
    monkeypatch.setattr("mmcrawl.cluster.worker._STEPS_AT_ONCE", 2)
    gang.pages_a_step = 1
    first.die()
    held, fetched = len(second.job.partitions.jobs), Counter[bool]()
    there = len(gang.tables["lease"])
    while len(second.job.partitions.jobs) < there:
        before = gang.web.fetched.total()
        gang.pass_time()
        taking = bool(second.job._taking)
        fetched[taking] += gang.web.fetched.total() - before
    assert held < there
    assert fetched[True] > 10
    gang.run()
    assert gang.web.fetched.keys() == gang.web.urls


def test_a_page_that_cannot_be_taken_in_ends_in_error() -> None:
    gang = Gang(MadeWeb(1, 3), Rules(partitions=4, lease=4.0, rest=0.0))
    worker = gang.join()
    gang.pages_a_step = 0
    gang.pass_time()
    link = worker.job.next()
    page = gang.web.page(link.url)
    page.extra["what"] = object()  # a pipeline's
    counted: list[str] = []
    scheduler = FocusedScheduler.__new__(FocusedScheduler)
    scheduler.job = worker.job
    scheduler.crawler = SimpleNamespace(stats=SimpleNamespace(inc_value=counted.append))
    scheduler._tell(link.id, lambda job: job.crawled(link.id, page))
    assert counted == ["mmcrawl/internal_errors"]
    assert not worker.job.is_running(link.id)
    worker.act("leave")
    [(reason, count)] = told_at_the_end(gang).error_reasons().items()
    assert reason.startswith("internal error: ItemError: ")
    assert count == 1
