"""What workers tell each other of what they learnt."""

from __future__ import annotations

import pytest

from mmcrawl.cluster import Learnt, LearntStore, Rules

from .memory import Gang, MadeWeb, memory_store


@pytest.fixture
def store():
    return memory_store()


@pytest.fixture
def told(store):
    """Return how a worker tells what it learnt; the tokens of all that did."""
    stores = {}

    def tell(name, learnt):
        stores.setdefault(name, LearntStore(store, name)).publish(learnt)
        return {name: one.token for name, one in stores.items()}

    return tell


def test_each_hears_what_is_new(store, told):
    told("ann", Learnt(1))
    tokens = told("bob", Learnt(2))
    cat = LearntStore(store, "cat")
    assert cat.hear({}) == {"ann": Learnt(1), "bob": Learnt(2)}  # of those that are gone as well
    assert cat.hear(tokens) == {}
    assert cat.hear(told("bob", Learnt(5))) == {"bob": Learnt(5)}
    assert cat.hear(tokens) == {}  # of bob, who was killed before its sign told of it
    assert LearntStore(store, "ann").hear(tokens) == {"bob": Learnt(5)}  # not its own


def test_what_another_one_absorbed_is_counted_once():
    gang = Gang(MadeWeb(1, 1), Rules(partitions=1), algo="learned")
    job = gang.join().job
    similarity = job._reporter.similarity
    direct = gang.join().job
    ann, both = Learnt(2, {"lens": 2}), Learnt(5, {"lens": 3}, merged=("ann",))
    job._mixture.hear({"ann": ann}, as_own=False)
    job._mixture.hear({"bob": both}, as_own=False)
    direct._mixture.hear({"bob": both}, as_own=False)
    assert similarity.state() == direct._reporter.similarity.state()
    for worker in gang.workers.values():
        worker.job.close()
