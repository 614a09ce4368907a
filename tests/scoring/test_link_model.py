"""What several crawls learnt, put together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.scoring import BITS, UNITS, Contribution, LinkModel
from tests.tables import each

FEATURES = st.lists(st.integers(1, 12), min_size=len(UNITS), max_size=len(UNITS))
OUTCOMES = st.tuples(FEATURES, st.booleans(), st.booleans())
LESSONS = st.lists(st.lists(OUTCOMES, max_size=8), min_size=1, max_size=4)


@pytest.fixture(autouse=True, scope="module")
def _small():
    """Have few features: there is room for a million otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("link_model", "evidence"):
            patch.setattr(f"mmcrawl.scoring.{module}.BITS", 5)
        patch.setattr("mmcrawl.scoring.link_model.fit_features", lambda: {3: 1.0, 5: 0.5})
        yield


def new():
    link_model = LinkModel(fit=2.0, variance=0.5, in_memory=100)
    link_model.begin_sharing(4)
    return link_model


def learn(link_model, outcomes):
    for features, relevant, led in outcomes:
        row = np.array(features, dtype=np.uint32)
        link_model.model.learn(row, 0.0, relevant)
        link_model.evidence.fetched(row, relevant)
        if led:
            link_model.evidence.led(row)


def natural(link_model):
    return np.concatenate([link_model.evidence.counts, link_model.model.natural()], axis=1)


def same(one, other):
    np.testing.assert_allclose(natural(one), natural(other), rtol=2e-3, atol=2e-3)


@given(lessons=LESSONS, data=st.data())
def test_all_know_the_same_in_whatever_order_they_hear_of_it(lessons, data):
    crawls = {str(number): new() for number in range(len(lessons))}
    one = new()
    for crawl, outcomes in zip(crawls.values(), lessons, strict=True):
        learn(crawl, outcomes)
        learn(one, outcomes)
    told = {name: crawl.contribution() for name, crawl in crawls.items()}
    for name, crawl in crawls.items():
        for other in data.draw(st.permutations(sorted(crawls.keys() - {name}))):
            crawl.hear({other: Contribution.decode(told[other].encode())})
        same(crawl, crawls["0"])
        np.testing.assert_allclose(crawl.evidence.counts, one.evidence.counts, atol=1e-3)
        assert crawl.contribution().features.tolist() == told[name].features.tolist()


@given(before=st.lists(OUTCOMES, max_size=6), then=st.lists(OUTCOMES, max_size=6))
def test_what_is_told_again_stands_in_place_of_what_was_told_before(before, then):
    crawl, often, once = new(), new(), new()
    learn(crawl, before)
    often.hear({"a": crawl.contribution()})
    learn(crawl, then)
    often.hear({"a": crawl.contribution()})
    once.hear({"a": crawl.contribution()})
    same(often, once)
    assert not often.contribution().sums.round(2).any()


@given(outcomes=st.lists(OUTCOMES, max_size=6), more=st.lists(OUTCOMES, max_size=6))
def test_what_is_absorbed_is_told_as_ones_own(outcomes, more):
    gone, heir, third, direct = new(), new(), new(), new()
    learn(gone, outcomes)
    learn(heir, more)
    direct.hear({"gone": gone.contribution(), "heir": heir.contribution()})
    heir.merge(gone.contribution())
    third.hear({"heir": heir.contribution()})
    same(third, direct)


@each(
    "data",
    [
        b"",
        b"x",
        Contribution(np.array([1 << BITS], np.uint32), np.ones((1, 5), np.float32)).encode(),
        Contribution(np.array([1], np.uint32), np.full((1, 5), np.nan, np.float32)).encode(),
    ],
)
def test_damaged_contributions_are_refused(data):
    with pytest.raises(ValueError, match=r"damaged"):
        Contribution.decode(data)
