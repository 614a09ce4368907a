"""Where links stand: rules of the user before scores, and what becomes of them on resuming."""

from collections.abc import Mapping

import pytest

from mmcrawl.frontier import HELD, LinkScores, NewLink, Ranking, SqliteFrontier, SqliteStore
from tests.tables import each


def frontier_of(store: SqliteStore, weights: Mapping[str, int]) -> SqliteFrontier:
    rules = lambda url: weights.get(url.rpartition("/")[2])  # noqa: E731
    return SqliteFrontier(store, store.job("crawl", {}), "related", rules)


def put(frontier: SqliteFrontier, scores: Mapping[str, float], **more: object) -> None:
    links = [NewLink(f"http://h.test/{name}", **more) for name in scores]  # type: ignore[arg-type]
    ids = [number for number, _ in frontier.add(links)]
    frontier.apply(LinkScores(ids, list(scores.values()), [0.0] * len(ids)))


def order_of(frontier: SqliteFrontier) -> str:
    taken = []
    while link := frontier.next():
        taken.append(link.url[-1])
    return "".join(taken)


def test_a_new_score_moves_a_link_among_those_of_its_weight_only(store: SqliteStore) -> None:
    frontier = frontier_of(store, {"b": 2, "d": 2})
    put(frontier, {"a": 5.0, "b": 0.2, "d": 0.1})
    frontier.apply(LinkScores([0, 2], [900.0, 0.3], [0.0, 0.0]))
    assert order_of(frontier) == "dba"


@pytest.mark.parametrize("score", [0.0, 999.0, HELD])
def test_a_link_of_weight_0_is_not_fetched_whatever_its_score(store, score):
    frontier = frontier_of(store, {"b": 0})
    put(frontier, {"a": 0.1, "b": score})
    frontier.apply(LinkScores([1], [score], [0.0]))
    assert (frontier.ready, frontier.held()) == (1, [1])
    assert order_of(frontier) == "a"


def test_priority_comes_before_weight_and_blocks_count_within_one(store: SqliteStore) -> None:
    frontier = frontier_of(store, dict.fromkeys("abd", 3) | {"c": 99})
    put(frontier, {"c": 1.0}, priority=-1)
    put(frontier, {"a": 0.5}, block="navigation")
    put(frontier, {"b": 0.5, "d": 0.3, "e": 0.0})
    put(frontier, {"f": 0.0}, priority=1)
    assert order_of(frontier) == "fbadec"


def test_a_link_that_is_fetched_again_stands_where_its_rule_says(store: SqliteStore) -> None:
    frontier = frontier_of(store, {"b": 7, "c": 0})
    put(frontier, {"a": 0.5, "b": 0.1, "c": 0.1})
    link = frontier.next()
    frontier.requeue(link.id, None, 0)
    frontier.take(2)
    frontier.requeue(2, None, 0)
    assert frontier.held() == [2]
    assert order_of(frontier) == "ba"


def test_rules_that_were_edited_count_when_a_crawl_is_taken_up_again(store: SqliteStore) -> None:
    frontier = frontier_of(store, {"a": 0, "b": 5})
    put(frontier, {"a": 0.3, "b": 0.1, "c": 0.2, "d": HELD})
    frontier.commit()
    again = frontier_of(store, {"c": 0, "d": 1})
    assert again.held() == [2]
    assert again.record(1).score == 0.1
    assert order_of(again) == "dab"


@each("priority", [1, -1, 127, -127, 128, -128, 100_000, -100_000])
def test_priorities_of_any_size_are_kept_and_taken_back(priority: int) -> None:
    ranking = Ranking("all", None)
    ranking.note(3, "http://h.test/3", priority, "")
    ranking.note(4, "http://h.test/4", 0, "")
    assert [ranking.priority(link) for link in range(6)] == [0, 0, 0, priority, 0, 0]
    assert (ranking.rank(3, 0.5) > ranking.rank(4, 0.5)) == (priority > 0)
    ranking.set_priority(3, 0)
    assert ranking.rank(3, 0.5) == ranking.rank(4, 0.5) == 0.5
