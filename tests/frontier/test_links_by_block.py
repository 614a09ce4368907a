"""Where links stand by the kinds of the blocks they were found in."""

from mmcrawl.frontier import (
    LinkScores,
    NewLink,
    PageRecord,
    SqliteFrontier,
    SqliteStore,
    open_store,
)
from tests.tables import each


def scored(frontier: SqliteFrontier, *links: tuple[str, str, float]) -> list[int]:
    new = [NewLink(f"http://h.test/{path}", block=block) for path, block, _ in links]
    ids = [number for number, _ in frontier.add(new)]
    rescore(frontier, dict(zip(ids, (score for *_, score in links), strict=True)))
    return ids


def rescore(frontier: SqliteFrontier, scores: dict[int, float]) -> None:
    frontier.apply(LinkScores(list(scores), list(scores.values()), [0.0] * len(scores)))


def order_of(frontier: SqliteFrontier) -> list[int]:
    taken = []
    while (link := frontier.next()) is not None:
        taken.append(link.id)
    return taken


def frontier_of(store: SqliteStore, links: str) -> SqliteFrontier:
    return SqliteFrontier(store, store.job("crawl", {}), links)


@each("links, kind", [("all", "advertisement"), ("all", "copyright"), ("related", "navigation")])
def test_of_equal_scores_also_of_none_those_off_topic_come_last(links: str, kind: str) -> None:
    with open_store("memory:") as store:
        frontier = frontier_of(store, links)
        found = [("a", kind, 0.0), ("b", "", 0.0), ("c", kind, 0.1), ("d", "", 0.0)]
        late, text, better, more = scored(frontier, *found)
        assert order_of(frontier) == [better, text, more, late]


@each("kind", ["noise-links", "advertisement"])
def test_links_that_are_not_related_wait_however_good_until_all_are_followed(kind, tmp_path):
    uri = f"sqlite:///{tmp_path}/crawl.db"
    with open_store(uri) as store:
        frontier = frontier_of(store, "related")
        off_topic, text = scored(frontier, ("a", kind, 9.0), ("b", "topic", 1.0))
        assert frontier.next().id == text  # type: ignore[union-attr]
        assert frontier.next() is None
        assert frontier.held() == [off_topic]
        frontier.complete(text, PageRecord("http://h.test/b", "", "", "", False, False, 0, 0.0), [])
        frontier.commit()
    with open_store(uri) as store:
        assert order_of(frontier_of(store, "all")) == [off_topic]


def test_a_link_that_a_better_block_has_as_well_is_followed() -> None:
    with open_store("memory:") as store:
        frontier = frontier_of(store, "related")
        noise, bar, still = scored(
            frontier, ("a", "noise-links", 2.0), ("b", "noise-links", 1.0), ("c", "copyright", 3.0)
        )
        frontier.found_in(noise, "related-links")
        frontier.found_in(bar, "navigation")
        frontier.found_in(bar, "advertisement")
        frontier.found_in(still, "")
        assert frontier.record(noise).block == "related-links"
        assert frontier.record(bar).block == "navigation"
        assert order_of(frontier) == [noise, bar]
        assert frontier.held() == [still]


def test_a_link_that_waits_again_keeps_its_place() -> None:
    with open_store("memory:") as store:
        frontier = frontier_of(store, "related")
        bar, text = scored(frontier, ("a", "navigation", 1.0), ("b", "topic", 0.4))
        assert frontier.next().id == bar  # type: ignore[union-attr]
        frontier.requeue(bar, None, 0)
        rescore(frontier, {bar: 1.0, text: 1.0})
        assert (frontier.record(bar).score, frontier.record(bar).block) == (1.0, "navigation")
        assert order_of(frontier) == [text, bar]
