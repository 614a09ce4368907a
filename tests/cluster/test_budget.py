"""The budget of pages, in rounds and shares."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.cluster import Budget, Rules

from .memory import memory_store

RULES = Rules()


def budgets(count):
    """Return the budgets of some workers of a crawl, and the store of that."""
    store = memory_store()
    return store, [Budget(store, RULES) for _ in range(count)]


@given(
    left=st.integers(0, 1_000),
    workers=st.integers(1, 4),
    order=st.lists(st.integers(0, 3), max_size=40),
    lost=st.sets(st.integers(0, 10), max_size=3),
)
def test_what_all_are_granted_is_what_is_left(left, workers, order, lost):
    """Where answers of the store are lost, it is less: nobody knows what he took."""
    store, made = budgets(workers)
    for budget in made:
        budget.begin(1, left)
    changes = iter(range(1_000))
    store._documents.again = lambda operation, table: next(changes) in lost
    for number in order:
        made[number % workers].take()
        assert sum(budget.granted for budget in made) <= left
    for budget in made:
        while not budget.spent:
            budget.take()
    granted = sum(budget.granted for budget in made)
    assert granted <= left
    assert granted == left or lost


def test_a_round_is_as_the_first_one_began_it():
    _, (ann, bob) = budgets(2)
    ann.begin(1, 10)
    bob.begin(1, 10_000)
    while not bob.spent:
        bob.take()
    assert (bob.round, bob.granted) == (1, 10)
    ann.take()
    assert (ann.granted, ann.spent) == (0, True)


def test_a_new_round_takes_back_what_was_granted():
    _, (ann, bob, cat) = budgets(3)
    for budget in (ann, bob, cat):
        budget.begin(1, 1_000)
    ann.take()
    assert ann.granted == 15
    bob.begin(2, 985)
    ann.join()
    assert (ann.round, ann.granted, ann.spent) == (2, 0, False)
    cat.take()  # it has not heard of the new one
    assert (cat.round, cat.granted, cat.spent) == (2, 0, False)
    cat.take()
    assert cat.granted == 15


def test_who_was_not_heard_for_long_has_nothing_left():
    _, (ann,) = budgets(1)
    ann.begin(1, 100)
    ann.take()
    ann.leave()
    assert (ann.round, ann.granted, ann.begun) == (0, 0, 2)
    assert ann.join()
    assert ann.round == 1
