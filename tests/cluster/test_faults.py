"""Orders of events in which crawls lost pages, fetched some twice or never ended."""

from __future__ import annotations

import pytest

from mmcrawl.cluster import Rules
from tests.tables import each

from .memory import MadeWeb
from .trouble import TroubledGang

LEASE = 4.0


def gang_of(workers, *, hosts=2, pages=6, parts=4, seed=0, **rules):
    web = MadeWeb(hosts, pages, seed)
    gang = TroubledGang(web, Rules(parts=parts, lease=LEASE, rest=0.5, **rules), seed=seed)
    for _ in range(workers):
        gang.join()
    return gang


def go_on(gang, seconds, step=0.25):
    for _ in range(int(seconds / step)):
        gang.pass_time(step)
        gang.see_off()


@pytest.fixture(autouse=True)
def _small_logs(monkeypatch):
    monkeypatch.setattr("mmcrawl.cluster.holdings._SMALLEST_LOG", 1_500)


@each("workers", [1, 2, 5])
@each("seed", range(3))
def test_without_trouble_each_page_is_fetched_once_and_the_last_signs_add_up(workers, seed):
    gang_of(workers, hosts=1 + seed, parts=5, seed=seed).finish()


@each("seed", range(4))
def test_parts_are_not_given_when_all_is_done(seed):
    """A worker joined at the end; a part that was given to it was in no last sign."""
    gang_of(3, pages=1, parts=5, seed=65_536 + seed).finish()


def test_who_slept_while_its_part_was_anothers_gives_it_up():
    """The other one had left meanwhile, with links in the part that nobody else knew of."""
    gang = gang_of(1, hosts=1, parts=1)
    first = next(iter(gang.workers.values()))
    gang.pages_a_step = 0
    go_on(gang, 2)
    first.asleep = True
    second = gang.join()
    gang.pages_a_step = 1
    go_on(gang, 3 * LEASE, 1.0)
    assert second.job.pages > 1
    second.act("leave")
    gang.pages_a_step = 0  # it has links, but does not come to fetching any
    first.asleep = False
    go_on(gang, 3)
    assert not first.job.exchange.holdings.parts or first.job.exchange.holdings.parts[0].term > 2
    gang.harmed = True
    gang.pages_a_step = 5
    gang.finish()


def test_who_slept_fetches_no_page_that_others_had_meanwhile():
    """It had pages of the budget left, which were given out again."""
    gang = gang_of(1, hosts=3, pages=5, max_pages=8)
    first = next(iter(gang.workers.values()))
    gang.pages_a_step = 1
    while first.job.exchange.budget.granted < 4:
        gang.pass_time(0.25)
    first.asleep = True
    gang.join()
    go_on(gang, 8 * LEASE)
    assert len(gang.workers) == 1
    gang.harmed = True
    gang.finish()


def test_a_gift_to_who_died_goes_back():
    """Nobody else took it: by its log it was of a worker that was alive."""
    for survivors in range(1, 4):
        gang = gang_of(survivors, hosts=8, pages=3, parts=16)
        gang.pages_a_step = 0
        go_on(gang, 4)
        receiver = gang.join()
        gang.pages_a_step = 1
        while not any(
            w.job.exchange.holdings.gives.get(receiver.name) for w in gang.workers.values()
        ):
            for worker in [*gang.workers.values()]:
                gang.now += 0.1
                worker.act("live")
        receiver.die()
        gang.finish()


def test_a_crawl_that_takes_long_to_take_a_part_in_is_not_idle():
    """Its last word was that it had nothing to do, and the crawl was ended for it."""
    gang = gang_of(2, hosts=1, parts=1, pages=8)
    gang.pages_a_step = 1
    go_on(gang, 2)
    owner = next(w for w in gang.workers.values() if w.job.exchange.holdings.parts)
    other = next(w for w in gang.workers.values() if w is not owner)
    owner.die()
    other.trouble("crawl", 0, 12)  # when it hears that the part is its own
    go_on(gang, 3 * LEASE)
    gang.finish()


