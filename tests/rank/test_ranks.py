"""Ranks against what linear algebra says of small graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.rank import (
    KIND_WEIGHTS,
    ArchiveGraph,
    GraphBuilder,
    Ranking,
    block_importance,
    block_pagerank,
    block_ranks,
    converge,
    hits,
    page_links,
    pagerank,
    quarkrank,
    random_surfer,
    topic_pagerank,
)
from tests.rank.graphs import (
    dense_ranks,
    graph_of,
    links_of,
    read_page,
    simple,
    topic_shares_of,
    walks_of,
    webs,
)
from tests.tables import each

Rank = Callable[[ArchiveGraph], Ranking]

RANKS: dict[str, Rank] = {
    "pagerank": pagerank,
    "topic-pagerank": lambda g: topic_pagerank(g, np.arange(g.pages) % 3 / 2),
    "authorities": lambda g: hits(g)[0],
    "hubs": lambda g: hits(g)[1],
    "block-pagerank": block_pagerank,
    "quarkrank": quarkrank,
    "block-ranks": block_ranks,
}


@each("rank", RANKS.values())
def test_ranks_sum_to_one_and_links_of_a_page_to_itself_count_for_nothing(rank: Rank) -> None:
    assert len(rank(GraphBuilder.of([])).scores) == 0
    np.testing.assert_allclose(rank(simple([], [], [])).scores, 1 / 3)
    with_, without = rank(simple([0, 1], [1, 2], [])), rank(simple([1], [2], []))
    np.testing.assert_allclose(with_.scores, without.scores, atol=1e-12)
    assert with_.scores.sum() == pytest.approx(1, abs=1e-12)
    assert (with_.scores >= 0).all()


@each("name", ["hubs", "quarkrank"])
@given(web=webs(least=2), dice=st.randoms(use_true_random=False))
def test_ranks_do_not_depend_on_the_order_of_input(name: str, web: list[Any], dice: Any) -> None:
    order = list(range(len(web)))
    dice.shuffle(order)  # the page that was order[n] becomes n
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    moved = [
        read_page(
            place[old],
            [(c, k, dice.sample([place[t] for t in ts], len(ts))) for c, k, ts in web[old]],
        )
        for old in range(len(web))
    ]
    dice.shuffle(moved)
    before = RANKS[name](graph_of(*web)).scores
    after = RANKS[name](GraphBuilder.of(moved)).scores
    np.testing.assert_allclose(after, before[order], rtol=0, atol=1e-11)


@given(web=webs())
def test_pagerank_is_what_the_linear_system_says(web: list[Any]) -> None:
    expected = dense_ranks(links_of(web), 0.15)
    np.testing.assert_allclose(pagerank(graph_of(*web)).scores, expected, rtol=0, atol=1e-11)


@each("weights", [None, KIND_WEIGHTS])
@given(web=webs())
def test_block_level_ranks_are_those_of_x_times_z_and_of_z_times_x(
    weights: dict[str, float] | None, web: list[Any]
) -> None:
    graph = graph_of(*web)
    x, z = walks_of(web, weights)
    pages = block_pagerank(graph, kind_weights=weights)
    np.testing.assert_allclose(pages.scores, dense_ranks(x @ z, 0.15), rtol=0, atol=1e-11)
    blocks = block_ranks(graph, kind_weights=weights)
    if graph.blocks:
        np.testing.assert_allclose(blocks.scores, dense_ranks(z @ x, 0.15), rtol=0, atol=1e-11)


@given(web=webs(), values=st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=7, max_size=7))
def test_topic_pagerank_is_what_its_formulas_say(web: list[Any], values: list[float]) -> None:
    content = np.array(values[: len(web)])
    shares = topic_shares_of(web, content)
    ranks = topic_pagerank(graph_of(*web), content)
    np.testing.assert_allclose(ranks.scores, dense_ranks(shares, 0.2), rtol=0, atol=1e-11)


def test_authorities_and_hubs_are_the_first_eigenvectors() -> None:
    graph = simple([1, 2, 3], [2, 3], [3, 0], [0], [0, 1, 3])
    links = page_links(graph).toarray()
    for ranking, product in zip(hits(graph), (links.T @ links, links @ links.T), strict=True):
        values, vectors = np.linalg.eigh(product)
        first = np.abs(vectors[:, np.argmax(values)])
        np.testing.assert_allclose(ranking.scores, first / first.sum(), atol=1e-9)


def test_quarkrank_passes_more_on_by_a_text_than_by_navigation() -> None:
    graph = graph_of(
        [(300, "navigation", [1]), (300, "topic", [2])], [(50, "topic", [0])], [(50, "topic", [0])]
    )
    plain, by_kind = block_pagerank(graph).scores, quarkrank(graph).scores
    assert plain[1] == pytest.approx(plain[2])
    assert by_kind[2] > 2 * by_kind[1]


def test_importance_goes_by_size_and_by_nearness_to_the_middle_of_the_text() -> None:
    page = [(100, "topic", []), (100, "topic", []), (100, "topic", []), (300, "topic", [])]
    first, second, third, large = block_importance(graph_of(page))
    assert first < second < third  # their middles are at 1/12, 3/12 and 5/12 of the text
    assert large == pytest.approx(3 * second)  # as far from the middle, three times the size
    assert first + second + third + large == pytest.approx(1)


@each(
    "wrong",
    [
        lambda g: pagerank(g, d=1.0),
        lambda g: block_pagerank(g, kind_weights={"topic": 0.0}),
        lambda g: topic_pagerank(g, np.ones(5)),
        lambda g: topic_pagerank(g, -np.ones(2)),
        lambda g: topic_pagerank(g, np.ones(2), omega=1.5),
    ],
)
def test_a_parameter_out_of_its_range_is_refused(wrong: Callable[[ArchiveGraph], object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        wrong(simple([1], [0]))


def test_ranks_that_do_not_settle_say_so() -> None:
    swaps = converge(lambda r: np.array([r[1] * 0.9 + 0.1, r[0] * 0.9]), 2, most_steps=3)
    assert (swaps.steps, swaps.settled) == (3, False)
    told: list[tuple[int, float]] = []
    settled = random_surfer(
        lambda r: r[::-1].copy(), 2, epsilon=0.15, progress=lambda *step: told.append(step)
    )
    assert settled.settled
    assert [step for step, _ in told] == [1]
