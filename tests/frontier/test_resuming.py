"""What of a crawl is in its file: everything up to the last commit, and nothing in between."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mmcrawl.frontier import (
    HELD,
    KnownLink,
    LinkScores,
    NewLink,
    PageRecord,
    SqliteFrontier,
    open_store,
)

H = "http://h.test"


@pytest.fixture
def opened(path: Path) -> Iterator[Callable[[], SqliteFrontier]]:
    """A function that opens the frontier in the file, and closes the one that was open."""
    with ExitStack() as stack:

        def open_again() -> SqliteFrontier:
            stack.close()
            store = stack.enter_context(open_store(f"sqlite:///{path}"))
            store.job("another", {})
            return SqliteFrontier(store, store.job("crawl", {}))

        yield open_again


def add(frontier, *links, parent=None, scores=None):
    ids = [n for n, _ in frontier.add([NewLink(H + link) for link in links], parent)]
    frontier.apply(LinkScores(ids, scores or [1.0] * len(ids), [0.25] * len(ids)))
    return ids


def crawl_seed_with_links(frontier):
    seed = frontier.next().id
    links = add(frontier, "/a", "/b", parent=seed)
    frontier.complete(seed, PageRecord(f"{H}/", "t", "", "", True, True, 2, 1.0), links)


def test_a_page_is_crawled_in_the_same_commit_as_its_links_appear(path, opened):
    frontier = opened()
    add(frontier, "/")
    frontier.commit()
    with sqlite3.connect(path) as other:

        def seen():
            status = other.execute("SELECT group_concat(status, '') FROM link").fetchone()[0]
            return status, other.execute("SELECT count(*) FROM page").fetchone()[0]

        crawl_seed_with_links(frontier)
        assert seen() == ("W", 0)
        frontier.commit()
        assert seen() == ("CWW", 1)
    other.close()


def test_what_was_not_committed_never_happened(opened):
    frontier = opened()
    add(frontier, "/")
    frontier.commit()
    crawl_seed_with_links(frontier)

    frontier = opened()
    assert (len(frontier), frontier.pages, frontier.waiting()) == (1, 0, [0])
    assert frontier.lookup(f"{H}/a") is None
    crawl_seed_with_links(frontier)
    frontier.commit()

    frontier = opened()
    assert frontier.counts == {"W": 2, "R": 0, "C": 1, "E": 0}
    assert (len(frontier), frontier.pages, frontier.waiting()) == (3, 1, [1, 2])
    assert frontier.record(0).path_score == 1


def test_scores_priorities_and_held_links_survive(opened):
    frontier = opened()
    ids = add(frontier, "/low", "/held", "/high", "/unscored", scores=[0.1, 0.2, 0.3, 0.4])
    frontier.add([NewLink(f"{H}/new"), NewLink(f"{H}/urgent", priority=2, request=b"r")])
    assert frontier.next().url == f"{H}/unscored"  # which is left running
    frontier.apply(LinkScores([ids[1], ids[0], 5], [HELD, 0.9, 0.0], [0.0, 0.7, 0.0]))
    frontier.commit()

    frontier = opened()
    assert frontier.record(ids[0]).structure_score == 0.7
    assert frontier.record(ids[1]).score == HELD
    assert (frontier.ready, frontier.waiting()) == (4, [0, 1, 2, 3, 4, 5])
    order = [frontier.next() for _ in range(4)]
    assert [link.url.removeprefix(H) for link in order] == ["/urgent", "/low", "/unscored", "/high"]
    assert (order[0].request, order[0].priority) == (b"r", 2)
    frontier.apply(LinkScores([ids[1]], [0.5], [0.0]))
    assert frontier.next().url == f"{H}/held"


def test_what_scoring_asks_of_a_link_survives(opened):
    frontier = opened()
    [seed] = add(frontier, "/")
    place = {"anchor": "光", "group_title": "物理", "tag_path": "html body ul.menu li a"}
    frontier.add(
        [NewLink(f"{H}/a", content_score=0.5, physical_layer=3, logical_layer=2, **place)], seed
    )
    expected = KnownLink(f"{H}/a", 0.5, 3, seed, 2, *place.values())
    assert frontier.known(1) == expected
    frontier.commit()

    frontier = opened()
    assert frontier.known(1) == expected
    assert (frontier.known(seed).parent, frontier.known(seed).tag_path) == (None, "")
    assert frontier.without_parent() == [seed]


def test_a_resumed_frontier_goes_on_numbering_and_recognises_its_links(opened):
    frontier = opened()
    add(frontier, "/a?x=1&y=2", "/b")
    frontier.commit()

    frontier = opened()
    assert frontier.lookup(f"{H}/a?y=2&x=1") == 0
    new = [NewLink(f"{H}/b"), NewLink("http://i.test/c")]
    assert frontier.add(new) == [(1, False), (2, True)]
    assert frontier.url(2) == "http://i.test/c"


@pytest.mark.parametrize(("crawled", "waiting"), [(False, [0, 1]), (True, [])])
def test_links_that_failed_wait_again_only_if_nothing_could_be_fetched(opened, crawled, waiting):
    frontier = opened()
    add(frontier, "/a", "/b")
    frontier.fail(frontier.next().id, "no network")
    link = frontier.next()
    if crawled:
        frontier.complete(link.id, PageRecord(link.url, "", "", "", False, False, 0, 1.0), [])
    else:
        frontier.fail(link.id, "no network")
    frontier.commit()

    frontier = opened()
    assert frontier.waiting() == waiting
    assert len(list(frontier.history())) == 2 - len(waiting)


def test_a_refused_link_is_recorded_and_never_waits(opened):
    frontier = opened()
    refused = NewLink(f"{H}/a", refused="request refused: meta['x']")
    assert frontier.add([refused, refused, NewLink(f"{H}/a")]) == [(1, True)]
    frontier.apply(LinkScores([0, 1], [1.0, 1.0], [0.0, 0.0]))
    for _ in range(2):
        assert (frontier.ready, frontier.counts["E"], frontier.held()) == (1, 1, [])
        assert frontier.without_parent() == [1]
        assert list(frontier.history()) == []
        assert frontier.errors() == {"request refused: meta['x']": 1}
        frontier.commit()
        frontier = opened()
    assert frontier.next().id == 1
