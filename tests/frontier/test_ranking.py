"""Where links stand: rules of the user, kinds of their blocks, scores; also on resuming."""

from collections.abc import Mapping

import pytest

from mmcrawl.frontier import (
    HELD,
    LinkScores,
    NewLink,
    PageRecord,
    Ranking,
    SqliteFrontier,
    SqliteStore,
)
from tests.tables import each


def frontier_of(
    store: SqliteStore, weights: Mapping[str, int] | None = None, links: str = "related"
) -> SqliteFrontier:
    def rules(url: str) -> int | None:
        return (weights or {}).get(url.rpartition("/")[2])

    return SqliteFrontier(store, store.job("crawl", {}), links, rules)


def put(frontier: SqliteFrontier, scores: Mapping[str, float], **more: object) -> None:
    links = [NewLink(f"http://h.test/{name}", **more) for name in scores]
    ids = [number for number, _ in frontier.add(links)]
    frontier.apply(LinkScores(ids, list(scores.values()), [0.0] * len(ids)))


def order_of(frontier: SqliteFrontier) -> str:
    taken = []
    while link := frontier.next():
        taken.append(link.url[-1])
    return "".join(taken)


def test_a_new_score_moves_a_link_among_those_of_its_weight_only(store: SqliteStore) -> None:
    frontier = frontier_of(store, {"b": 2, "c": 1, "d": 2})
    put(frontier, {"a": 5.0, "b": 0.2, "d": 0.1, "c": HELD})
    frontier.apply(LinkScores([0, 2], [900.0, 0.3], [0.0, 0.0]))
    assert order_of(frontier) == "dbca"  # the algorithm holds c, which a rule lets go


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


@each("priority", [1, -1, 127, -127, 128, -128, 100_000, -100_000])
def test_priorities_of_any_size_are_kept_and_taken_back(priority: int) -> None:
    ranking = Ranking("all", None)
    ranking.note(3, "http://h.test/3", priority, "")
    ranking.note(4, "http://h.test/4", 0, "")
    assert [ranking.priority(link) for link in range(6)] == [0, 0, 0, priority, 0, 0]
    assert (ranking.rank(3, 0.5) > ranking.rank(4, 0.5)) == (priority > 0)
    ranking.set_priority(3, 0)
    assert ranking.rank(3, 0.5) == ranking.rank(4, 0.5) == 0.5


@pytest.mark.parametrize(("links", "kind"), [("all", "advertisement"), ("related", "navigation")])
def test_of_equal_scores_also_of_none_those_off_topic_come_last(store, links, kind):
    frontier = frontier_of(store, links=links)
    put(frontier, {"a": 0.0, "c": 0.1}, block=kind)
    put(frontier, {"b": 0.0, "d": 0.0})
    assert order_of(frontier) == "cbda"


def test_links_that_are_not_related_wait_however_good_until_all_are_followed(store) -> None:
    frontier = frontier_of(store)
    put(frontier, {"a": 9.0}, block="noise-links")
    put(frontier, {"b": 9.0}, block="advertisement")
    put(frontier, {"c": 1.0}, block="topic")
    assert frontier.next().id == 2
    assert frontier.next() is None
    assert frontier.held() == [0, 1]
    frontier.complete(2, PageRecord("http://h.test/c", "", "", "", False, False, 0, 0.0), [])
    frontier.commit()
    assert order_of(frontier_of(store, links="all")) == "ab"


def test_a_link_that_a_better_block_has_as_well_is_followed(store: SqliteStore) -> None:
    frontier = frontier_of(store)
    put(frontier, {"a": 2.0, "b": 1.0}, block="noise-links")
    put(frontier, {"c": 3.0}, block="copyright")
    for link, block in ((0, "related-links"), (1, "navigation"), (1, "advertisement"), (2, "")):
        frontier.found_in(link, block)
    assert [frontier.record(link).block for link in (0, 1)] == ["related-links", "navigation"]
    assert order_of(frontier) == "ab"
    assert frontier.held() == [2]


def test_a_link_that_waits_again_or_has_a_new_score_keeps_its_block(store: SqliteStore) -> None:
    frontier = frontier_of(store)
    put(frontier, {"a": 1.0}, block="navigation")
    put(frontier, {"b": 0.4}, block="topic")
    assert frontier.next().id == 0
    frontier.requeue(0, None, 0)
    frontier.apply(LinkScores([0, 1], [1.0, 1.0], [0.0, 0.0]))
    assert (frontier.record(0).score, frontier.record(0).block) == (1.0, "navigation")
    assert order_of(frontier) == "ba"
