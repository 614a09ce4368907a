"""Hubs and authorities (3.5): by hand, and against the eigenvalues of dense matrices."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.scoring import CrawledPage, LinkSimilarity
from mmcrawl.scoring.graph import Hits
from tests.scoring.conftest import OPTICS


def told(web, **parameters):
    """Return a scorer that was told of pages in turn, and what it answered to the last one."""
    scorer = Hits(None, LinkSimilarity(OPTICS), **({"growth": 0} | parameters))
    answer = None
    for page, links in web.items():
        answer = scorer.crawled(CrawledPage(page, "", False, False, links))
    return scorer, answer


def test_authorities_by_hand():
    # 0 links to 1 and 2, 1 to 2. AᵀA on (1, 2) is ((1, 1), (1, 2)), its largest eigenvalue
    # (3 + √5)/2, and its vector there (1, φ) with φ = (1 + √5)/2; 1 + φ = φ²
    golden = (1 + sqrt(5)) / 2
    scorer, answer = told({0: [1, 2], 1: [2]})
    assert scorer.ranks.tolist() == pytest.approx([0, 1 / golden**2, 1 / golden], abs=1e-7)
    assert answer.ids == [2]
    assert answer.score == answer.structure == [1.0]


def test_between_batches_a_page_adds_its_worth_as_a_hub():
    # after page 0 all three links have 1/3, and the eigenvalue is 3: h(0) = 1, a = 1/3
    # page 1 is a hub of a(2) = 1/3; it adds 1/3 / 3 to link 2 and to link 4, which had nothing
    scorer, answer = told({0: [1, 2, 3], 1: [2, 4]}, growth=1e9)
    assert scorer.ranks.tolist() == pytest.approx([0, 1 / 3, 1 / 3 + 1 / 9, 1 / 3, 1 / 9])
    assert answer.ids == [2, 4]
    assert answer.score == pytest.approx([4 / 3, 1 / 3])  # the largest of the batch was 1/3


def test_a_region_that_was_weak_can_become_the_strongest():
    """The ranks of before are where a batch starts; a rank of 0 must not last for ever."""
    web = {0: [1, 2, 3]} | {page: [20, 21, 22, 23] for page in range(10, 16)}
    scorer, _ = told(web)
    assert scorer.ranks[20:24].tolist() == pytest.approx([0.25] * 4, abs=1e-6)


@st.composite
def webs(draw):
    size = draw(st.integers(1, 10))
    ids = st.integers(0, size - 1)
    pages = draw(st.lists(ids, unique=True, min_size=1))
    return {page: draw(st.lists(ids, unique=True)) for page in pages}


@given(web=webs())
def test_authorities_are_a_vector_of_the_largest_eigenvalue(web):
    scorer, _ = told(web)
    ranks = scorer.ranks
    links = np.zeros((len(ranks), len(ranks)))
    for page, targets in web.items():
        links[page, targets] = 1
    assert np.all(ranks >= 0)
    if not links.any():
        assert not ranks.any()
        return
    assert ranks.sum() == pytest.approx(1)
    values = np.linalg.eigvalsh(links.T @ links)
    reached = ranks @ links.T @ links @ ranks / (ranks @ ranks)
    assert reached <= values[-1] + 1e-9
    assert reached >= values[-1] * 0.97  # 100 steps; regions nearly as strong part slowly
    second = max((v for v in values if v < values[-1] - 1e-6), default=0.0)
    if second < values[-1] * 0.8:
        assert links.T @ links @ ranks == pytest.approx(values[-1] * ranks, abs=1e-6)
