"""The generic search: first in, first out."""

import pytest

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