def test_letters_to_a_part_that_is_set_aside_do_not_keep_a_crawl_from_ending():
    for seed in range(6):
        gang = gang_of(2, hosts=4, parts=4, pages=6, seed=seed)
        gang.pages_a_step = 1
        go_on(gang, 2.5)
        assert gang.destroy("log", seed, wholly=False)
        for worker in [*gang.workers.values()]:
            worker.die()
        gang.finish()


@each("workers", [2, 3])
@each("most", [1, 3, 7, 11])
def test_who_has_no_links_leaves_the_budget_to_who_has(workers, most):
    """Each round went to the worker without links, and there was a next one for ever."""
    gang_of(workers, hosts=1, parts=1, pages=12, max_pages=most).finish()


@each("seed", range(6))
def test_budgets_of_several_rounds_are_kept(seed):
    gang = gang_of(3, hosts=4, parts=6, pages=8, seed=seed, max_pages=5 + 2 * seed)
    gang.pages_a_step = 1 + seed % 3
    go_on(gang, 3 + seed % 4)
    gang.join()
    gang.finish()


def test_a_part_is_written_to_in_the_term_in_which_it_was_crawled():
    """It was lost and taken again between what its crawl heard last and what it handed over."""
    for seed in range(6):
        gang = gang_of(1, hosts=1, parts=1, pages=12, seed=seed)
        first = next(iter(gang.workers.values()))
        gang.pages_a_step = 1
        go_on(gang, 2.5)
        first.trouble("crawl", seed, 2 * int(LEASE) + 4)
        second = gang.join()
        second.trouble("crash", 60 + 7 * seed)
        go_on(gang, 8 * LEASE, 1.0)
        gang.finish()


@each("at", range(0, 60, 5))
def test_who_sleeps_at_any_operation_loses_nothing(at):
    gang = gang_of(3, hosts=3, parts=6, pages=9)
    gang.pages_a_step = 1
    go_on(gang, 1.5)
    for number, worker in enumerate([*gang.workers.values()]):
        worker.trouble("hold", at + 5 * number, 3 * int(LEASE))
    go_on(gang, 2 * LEASE)
    gang.finish()


@each("at", range(0, 60, 5))
def test_who_dies_at_any_operation_loses_nothing(at):
    gang = gang_of(3, hosts=3, parts=6, pages=9)
    gang.pages_a_step = 1
    go_on(gang, 1.5)
    for number, worker in enumerate([*gang.workers.values()]):
        worker.trouble("crash", at + 20 * number)
    go_on(gang, 3 * LEASE)
    gang.finish()


def test_workers_that_come_at_once_go_on_with_one_round():
    """One of them had seen a round begin, the other had come before."""
    gang = gang_of(2, hosts=3, parts=2, pages=4, seed=111, max_pages=3)
    gang.pages_a_step = 1
    go_on(gang, 1.5)
    gang.join()
    gang.pass_time(0.25)
    gang.join()
    gang.join()
    for name in ("w0", "w3"):
        gang.workers[name].act("leave")
    go_on(gang, 12, 1.0)
    gang.finish()


def test_who_slept_fetches_nothing_before_it_knows_which_parts_it_lost(monkeypatch):
    """Also where a report is written first, by which the server is heard again."""
    gang = gang_of(1, hosts=4, pages=12, parts=4)
    first = next(iter(gang.workers.values()))
    gang.pages_a_step = 1
    go_on(gang, 2)
    first.asleep = True
    gang.join()
    go_on(gang, 2 * LEASE)
    first.asleep = False
    fetched, look = [], first.job.exchange._look

    def look_after_fetching(now):
        fetched.append(first.job.next())
        look(now)

    assert first.job.parts.ready
    with monkeypatch.context() as patch:
        patch.setattr(first.job.exchange, "_look", look_after_fetching)
        first.job.exchange.hand(lambda: None)
        first.job.exchange.step(gang.now)
    assert fetched == [None]
    gang.harmed = True
    gang.finish()
