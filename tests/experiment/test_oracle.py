"""The oracle on graphs made by hand, and against a slow search that does what its rule says."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.experiment import LinkGraph, oracle_order


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
