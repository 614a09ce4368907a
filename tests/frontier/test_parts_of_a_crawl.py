"""The frontier of a part: links to other parts are laid out, their pages stand by name."""

from collections.abc import Iterator

import pytest

from mmcrawl.frontier import (
    ELSEWHERE,
    LinkScores,
    NewLink,
    PageRecord,
    PastPage,
    SqliteFrontier,
    SqliteStore,
    Status,
    open_store,
)

PAGE = PageRecord(
    "http://other.test/p", "", "", "", True, True, 2, 1.0, topic_score=0.7, new_media=1
)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with open_store("memory:") as opened:
        opened.begin(3, "part", {})
        yield opened


def frontier_of(store: SqliteStore) -> SqliteFrontier:
    [job] = store.jobs()
    return SqliteFrontier(store, job, elsewhere=lambda url: "other" in url, siblings=64)


def test_links_to_other_parts_are_laid_out_once_with_the_page_they_stand_on(store):
    frontier = frontier_of(store)
    [(seed, _)] = frontier.add([NewLink("http://own.test/")])
    away = NewLink("http://other.test/a")
    assert frontier.add([away, NewLink("http://own.test/b"), away], seed) == [(1, True)]
    assert frontier.add([away], seed) == []
    assert frontier.outgoing == [(away, seed)]
    assert frontier.lookup(away.url) is None
    post = NewLink("http://other.test/form", filtered=False)
    frontier.add([post, post])
    assert frontier.outgoing[1:] == [(post, None), (post, None)]


def test_what_was_sent_long_ago_is_sent_again(store: SqliteStore) -> None:
    frontier = frontier_of(store)
    links = [NewLink(f"http://other.test/{number}") for number in range(1_000)]
    frontier.add(links)
    frontier.add(links[:1])
    frontier.add(links[-1:])
    assert [link for link, _ in frontier.outgoing] == [*links, links[0]]


def test_a_link_that_is_refused_is_recorded_where_it_was_asked_for(store: SqliteStore) -> None:
    frontier = frontier_of(store)
    assert frontier.add([NewLink("http://other.test/x", refused="no request of ours")]) == []
    assert (frontier.outgoing, frontier.counts[Status.ERROR]) == ([], 1)


def test_a_page_of_another_part_is_known_but_neither_fetched_nor_counted(store):
    frontier = frontier_of(store)
    page = frontier.add_elsewhere(PAGE, 4)
    assert frontier.add_elsewhere(PAGE, 9) == page
    links = [number for number, _ in frontier.add([NewLink("http://own.test/a")], page)]
    frontier.apply(LinkScores(links, [0.5], [0.0]))
    assert frontier.link_from(page, links) == links
    assert frontier.link_from(page, links) == []
    assert frontier.page(page) == ("http://other.test/p", True, True, 0.7, 1)
    assert frontier.page(links[0]) is None
    frontier.commit()
    for known in (frontier, frontier_of(store)):
        assert (known.pages, known.ready, len(known)) == (0, 1, 2)
        assert known.known(links[0]).parent == page
        assert known.known(page).logical_layer == 4
        [past] = known.history()
        assert isinstance(past, PastPage)
        assert (past.id, past.elsewhere, past.links) == (page, True, links)
        assert known.record(page).error == ELSEWHERE
        assert known.lookup(PAGE.url) is None  # a link to it would be another one


def test_of_a_part_without_a_page_nothing_is_fetched_again(store: SqliteStore) -> None:
    """One process that could fetch nothing tries all again; a page of others is none to fetch."""
    first = frontier_of(store)
    [(link, _)] = first.add([NewLink("http://dead.test/")])
    first.take(link)
    first.fail(link, "HTTP 404")
    first.add_elsewhere(PAGE, 1)
    first.commit()
    again = frontier_of(store)
    assert (again.counts[Status.WAITING], again.pages) == (0, 0)


def test_the_best_link_of_hosts_that_are_free_can_be_looked_at(store: SqliteStore) -> None:
    frontier = frontier_of(store)
    ids = [n for n, _ in frontier.add([NewLink("http://a.test/"), NewLink("http://b.test/")])]
    frontier.apply(LinkScores(ids, [0.9, 0.4], [0.0, 0.0]))
    assert frontier.best(lambda origin: True) == 0.9
    assert frontier.best(lambda origin: "b.test" in origin) == 0.4
    assert frontier.best(lambda origin: False) is None
    assert frontier.ready == 2
