"""Orders of events in which crawls lost pages, fetched some twice or never ended."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mmcrawl.cluster import Leases, Rows, Rules, leases_of, open_shared_store
from mmcrawl.errors import StoreError
from tests.tables import each

from .memory import JOB, Gang, MadeWeb, made_lease, memory_store
from .trouble import TroubledGang

LEASE = 4.0


def gang_of(workers, *, hosts=2, pages=6, partitions=4, seed=0, **rules):
    web = MadeWeb(hosts, pages, seed)
    gang = TroubledGang(
        web, Rules(partitions=partitions, lease=LEASE, rest=0.5, **rules), seed=seed
    )
    for _ in range(workers):
        gang.join()
    return gang


def go_on(gang, seconds, step=0.25):
    for _ in range(int(seconds / step)):
        gang.pass_time(step)
        gang.see_off()


@pytest.fixture(autouse=True)
def _small_logs(monkeypatch):
    monkeypatch.setattr("mmcrawl.cluster.exchange._SMALLEST_LOG", 1_500)


@each("workers, seed", [(1, 0), (2, 1), (5, 2)])
def test_without_trouble_each_page_is_fetched_once_and_the_totals_add_up(workers, seed):
    gang_of(workers, hosts=1 + seed, partitions=5, seed=seed).finish()


def test_who_slept_fetches_no_page_that_others_had_meanwhile():
    """It had pages of the budget left, which were given out again."""
    gang = gang_of(1, hosts=3, pages=5, max_pages=8)
    first = next(iter(gang.workers.values()))
    gang.pages_a_step = 1
    while sum(job.granted for job in first.job.partitions.jobs.values()) < 4:
        gang.pass_time(0.25)
    first.asleep = True
    gang.join()
    go_on(gang, 8 * LEASE)
    assert len(gang.workers) == 1
    gang.harmed = True
    gang.finish()


@each("workers, most", [(2, 1), (3, 3), (2, 11)])
def test_who_has_no_links_leaves_the_budget_to_who_has(workers, most):
    """Each round went to the worker without links, and there was a next one for ever."""
    gang_of(workers, hosts=1, partitions=1, pages=12, max_pages=most).finish()


def test_pages_granted_to_a_partition_that_ran_dry_before_its_owner_died_are_given_back():
    """Nobody asked for them, nobody else could have them, and the crawl had no end."""
    gang = gang_of(1, hosts=1, partitions=4, pages=12, max_pages=8)
    gang.pages_a_step = 1
    while gang.web.fetched.total() < 2:
        gang.pass_time()
    go_on(gang, 2)
    (first,) = gang.workers.values()
    (own,) = first.job.exchange.leases.own.values()
    first.die()
    dry, store = (own.partition + 1) % 4, memory_store(gang.tables)
    made_lease(store, dry, epoch=1)
    granted = {"granted": json.dumps({dry: [1, 8 - own.pages]})}
    store.change_one("budget", "pages", lambda row: granted)
    gang.join()
    gang.finish()


def test_pages_of_the_budget_that_are_not_used_for_long_are_given_back():
    """Others have better links; they come again and ask when theirs are the best."""
    gang = gang_of(1, hosts=2, pages=30, max_pages=40)
    gang.pages_a_step = 1
    while gang.web.fetched.total() < 4:
        gang.pass_time()
    gang.pages_a_step = 0
    go_on(gang, 2)
    jobs = next(iter(gang.workers.values())).job.partitions.jobs.values()
    assert sum(job.granted - job.pages for job in jobs) > 0
    assert all(job.ready for job in jobs)
    go_on(gang, 25)
    assert [job.granted for job in jobs] == [job.pages for job in jobs]
    gang.pages_a_step = 1
    gang.finish()


@each("seed", range(3))
def test_budgets_of_several_rounds_are_kept(seed):
    gang = gang_of(3, hosts=4, partitions=6, pages=8, seed=seed, max_pages=5 + 2 * seed)
    gang.pages_a_step = 1 + seed % 3
    go_on(gang, 3 + seed % 4)
    gang.join()
    gang.finish()


def test_a_partition_is_written_to_in_the_epoch_in_which_it_was_crawled():
    """It was lost and taken again between what its crawl heard last and what it handed over."""
    gang = gang_of(1, hosts=1, partitions=1, pages=12)
    [worker] = gang.workers.values()
    gang.pages_a_step = 1
    go_on(gang, 2)
    leases = worker.job.exchange.leases
    leases.change([replace(leases.own[0], owner="")])
    [taken] = leases.take([leases.read()[0]])
    go_on(gang, 2)
    assert gang.leases[0].next == taken.next


def test_who_has_nothing_to_write_hears_what_others_have_taken():
    gang = gang_of(1, hosts=1, partitions=1, pages=12)
    [worker] = gang.workers.values()
    gang.pages_a_step = 1
    go_on(gang, 2)
    gang.pages_a_step = 0
    go_on(gang, 2)
    Leases(worker.store, "another").take([gang.leases[0]])  # and it does no more
    go_on(gang, 2 * LEASE)
    assert worker.job.partitions.jobs[0].epoch == gang.leases[0].epoch == 3


def test_what_was_handed_over_just_before_a_worker_leaves_is_written():
    """Its threads had been told to end, and took no turn any more: later rows did without it."""
    gang = gang_of(1, pages=12)
    [worker] = gang.workers.values()
    gang.pages_a_step = 1
    go_on(gang, 2)
    while worker.job.exchange.is_free or not worker.job.exchange.report:
        gang.now += 1
        worker.crawl()
    worker.act("leave")
    gang.finish()


@each("kind, at, apart", [("hold", 10, 5), ("hold", 40, 5), ("crash", 5, 20), ("crash", 35, 20)])
def test_who_is_held_up_or_dies_at_any_operation_loses_nothing(kind, at, apart):
    gang = gang_of(3, hosts=3, partitions=6, pages=9)
    gang.pages_a_step = 1
    go_on(gang, 1.5)
    for number, worker in enumerate([*gang.workers.values()]):
        worker.trouble(kind, at + apart * number, 3 * int(LEASE))
    go_on(gang, 3 * LEASE)
    gang.finish()


def test_a_partition_whose_pages_name_unknown_links_is_left_alone_and_the_others_go_on():
    """The worker ended, as if its own store were damaged, and so did each that came after it."""
    gang = gang_of(1, hosts=4, pages=9)
    gang.pages_a_step = 1
    go_on(gang, 2)
    next(iter(gang.workers.values())).act("leave")
    for key, record in gang.tables["log"].items():
        rows = Rows.decode(record["bytes"])
        for page in rows.put.get("page", ()) if not gang.damaged else ():
            page[9] = (1 << 20).to_bytes(4, "little")
            gang.damaged.add(int(key.split("/")[1]))
        record["bytes"] = rows.encode()
    assert gang.damaged
    gang.join()
    gang.finish()
    assert {n for n, lease in gang.leases.items() if lease.fault} == gang.damaged


def test_documents_that_cannot_be_read_stop_nobody():
    gang = Gang(MadeWeb(2, 6), Rules(partitions=4, lease=LEASE, rest=0.5))
    gang.join()
    gang.join()
    go_on(gang, 1)
    for partition in range(4):
        key = f"{JOB}/{partition:04d}/nobody/000000001"
        gang.tables.setdefault("message", {})[key] = {
            "at": f"{JOB}/{partition:04d}",
            "bytes": b"broken",
        }
    gang.tables["worker"][f"{JOB}/nobody"] = {"beat": 1, "facts": "{"}
    gang.run()
    assert gang.web.fetched.keys() == gang.web.urls
    assert gang.media == gang.web.media
    assert {key.split("/")[1] for key in gang.tables["quarantine"]} == {"message"}


def test_who_slept_fetches_nothing_before_it_knows_which_partitions_it_lost(monkeypatch):
    """Also where a heartbeat comes first, by which the store is heard again."""
    gang = gang_of(1, hosts=4, pages=12, partitions=4)
    first = next(iter(gang.workers.values()))
    gang.pages_a_step = 1
    go_on(gang, 2)
    first.asleep = True
    gang.join()
    go_on(gang, 2 * LEASE)
    first.asleep = False
    fetched, look = [], first.job.exchange._look

    def look_after_fetching(*told):
        fetched.append(first.job.next())
        look(*told)

    assert first.job.partitions.ready
    first.job.exchange.beat(first.clock())
    assert first.job.next() is None
    with monkeypatch.context() as patch:
        patch.setattr(first.job.exchange, "_look", look_after_fetching)
        first.job._hand_over()
        first.job.exchange.turn()
    assert fetched == [None]
    gang.harmed = True
    gang.finish()


def test_a_message_taken_in_between_leases_and_messages_puts_off_the_end():
    """All leases said that there is nothing to do, and then there was no message either."""
    exchange = gang_of(1).join().job.exchange
    store = exchange.documents
    made_lease(store, 0)
    store.insert("message", dict([store.row_of(0, "another/1", bytes=b"")]))
    taken_in = []

    def take_in(operation, table):
        if (operation, table) == ("range", "message") and not taken_in:
            taken_in.append(table)
            made_lease(store, 0, busy=1)
            store.delete("message", ["0000/another/1"])

    store._documents.before = take_in
    read = exchange.leases.read
    assert not exchange._is_at_rest([*read().values()])
    assert taken_in
    assert not exchange._is_at_rest([*read().values()])
    made_lease(store, 0, busy=0)
    assert [exchange._is_at_rest([*read().values()]) for _ in range(2)] == [False, True]


def test_what_waits_is_not_forgotten_where_its_owner_dies_at_rest():
    """The hosts were left alone; who takes the partition tries them again."""
    gang = gang_of(2, hosts=2, partitions=4)
    go_on(gang, 1)
    owner = next(w for w in gang.workers.values() if w.job.exchange.leases.own)
    owner.job._is_left_alone = lambda: True
    gang.pages_a_step = 0
    go_on(gang, 2)
    gang.pages_a_step = 5
    owner.die()
    gang.finish()


@pytest.mark.parametrize("room", [0, 6])
def test_a_full_disk_loses_nothing(file_uri, room):
    """Whatever cannot be written any more: the same command goes on once there is room."""
    gang = Gang(MadeWeb(3, 60), Rules(partitions=4, lease=LEASE, rest=0.0))
    worker = gang.join(open_shared_store(file_uri, job=JOB, arguments={}))
    while len(gang.web.fetched) < 20:
        gang.pass_time()
    db = worker.documents._db
    pages = db.execute("PRAGMA page_count").fetchone()[0] + room
    db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match=r"disk is full.*make room"):
        gang.run()
    worker.die()
    again = gang.join(open_shared_store(file_uri, job=JOB, arguments={}))
    assert gang.run() == "finished"
    assert gang.web.fetched.keys() == gang.web.urls
    leases = leases_of(open_shared_store(file_uri, job=JOB, arguments=None).all("lease"))
    assert sum(lease.pages for lease in leases.values()) == len(gang.web.urls)
    assert again.over == "finished"
