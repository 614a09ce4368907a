"""Search by URL patterns: what is learnt, and the order of links."""

import numpy as np
import pytest

from mmcrawl.frontier import PatternRecord
from mmcrawl.scoring import Prospects, prior_of
from tests.tables import each

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


def deep(layer, count, name="p"):
    return [f"{'/d' * (layer - 1)}/{name}{n}" for n in range(count)]


# -- patterns and order -------------------------------------------------------------------------


def test_a_pattern_is_learnt_and_its_links_come_before_all_others(school):
    crawl = school()
    crawl.content = lambda url: 1.0 if url in NEWS else 0.0
    fetched = crawl.run()
    assert sorted(fetched) == sorted(["/", *NEWS, *VIDEOS])
    learnt = [i for i, url in enumerate(fetched) if is_video(url)][3]  # m + 1 = 4 videos
    assert all(map(is_video, fetched[learnt : learnt + 17]))
    assert crawl.scorer.patterns() == [PatternRecord("h.test", "http://h.test/v/*", 20, 20, 0)]


def test_a_pattern_lifts_the_links_it_matches_by_its_rate(school):
    scores = []
    for m in (3, 50):
        crawl = school(m=m, alpha=1.0)
        crawl.fetch("/", *VIDEOS[:4], *NEWS[:2])
        crawl.apply(crawl.scorer.added(crawl.frontier.waiting()))
        scores.append(crawl.scores())
    lifted = {url: score - scores[1][url] for url, score in scores[0].items()}
    by_rate = 0.3 * (4 + 1) / (4 + 2)  # Laplace: 4 of the 4 it was learnt from
    assert lifted == pytest.approx({url: by_rate * is_video(url) for url in lifted})
    assert len(lifted) == 34


def test_links_that_do_not_match_wait_behind_and_are_fetched(school):
    crawl = school()
    while not crawl.scorer.patterns():
        assert crawl.run(1)
    scores, before = crawl.scores(), len(crawl.fetched)
    news = [score for url, score in scores.items() if url in NEWS]
    videos = [score for url, score in scores.items() if is_video(url)]
    assert 0 < min(news) <= max(news) < min(videos)
    assert len(crawl.run()) == len(scores) == 41 - before


def test_without_its_additions_it_orders_by_the_score_of_the_paper_alone(school):
    crawl = school(worth=0, lift=0, s=1)
    crawl.content = lambda url: len(url) % 3 / 4
    crawl.fetch("/", *VIDEOS[:6], *NEWS[:2])
    assert crawl.scorer.patterns()
    crawl.apply(crawl.scorer.added(crawl.frontier.waiting()))
    records = list(map(crawl.frontier.record, crawl.frontier.waiting()))
    own = [0.4 * record.words_score + 0.6 * record.structure_score for record in records]
    assert [record.score for record in records] == pytest.approx(own)
    assert len(set(own)) > 2


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


def test_it_counts_on_how_many_pages_a_link_was_found(made_up_crawl, monkeypatch):
    monkeypatch.setattr(Prospects, "prior", prior_of({"linked": (1.0, 0.0)}))
    crawl = made_up_crawl("urlrule", {"/": [*NEWS, *VIDEOS], NEWS[0]: VIDEOS[3:4]}, alpha=1.0)
    crawl.seed("/")
    crawl.fetch("/", NEWS[0])
    scores = crawl.scores()
    assert scores.pop(VIDEOS[3]) > max(scores.values()) + 0.05


def test_seeds_come_before_the_best_of_links(school):
    crawl = school()
    crawl.content = lambda url: float(is_video(url))
    crawl.fetch("/", *VIDEOS[:8])
    crawl.seed("http://i.test/")
    assert crawl.run(2) == ["http://i.test/", VIDEOS[8]]


def test_a_pattern_learnt_by_accident_loses_its_power(school):
    crawl = school()
    crawl.is_relevant = lambda url: url in VIDEOS[:4]
    while not crawl.scorer.patterns():
        assert crawl.run(1)
    best = max(crawl.scores().values())
    crawl.run(8)
    assert max(crawl.scores().values()) < best - 0.3


def test_a_barren_directory_sinks_below_one_not_seen_yet(made_up_crawl):
    crawl = made_up_crawl("urlrule", {"/": [*deep(2, 60), "/new/1"]})
    crawl.seed("/")
    crawl.run(1)
    assert max(crawl.scores().values()) == crawl.scores()["/d/p0"]
    crawl.fetch(*deep(2, 40))
    scores = crawl.scores()
    assert max(scores, key=scores.get) == "/new/1"


def test_a_directory_of_links_that_fail_sinks(school):
    crawl = school()
    crawl.run(1)
    for url in VIDEOS[:12]:
        crawl.fail(crawl.take(url))
    scores = crawl.scores()
    assert max(scores[url] for url in VIDEOS[12:]) < min(scores[url] for url in NEWS)


def test_a_directory_with_finds_comes_first_before_it_has_a_pattern(school):
    crawl = school(m=50)
    crawl.fetch("/", *NEWS[:5], *VIDEOS[:5])
    assert all(map(is_video, crawl.run(15)))
    assert crawl.scorer.patterns() == []


@each("m, near, learns", [(3, 5, True), (19, 5, True), (20, 5, False), (3, 4, False)])
def test_m_and_near_say_what_a_cluster_is(school, m, near, learns):
    crawl = school(m=m, near=near)
    crawl.run()
    assert bool(crawl.scorer.patterns()) is learns


# -- second thoughts ----------------------------------------------------------------------------


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


def test_what_was_found_beside_pages_that_turn_out_irrelevant_sinks_without_a_pattern(school):
    crawl = school(m=50)
    pages = learn_exactly(crawl, videos=8)
    crawl.apply(crawl.scorer.added(crawl.frontier.waiting()))
    before = crawl.scores()
    crawl.apply(crawl.scorer.revised(pages))
    after = crawl.scores()
    assert len(after) > 12
    assert all(after[url] < before[url] - 0.1 for url in after if is_video(url))
