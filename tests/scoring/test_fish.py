"""Fish-search: who lives, who goes to the front, who is held."""

from mmcrawl.frontier import HELD, NewLink
from tests.tables import each

FRONT, BEHIND = 1.0, 0.5
STEP = 2.0**-32


def relevant_pages(*urls):
    return lambda url: url in urls


def chain(length):
    return {f"/{n}": [f"/{n + 1}"] for n in range(length)}


def score(crawl, url):
    return crawl.frontier.record(crawl.frontier.lookup(f"http://h.test{url}")).score


@each("depth", [0, 3])
def test_depth_is_how_many_irrelevant_pages_are_crossed(made_up_crawl, depth):
    crawl = made_up_crawl("fish", chain(9), depth=depth)
    crawl.seed("/0")
    # /0 has the full depth, /1 one less … /depth has 0, and its link is dropped
    assert crawl.run() == [f"/{n}" for n in range(depth + 1)]
    assert crawl.scores() == {f"/{depth + 1}": HELD}
    assert crawl.frontier.ready == 0


def test_links_of_relevant_pages_go_to_the_front_the_latest_first(made_up_crawl):
    web = {"/": ["/a", "/b", "/c"], "/a": ["/a1", "/a2"], "/a1": ["/x"], "/b": ["/y"]}
    crawl = made_up_crawl("fish", web, relevant_pages("/", "/a", "/a1"))
    crawl.seed("/", "/other-seed")
    assert crawl.run() == [
        *["/", "/a", "/a1", "/x"],  # each relevant page's links come before what waited
        *["/a2", "/b", "/c"],
        "/other-seed",
        "/y",  # the link of an irrelevant page comes last
    ]


def test_scores_by_hand(made_up_crawl):
    web = {"/": ["/a", "/b"], "/a": ["/a1", "/b"], "/a1": ["/c", "/b"]}
    crawl = made_up_crawl("fish", web, relevant_pages("/", "/a"), depth=1)
    crawl.seed("/")
    assert score(crawl, "/") == FRONT
    crawl.run(1)  # page 1
    assert crawl.scores() == {"/a": 1 + STEP, "/b": 1 + STEP}
    crawl.run(1)  # page 2, relevant: /b stands on it too, and moves up
    assert crawl.scores() == {"/a1": 1 + 2 * STEP, "/b": 1 + 2 * STEP}
    assert crawl.run(1) == ["/b"]  # found before /a1
    crawl.run(1)  # page 4, irrelevant, depth 1: its link gets 0
    assert crawl.scores() == {"/c": BEHIND}


def test_a_dropped_link_lives_when_a_relevant_page_holds_it(made_up_crawl):
    web = {"/": ["/x", "/y"], "/s": ["/x"]}
    crawl = made_up_crawl("fish", web, relevant_pages("/s"), depth=0)
    crawl.seed("/", "/s")
    crawl.run(1)
    assert score(crawl, "/x") == HELD
    assert crawl.run() == ["/s", "/x"]
    assert crawl.scores() == {"/y": HELD}


def test_the_target_of_a_redirect_stands_where_the_redirect_stood(made_up_crawl):
    web = {"/": ["/old"], "/new": ["/x"], "/x": ["/y"]}
    crawl = made_up_crawl("fish", web, depth=1)
    crawl.seed("/")
    crawl.run(1)
    old, _ = crawl.start()
    crawl.fail(old)
    assert crawl.answer.ids == []
    crawl.apply(crawl.scorer.added(crawl.add("/new", parent=old)))
    assert score(crawl, "/new") == BEHIND
    assert crawl.run() == ["/new"]  # depth 0, as /old had
    _, scores = crawl.replayed()
    assert scores[crawl.frontier.waiting()[0]] == HELD


def test_what_a_spider_asks_for_is_not_dropped(made_up_crawl):
    crawl = made_up_crawl("fish", {"/": ["/a"]}, depth=0)
    crawl.seed("/")
    crawl.run(1)
    [(link, _)] = crawl.frontier.add([NewLink("http://h.test/asked")], 0)
    crawl.apply(crawl.scorer.added([link]))
    assert crawl.run() == ["/asked"]


def test_revision_takes_back_depth_and_place(made_up_crawl):
    web = {
        "/": ["/r", "/q"],
        "/r": ["/r1", "/shared"],
        "/r1": ["/r2"],
        "/r2": ["/r3"],
        "/q": ["/shared"],
    }
    crawl = made_up_crawl("fish", web, relevant_pages("/r", "/q"), depth=2)
    crawl.seed("/")
    assert crawl.run(3) == ["/", "/r", "/r1"]
    # /r1 had depth 2 from /r, and its link 1
    crawl.is_relevant = relevant_pages("/q")
    crawl.frontier.revise([1])
    crawl.apply(crawl.scorer.revised([1]))
    # /: 2, /r: 1, /r1 and /shared: 0, /r2 is dropped
    assert crawl.scores() == {"/q": BEHIND, "/shared": BEHIND, "/r2": HELD}
    assert crawl.run() == ["/q", "/shared"]


def test_a_relevant_page_gives_its_links_the_full_depth_again(made_up_crawl):
    crawl = made_up_crawl("fish", chain(9), relevant_pages("/2"), depth=2)
    crawl.seed("/0")
    # /0: 2, /1: 1, /2: 0 but relevant, /3: 2, /4: 1, /5: 0, /6 is dropped
    assert crawl.run() == [f"/{n}" for n in range(6)]


def test_of_several_irrelevant_pages_the_greatest_depth_counts(made_up_crawl):
    web = {"/": ["/1"], "/1": ["/2"], "/2": ["/x"], "/s": ["/x"], "/x": ["/y"]}
    crawl = made_up_crawl("fish", web, depth=2)
    crawl.seed("/", "/s")
    # seeds first: / and /s, depth 2. /x has 1 from /s, not 2 − 3 < 0 by way of /2; /y has 0
    assert crawl.run() == ["/", "/s", "/1", "/x", "/2", "/y"]
