"""How long a worker's links are to last, and who gets the next host."""

from __future__ import annotations

from types import SimpleNamespace

from mmcrawl.frontier import PrivateHosts, WaitingLink
from mmcrawl.sharing.allocator import Allocator, KnownWorker
from mmcrawl.sharing.leases import LeaseBuffer, Leases
from mmcrawl.sharing.messages import Failed, Lease
from mmcrawl.sharing.outbox import Outbox
from mmcrawl.sharing.rules import Rules
from mmcrawl.sharing.worker import SharedJob


def link_to(number: int) -> WaitingLink:
    url = f"http://h{number}.test/"
    return WaitingLink(number, url, None, 1, 0, None)


class SharedStore:
    """Takes signs of life."""

    def beat(self, worker: str, facts: object) -> None:
        self.worker = worker

    def status(self) -> None:
        return None


def fetch_all(outbox: Outbox, first: int, count: int) -> None:
    """Give a worker links, and let it settle each."""
    numbers = range(first, first + count)
    outbox._buffer.add(Lease(number, link_to(number), None) for number in numbers)
    while (lease := outbox.next(lambda origin: True)) is not None:
        outbox.tell(Failed(lease.link.id, lease.number, "HTTP 404"))


def test_a_worker_that_runs_dry_wants_more_and_later_less_again() -> None:
    outbox = Outbox(SharedStore(), "ann", Rules(), news=lambda: None, failed=lambda error: None)
    fetch_all(outbox, 0, 200)
    before = outbox._lasting
    outbox._sign(outbox._heard_at)
    assert outbox._lasting > 1.5 * before
    for _ in range(20):
        outbox._sign(outbox._heard_at)
    assert outbox._lasting == before


def test_a_worker_with_links_under_way_has_not_run_dry() -> None:
    outbox = Outbox(SharedStore(), "ann", Rules(), news=lambda: None, failed=lambda error: None)
    outbox._buffer.add([Lease(0, link_to(0), None)])
    outbox.next(lambda origin: True)
    fetch_all(outbox, 1, 200)
    before = outbox._lasting
    outbox._sign(outbox._heard_at)
    assert outbox._lasting == before


def test_a_host_goes_to_the_worker_with_nothing_to_do_before_the_one_that_wants_most() -> None:
    leases = Leases()
    for number in range(100):
        leases.give("ann", link_to(number), None)
    crawl = SimpleNamespace(
        leases=leases,
        job=SimpleNamespace(pages=0, interrupted=False, frontier=None),
        choose=lambda ready: (None, []),
    )
    allocator = Allocator(crawl, Rules())
    allocator.give({"ann": KnownWorker(0.0, capacity=300), "bob": KnownWorker(0.0, capacity=24)})
    assert allocator._worker_for(link_to(500)) == "bob"


def test_a_link_leased_anew_takes_the_place_of_its_former_lease() -> None:
    buffer = LeaseBuffer()
    buffer.add([Lease(0, link_to(5), None), Lease(1, link_to(6), None)])
    buffer.add([Lease(2, link_to(5), None)])
    assert len(buffer) == 2
    assert [lease.number for lease in buffer.clear()] == [1, 2]


def test_a_link_leased_anew_while_it_is_fetched_is_fetched_once_and_told_of_as_new() -> None:
    shared = SharedStore()
    job = SharedJob(
        *(shared, None, None, Rules()), algorithm="hits", private_hosts=PrivateHosts(), name="ann"
    )
    outbox = job._outbox = Outbox(
        shared, "ann", Rules(), news=lambda: None, failed=lambda error: None
    )
    outbox._buffer.add([Lease(0, link_to(5), None)])
    assert job.next() == link_to(5)
    outbox._buffer.add([Lease(7, link_to(5), None), Lease(8, link_to(6), None)])
    assert job.next() == link_to(6)
    assert job.next() is None
    job.failed(5, "HTTP 404")
    job.failed(6, "HTTP 404")
    assert list(outbox._events) == [Failed(5, 7, "HTTP 404"), Failed(6, 8, "HTTP 404")]
    assert outbox._under_way == 0
