"""Search by URL patterns: what is learnt, and the order of links."""

import numpy as np
import pytest

from mmcrawl.frontier import PatternRecord

VIDEOS = [f"/v/{n}" for n in range(20)]
NEWS = [f"/n/{n}" for n in range(20)]


def is_video(url):
    return url.startswith("/v/")


@pytest.fixture
def school(made_up_crawl):
    """Make a crawl of a page that leads to 20 videos and 20 news."""

    def make(**parameters):
        crawl = made_up_crawl("urlrule", {"/": [*NEWS, *VIDEOS]}, is_video, **parameters)
        crawl.seed("/")
        return crawl

    return make


def test_a_pattern_is_learnt_and_its_links_come_before_all_others(school):
    crawl = school()
    crawl.content = lambda url: 1.0 if url in NEWS else 0.0
    fetched = crawl.run()
    assert sorted(fetched) == sorted(["/", *NEWS, *VIDEOS])
    learnt = [i for i, url in enumerate(fetched) if is_video(url)][3]  # m + 1 = 4 videos
    assert all(map(is_video, fetched[learnt : learnt + 17]))
    assert crawl.scorer.patterns() == [PatternRecord("h.test", "http://h.test/v/*", 20, 20, 0)]


def test_the_weights_say_how_much_each_addition_counts(school):
    def scores(**weights):
        crawl = school(**{"worth": 0, "lift": 0, "s": 0} | weights)
        crawl.fetch("/", *VIDEOS[:6], *NEWS[:2])
        crawl.apply(crawl.scorer.added(crawl.frontier.waiting()))
        return np.array(list(crawl.scores().values()))

    parts = {"worth": 0.5, "lift": 2.0, "s": 3.0}
    each = [weight * scores(**{name: 1}) for name, weight in parts.items()]
    assert scores(**parts) == pytest.approx(sum(each))
    assert all(part.any() for part in each)
    new, old = (scores(worth=1, novelty=novelty) for novelty in (0.5, 0))
    assert (new > old).all()


def test_a_directory_of_links_that_fail_sinks(school):
    crawl = school()
    crawl.run(1)
    for url in VIDEOS[:12]:
        crawl.fail(crawl.take(url))
    scores = crawl.scores()
    assert max(scores[url] for url in VIDEOS[12:]) < min(scores[url] for url in NEWS)


def learn_exactly(crawl, videos=4):
    """Crawl until that many videos were fetched; return their ids."""
    while sum(map(is_video, crawl.fetched)) < videos:
        assert crawl.run(1)
    return [
        link
        for link, url in enumerate(["/", *NEWS, *VIDEOS])
        if url in crawl.fetched[1:] and is_video(url)
    ]


def test_pages_that_turn_out_irrelevant_are_taken_out_of_their_pattern(school):
    crawl = school(worth=0, s=0)  # the score is what the pattern's rate lifts
    pages = learn_exactly(crawl)
    assert crawl.scorer.patterns()
    assert max(crawl.scores().values()) > 0
    crawl.apply(crawl.scorer.revised(pages[:1]))
    assert crawl.scorer.patterns() == []
    assert max(crawl.scores().values()) == 0
    assert set(crawl.answer.ids) == set(crawl.frontier.waiting())


@pytest.mark.parametrize("which", [slice(2), slice(-2, None)], ids=["learnt from", "led to"])
def test_a_pattern_lives_on_without_some_of_its_pages(school, which):
    crawl = school(worth=0, s=0, lift=1)  # the score is the pattern's rate
    pages = learn_exactly(crawl, videos=8)
    crawl.apply(crawl.scorer.revised(pages[which]))
    assert [pattern.urls for pattern in crawl.scorer.patterns()] == [6]
    videos = {score for url, score in crawl.scores().items() if is_video(url)}
    assert videos == {(6 + 1) / (8 + 2)}
