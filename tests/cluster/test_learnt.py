"""What workers tell each other of what they learnt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.cluster import Learnt, LearntStore, Rules
from mmcrawl.frontier import PatternRecord
from tests.tables import each

from .memory import Gang, MadeWeb, memory_store

COUNTS = st.integers(0, 1 << 40)
PATTERNS = st.builds(PatternRecord, st.text(), st.text(), COUNTS, COUNTS, COUNTS)


@given(
    pages=COUNTS,
    words=st.dictionaries(st.text(), COUNTS),
    largest=st.lists(st.floats(0, 9), max_size=3).map(tuple),
    learnt_links=st.lists(st.tuples(st.integers(0, 1_023), COUNTS), max_size=3).map(tuple),
    merged=st.lists(st.text(), max_size=2).map(tuple),
    patterns=st.lists(PATTERNS, max_size=2).map(tuple),
)
def test_it_is_read_as_it_was_told(*, pages, words, largest, learnt_links, merged, patterns):
    learnt = Learnt(pages, words, largest, b"", learnt_links, merged, patterns)
    assert Learnt.decode(learnt.encode()) == learnt


@each("data", [b"", b"x", Learnt(3).encode()[:-3], Learnt(3, link_model=b"x").encode()])
def test_what_nobody_told_is_refused(data):
    with pytest.raises(ValueError, match=r".+"):
        Learnt.decode(data)


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
