"""Measures, against cases worked by hand."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.experiment import LinkGraph, measures, oracle_order
from mmcrawl.scoring import Pattern, generalise, url_parts
from tests.tables import each

YES, NO = True, False


def test_precision_and_recall_are_shares_of_fetched_and_of_wanted() -> None:
    assert measures.precision(984, 26872) == pytest.approx(0.0366, abs=1e-4)
    assert measures.recall(2048, 3059) == pytest.approx(0.670, abs=1e-3)


def test_recall_of_a_web_without_relevant_pages_is_undefined() -> None:
    assert measures.recall(0, 0) is None
    assert measures.precision(0, 0) is None
    assert measures.area([NO, NO], 0, 2) is None
    assert measures.area_share([NO], [], 0, 2) is None


def test_the_interval_of_recall_holds_95_percent_of_the_draws_of_three_sites_or_more() -> None:
    # all three draws are the one site that was found in 1 of 27 cases: 3.7 %, more than 2.5
    assert measures.recall_interval([0, 0, 5, 0], [5, 5, 5, 0]) == (0, 1)
    assert measures.recall_interval([0, 5, 0], [5, 5, 0]) is None  # the third has nothing to find


def test_a_run_that_stopped_early_stays_where_it_was() -> None:
    assert measures.found_after([NO, YES], 5).tolist() == [0, 0, 1, 1, 1, 1]


def test_area_is_the_mean_recall_over_all_pages_of_the_web() -> None:
    # recall after 1, 2, 3, 4 fetches of 4: 0, 1/2, 1/2, 1
    assert measures.area([NO, YES, NO, YES], 2, 4) == pytest.approx(0.5)
    # an oracle that has both after two: 1/2, 1, 1, 1
    assert measures.area([YES, YES], 2, 4) == pytest.approx(0.875)
    assert measures.area_share([NO, YES, NO, YES], [YES, YES], 2, 4) == pytest.approx(4 / 7)


@each("pages, share", [(592, 124), (1, 1), (50, 11)])
def test_pages_at_21_percent(pages: int, share: int) -> None:
    assert measures.pages_at_share(pages) == share


def test_layers_count_pages_and_relevant_pages() -> None:
    counted = measures.per_layer([2, 1, 2, 4], [YES, NO, NO, YES])
    assert counted == {1: (1, 0), 2: (2, 1), 4: (1, 1)}
    assert list(counted) == [1, 2, 4]


def test_patterns_count_pages_and_relevant_pages_those_without_come_last() -> None:
    counted = measures.per_pattern(["", "a", "b", "b", ""], [NO, YES, YES, YES, YES])
    assert list(counted.items()) == [("b", (2, 2)), ("a", (1, 1)), ("", (2, 1))]


@each(
    "urls",
    [
        ["http://h.test/c.php?id=1&k=a", "http://h.test/c.php?id=2&k=a"],
        ["http://h.test/a/1.htm", "http://h.test/a/b/2.htm"],
        ["http://h.test:8080/a/*/b", "http://h.test:8080/a/c/b"],
    ],
)
def test_a_pattern_is_read_as_it_was_written(urls: list[str]) -> None:
    pattern = generalise([url_parts(url) for url in urls])
    assert measures.pattern_of(str(pattern)) == pattern


def test_of_several_patterns_the_first_that_matches_counts() -> None:
    wide, narrow = Pattern("h.test", ("*", "*")), Pattern("h.test", ("a", "*"))
    assert measures.best_pattern("http://h.test/a/1", [wide, narrow]) is wide
    assert measures.best_pattern("http://h.test/a/1", [narrow, wide]) is narrow
    assert measures.best_pattern("http://h.test/a", [wide, narrow]) is None


def test_spread_of_repeats_leaves_out_what_is_undefined() -> None:
    assert measures.spread([3, None, 1]) == {"mean": 2, "min": 1, "max": 3}
    assert measures.spread([None]) == {"mean": None, "min": None, "max": None}


def each(wanted: set[int]) -> dict[int, frozenset[int]]:
    """Return wanted pages of which each holds one thing of its own."""
    return {page: frozenset([page]) for page in wanted}


def order(outlinks: list[list[int]], wanted: set[int], seeds: tuple[int, ...] = (0,)) -> list[int]:
    return oracle_order(LinkGraph.of(outlinks, seeds), range(len(outlinks)), each(wanted))


def test_ways_are_measured_from_all_that_was_fetched() -> None:
    # 4 is four pages from the seed, but one from 3, which is fetched first
    assert order([[1], [2, 3], [4], [4], []], {3, 4}) == [0, 1, 3, 4]


def test_a_copy_of_a_page_is_not_fetched_again() -> None:
    graph = LinkGraph.of([[1, 2], [], [3], []], [0])
    assert oracle_order(graph, [0, 1, 2, 1], each({1})) == [0, 1]
    assert oracle_order(graph, [0, 1, 2, 1], each({1, 2})) == [0, 1, 2]


def test_a_page_whose_media_were_all_had_is_not_fetched() -> None:
    graph = LinkGraph.of([[1, 2, 3], [], [], []], [0])
    media = {1: frozenset("ab"), 2: frozenset("b"), 3: frozenset("bc")}
    assert oracle_order(graph, range(4), media) == [0, 1, 3]


def _steps_to(outlinks: list[list[int]], seeds: list[int], had: set[int]) -> dict[int, int]:
    """Return how many new pages it takes to have each page, by plain search."""
    steps = dict.fromkeys(had, 0) | {s: 1 for s in seeds if s not in had}
    queue = deque(sorted(steps, key=steps.__getitem__))
    while queue:
        page = queue.popleft()
        for target in outlinks[page]:
            if target not in steps:
                steps[target] = steps[page] + 1
                queue.append(target)
    return steps


graphs = st.integers(1, 9).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(0, n - 1), max_size=4, unique=True), min_size=n, max_size=n),
        st.sets(st.integers(0, n - 1)),
        st.sets(st.integers(0, n - 1), min_size=1, max_size=2),
    )
)


@given(graphs)
def test_every_step_costs_as_little_as_it_can(case):
    outlinks, wanted, seeds = case[0], case[1], sorted(case[2])
    fetched = order(outlinks, wanted, tuple(seeds))
    assert len(set(fetched)) == len(fetched)
    had: set[int] = set()
    left = set(wanted)
    while fetched:
        steps = _steps_to(outlinks, seeds, had)
        nearest = min(steps[page] for page in left if page in steps)
        way, fetched = fetched[:nearest], fetched[nearest:]
        for page in way:
            assert page in seeds or any(page in outlinks[before] for before in had)
            had.add(page)
        assert way[-1] in left
        assert not left & set(way[:-1])
        left -= set(way)
    assert not left & _steps_to(outlinks, seeds, had).keys()
