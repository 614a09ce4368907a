"""The budget of pages, in rounds and slices."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.cluster import Budget, Rules

from .memory import memory_store

RULES = Rules()


@given(
    left=st.integers(0, 1_000),
    workers=st.integers(1, 4),
    order=st.lists(st.integers(0, 3), max_size=40),
)
def test_what_all_are_granted_is_what_is_left(left, workers, order):
    store = memory_store()
    budgets = [Budget(store, RULES) for _ in range(workers)]
    for budget in budgets:
        budget.begin(1, left)
    for number in order:
        budgets[number % workers].take_slice(number % workers, workers)
        assert sum(budget.granted for budget in budgets) <= left
    for budget in budgets:
        while not budget.spent:
            budget.take_slice()
    assert sum(budget.granted for budget in budgets) == left


def test_a_round_is_as_the_first_one_began_it():
    store = memory_store()
    ann, bob = Budget(store, RULES), Budget(store, RULES)
    ann.begin(1, 10)
    bob.begin(1, 10_000)
    while not bob.spent:
        bob.take_slice()
    assert (bob.round, bob.granted) == (1, 10)
    ann.take_slice()
    assert (ann.granted, ann.spent) == (0, True)


def test_a_new_round_takes_back_what_was_granted():
    store = memory_store()
    ann, bob = Budget(store, RULES), Budget(store, RULES)
    for budget in (ann, bob):
        budget.begin(1, 1_000)
    ann.take_slice()
    assert ann.granted == 15
    bob.begin(2, 985)
    assert bob.last_round() == ann.last_round() == 2
    ann.join(2)
    assert (ann.round, ann.granted, ann.spent) == (2, 0, False)


def test_rounds_that_are_over_are_removed():
    store = memory_store()
    budget = Budget(store, RULES)
    for number in range(1, 6):
        budget.begin(number, 5)
        budget.take_slice()
    assert {row["_id"].split("/")[1] for row in store.all("budget")} == {"000004", "000005"}
    late = Budget(store, RULES)
    late.join(2)
    assert late.round == 0
    late.take_slice()
    assert late.granted == 0
