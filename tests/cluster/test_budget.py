"""The budget of pages: never more than may be fetched, and never lost."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.cluster import Budget, Lease, SharedStore

from .memory import memory_store


def total(store: SharedStore) -> int:
    return sum(pages for _, pages in json.loads(store.one("budget", "pages")["granted"]).values())


@given(
    most=st.integers(0, 300),
    order=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.booleans()), max_size=40),
    lost=st.sets(st.integers(0, 10), max_size=3),
)
def test_no_more_is_granted_than_may_be_fetched(
    most: int, order: list[tuple[int, int, bool]], lost: set[int]
) -> None:
    """Also where answers of the store are lost. What is given back others get."""
    store = memory_store()
    changes = iter(range(1_000))
    store._documents.again = lambda operation, table: next(changes) in lost
    leases = {partition: Lease(partition, str(partition), 1, busy=1) for partition in range(4)}
    budgets = [Budget(store, most) for _ in leases]
    pages = dict.fromkeys(leases, 0)
    granted = dict.fromkeys(leases, 0)

    def ask(partition: int, *, spare: bool = False) -> None:
        told = {partition: pages[partition]}
        own = {partition: leases[partition]}
        told = budgets[partition].grant(own, {} if spare else told, told if spare else {}, [])
        granted.update(told)
        assert pages[partition] <= granted[partition]
        assert total(store) <= most

    for partition, some, spare in order:
        pages[partition] = min(pages[partition] + some, granted[partition])
        ask(partition, spare=spare)
    for partition in (0, 1, 2):
        ask(partition, spare=True)
    pages[3] = granted[3]
    for _ in range(most):
        ask(3)
        pages[3] = granted[3]
    assert sum(pages.values()) == most


def test_what_was_granted_goes_with_a_partition_and_a_former_owner_gives_nothing_back() -> None:
    store = memory_store()
    first, second = Budget(store, 8), Budget(store, 8)
    assert first.grant({1: Lease(1, "ann", 1, busy=1)}, {1: 0}, {}, []) == {1: 4}
    taken = {1: Lease(1, "bob", 2, busy=1, pages=2)}
    assert second.grant(taken, {1: 2}, {}, []) == {1: 4}
    assert first.grant({1: Lease(1, "ann", 1)}, {}, {1: 1}, []) == {}
    assert total(store) == 4


def test_pages_of_an_earlier_run_without_a_budget_count() -> None:
    store = memory_store()
    leases = [Lease(1, "ann", 2, busy=3, pages=5), Lease(2, "bob", 1, pages=2)]
    budget = Budget(store, 8)
    assert budget.grant({1: leases[0]}, {1: 5}, {}, leases) == {1: 6}
    assert Budget(store, 7).grant({1: leases[0]}, {1: 6}, {}, leases) == {1: 6}
