"""Links belong to one worker at a time, and hosts do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.frontier import WaitingLink
from mmcrawl.sharing.leases import Hosts, Leases


def link(number: int, host: str = "a.test") -> WaitingLink:
    return WaitingLink(number, f"http://{host}/{number}", None, 1, 0, None)


def test_a_lease_ends_once_and_only_for_who_holds_it() -> None:
    leases = Leases()
    lease = leases.give("ann", link(7), "http://a.test/")
    assert (lease.number, lease.referrer) == (0, "http://a.test/")
    assert leases.end("bob", 7, 0) is None
    assert leases.end("ann", 7, 1) is None
    assert leases.end("ann", 7, 0) == lease
    assert leases.end("ann", 7, 0) is None
    assert len(leases) == leases.on_host("a.test") == 0


def test_a_link_that_was_given_to_another_does_not_end_by_the_first_ones_lease() -> None:
    leases = Leases()
    first = leases.give("ann", link(7), None)
    assert leases.end_all("ann") == [first]
    second = leases.give("bob", link(7), None)
    assert leases.end("ann", 7, first.number) is None
    assert leases.end("bob", 7, second.number) == second


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x.test", "y.test"]))))
def test_counts_agree_with_what_is_held(given_out: list[tuple[str, str]]) -> None:
    leases = Leases()
    for number, (worker, host) in enumerate(given_out):
        leases.give(worker, link(number, host), None)
    ended = leases.end_all("a")
    assert [lease.link.id for lease in ended] == [
        number for number, (worker, _) in enumerate(given_out) if worker == "a"
    ]
    left = [(worker, host) for worker, host in given_out if worker != "a"]
    assert len(leases) == len(left)
    for host in ("x.test", "y.test"):
        assert leases.on_host(host) == sum(h == host for _, h in left)
    assert set(leases.workers()) == {worker for worker, _ in left}


def test_a_host_that_moves_rests_until_its_leases_ended_and_some_time_passed() -> None:
    leases, hosts = Leases(), Hosts(rest=2.0)
    hosts.own("x.test", "ann")
    lease = leases.give("ann", link(1, "x.test"), None)
    hosts.move("x.test", now=0.0)
    hosts.settle(leases, now=0.0)
    assert hosts.owner("x.test") == "ann"
    assert hosts.is_resting("x.test", 0.0)
    leases.end("ann", 1, lease.number)
    hosts.settle(leases, now=10.0)
    assert hosts.owner("x.test") is None
    assert hosts.is_resting("x.test", 11.9)
    assert not hosts.is_resting("x.test", 12.0)


def test_a_host_with_a_page_that_does_not_end_is_not_moved() -> None:
    leases, hosts = Leases(), Hosts(rest=0.0)
    hosts.own("x.test", "ann")
    leases.give("ann", link(1, "x.test"), None)
    hosts.move("x.test", now=0.0)
    hosts.settle(leases, now=4.0)
    assert hosts.is_resting("x.test", 4.0)
    hosts.settle(leases, now=6.0)
    assert not hosts.is_resting("x.test", 6.0)
    assert hosts.owner("x.test") == "ann"


def test_hosts_of_a_worker_that_went_are_free_after_a_rest() -> None:
    hosts = Hosts(rest=1.0)
    hosts.own("x.test", "ann")
    hosts.own("y.test", "bob")
    hosts.free("ann", now=5.0)
    assert hosts.owner("x.test") is None
    assert hosts.is_resting("x.test", 5.5)
    assert hosts.owner("y.test") == "bob"
    assert not hosts.is_resting("y.test", 5.5)


def test_a_worker_without_work_gets_half_of_what_the_richest_has_more() -> None:
    leases, hosts = Leases(), Hosts(rest=0.0)
    names = [f"h{n}.test" for n in range(6)]
    for name in names:
        hosts.own(name, "ann")
    hosts.spread(dict.fromkeys(names, 5), idle=["bob"], busy=["ann"], now=0.0)
    hosts.settle(leases, now=0.0)
    assert len(hosts.of("ann")) == 3


def test_a_single_host_stays_where_it_is() -> None:
    leases, hosts = Leases(), Hosts(rest=0.0)
    hosts.own("x.test", "ann")
    hosts.spread({"x.test": 100}, idle=["bob"], busy=["ann"], now=0.0)
    hosts.settle(leases, now=0.0)
    assert hosts.owner("x.test") == "ann"


def test_hosts_without_waiting_links_are_not_moved() -> None:
    leases, hosts = Leases(), Hosts(rest=0.0)
    for name in ("x.test", "y.test", "z.test"):
        hosts.own(name, "ann")
    hosts.spread({"x.test": 100}, idle=["bob"], busy=["ann"], now=0.0)
    hosts.settle(leases, now=0.0)
    assert len(hosts.of("ann")) == 3
