"""The generic search: first in, first out."""

TREE = {
    "/": ["/b", "/a", "http://i.test/"],
    "/b": ["/b1", "/a"],
    "/a": ["/a1", "/b1"],
    "http://i.test/": ["/i"],
    "/b1": ["/leaf"],
}


def test_links_are_fetched_in_the_order_they_were_found(made_up_crawl):
    crawl = made_up_crawl("breadth", TREE, lambda url: url == "/b")
    crawl.seed("/", "/second-seed")
    assert crawl.run(4) == ["/", "/second-seed", "/b", "/a"]
    crawl.fail(crawl.start()[0])
    crawl.apply(crawl.scorer.revised([1]))
    assert crawl.answer.ids == []
    assert crawl.run() == ["/b1", "/a1", "/leaf"]
