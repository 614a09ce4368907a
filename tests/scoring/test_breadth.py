"""The generic search: first in, first out."""

import pytest

from mmcrawl.scoring import LinkText

TREE = {
    "/": ["/b", "/a", "http://i.test/"],
    "/b": ["/b1", "/a"],
    "/a": ["/a1", "/b1"],
    "http://i.test/": ["/i"],
    "/b1": ["/leaf"],
}


@pytest.fixture
def crawl(made_up_crawl):
    return made_up_crawl("breadth", TREE)


def test_links_are_fetched_in_the_order_they_were_found(crawl):
    crawl.seed("/", "/second-seed")
    assert crawl.run() == [
        *["/", "/second-seed"],
        *["/b", "/a", "http://i.test/"],
        *["/b1", "/a1", "/i"],
        "/leaf",
    ]


def test_finds_and_failures_change_nothing(crawl):
    crawl.is_relevant = lambda url: url == "/b"
    crawl.seed("/")
    crawl.run(2)
    link, _ = crawl.start()
    crawl.fail(link)
    crawl.apply(crawl.scorer.revised([1]))
    assert crawl.answer.ids == []
    assert crawl.run() == ["http://i.test/", "/b1", "/i", "/leaf"]


def test_words_do_not_matter_and_nothing_is_learnt(crawl):
    assert crawl.scorer.content(LinkText("光学", "optics", "透镜")) == 0
    assert crawl.scorer.patterns() == []


def test_a_resumed_search_scores_its_links_as_before(crawl):
    crawl.seed("/")
    crawl.run(3)
    _, scores = crawl.replayed()
    assert {link: scores[link] for link in crawl.frontier.waiting()} == dict.fromkeys(
        crawl.frontier.waiting(), 0.0
    )
