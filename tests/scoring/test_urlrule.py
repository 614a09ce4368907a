"""Search by URL patterns: probing (4.2), what is learnt, and the order of what waits."""

import math

import pytest

from mmcrawl.frontier import HELD, PatternRecord

VIDEOS = [f"/v/{n}" for n in range(20)]
NEWS = [f"/n/{n}" for n in range(20)]


def is_video(url):
    return url.startswith("/v/")


@pytest.fixture
def school(made_up_crawl):
    """Make a crawl of a page that leads to 20 videos and 20 news."""

    def make(**parameters):
        crawl = made_up_crawl(
            "urlrule", {"/": [*NEWS, *VIDEOS]}, relevant=is_video, **({"num2": 10} | parameters)
        )
        crawl.seed("/")
        return crawl

    return make


def deep(layer, count, name="p"):
    return [f"{'/d' * (layer - 1)}/{name}{n}" for n in range(count)]


# -- probing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("num2", [1, 3])
def test_probing_takes_num_n_pages_of_layer_n_down_to_the_tenth(made_up_crawl, num2):
    links = [link for layer in range(1, 13) for link in deep(layer, 10 * num2)]
    crawl = made_up_crawl("urlrule", {"/": links}, hard=True, num2=num2)
    crawl.seed("/")
    crawl.run()
    expected = {layer: num2 * (layer - 1) for layer in range(2, 11)}
    assert crawl.layers() == {1: num2} | expected
    assert set(crawl.scores().values()) == {HELD}


def test_what_is_not_probed_is_crawled_later_unless_the_focus_is_hard(made_up_crawl):
    links = [link for layer in (2, 3, 12) for link in deep(layer, 30)]
    crawl = made_up_crawl("urlrule", {"/": links}, num2=2)
    crawl.seed("/")
    crawl.run(7)
    assert crawl.layers() == {1: 1, 2: 2, 3: 4}
    crawl.run()
    assert crawl.layers() == {1: 1, 2: 30, 3: 30, 12: 30}


def test_probes_under_way_count_against_the_numbers(made_up_crawl):
    crawl = made_up_crawl("urlrule", {"/": deep(2, 30)}, num2=4)
    crawl.seed("/")
    crawl.run(1)
    under_way = []
    while (taken := crawl.start()) is not None:
        under_way.append(taken)
    assert len(under_way) == 4
    for taken in under_way[:-2]:
        crawl.finish(*taken)
        assert crawl.frontier.ready == 0  # the others may still find something
    crawl.fail(under_way[-2][0])
    assert crawl.frontier.ready == 26


def test_a_probe_that_does_not_come_back_does_not_hold_up_its_site(made_up_crawl):
    web = {"/": deep(2, 30), "/d/p0": deep(3, 30), "/d/p9": deep(4, 30)}
    crawl = made_up_crawl("urlrule", web, num2=4)
    crawl.seed("/")
    crawl.run(1)
    under_way = list(iter(crawl.start, None))
    for taken in under_way[:-1]:
        crawl.finish(*taken)
    assert crawl.run(8) == deep(3, 8)  # what the others found is probed as always
    assert len(crawl.run()) == 91 - 1 - 4 - 8
    assert crawl.frontier.waiting() == []
    crawl.finish(*under_way[-1])


def test_a_directory_with_few_links_is_probed_before_one_with_many(made_up_crawl):
    scripts = [f"/show.php?id={n}" for n in range(5)]
    links = [*deep(3, 20), "/a/x", "/b/x", *scripts]
    crawl = made_up_crawl("urlrule", {"/": links}, num2=10)
    crawl.seed("/")
    crawl.run(1)
    assert crawl.run(4) == ["/d/d/p0", "/a/x", "/b/x", "/show.php?id=0"]
    assert set(crawl.run(2)) == {"/d/d/p1", "/show.php?id=1"}


@pytest.mark.parametrize("num2", [0, 5])
def test_a_crawl_may_begin_below_the_layers_that_are_probed(made_up_crawl, num2):
    seed, *links = deep(13, 20)
    crawl = made_up_crawl("urlrule", {seed: links}, num2=num2)
    crawl.seed(seed)
    assert crawl.run() == [seed, *links]


def test_of_a_site_found_at_its_depths_one_page_is_probed_first(made_up_crawl):
    far = [f"http://i.test{path}" for path in deep(12, 20)]
    crawl = made_up_crawl("urlrule", {"/": [*deep(2, 3), *far]}, num2=5)
    crawl.seed("/")
    crawl.run(1)
    probe = crawl.frontier.next(lambda origin: origin == "http://i.test")
    crawl.apply(crawl.scorer.started(probe.id))
    assert crawl.frontier.next(lambda origin: origin == "http://i.test") is None
    crawl.finish(probe.id, probe.url)
    assert crawl.frontier.waiting_by_origin()["http://i.test"] == 19


# -- patterns and order -------------------------------------------------------------------------


def test_a_pattern_is_learnt_and_its_links_come_before_all_others(school):
    crawl = school()
    crawl.content = lambda url: 1.0 if url in NEWS else 0.0
    fetched = crawl.run()
    assert sorted(fetched) == sorted(["/", *NEWS, *VIDEOS])
    learnt = [i for i, url in enumerate(fetched) if is_video(url)][3]  # m + 1 = 4 videos
    assert all(map(is_video, fetched[learnt : learnt + 17]))
    assert crawl.scorer.patterns() == [PatternRecord("h.test", "http://h.test/v/*", 20)]


def test_matched_links_are_worth_their_rate_more_than_their_score(school):
    crawl = school()
    while not crawl.scorer.patterns():
        crawl.run(1)
    scores = crawl.scores()
    videos = [score for url, score in scores.items() if is_video(url)]
    assert min(videos) > 5 / 6  # Laplace: 4 of the 4 it was learnt from


def test_with_hard_focus_only_probes_and_links_that_match_are_fetched(school):
    crawl = school(hard=True, num2=8)
    crawl.run()
    assert [url for url in crawl.fetched if url in NEWS] == NEWS[:4]
    assert sum(map(is_video, crawl.fetched)) == 20
    assert crawl.scores() == dict.fromkeys(NEWS[4:], HELD)


def test_with_soft_focus_links_that_do_not_match_wait_behind(school):
    crawl = school(num2=8)
    crawl.run(9)
    news, videos = [], []
    for url, score in crawl.scores().items():
        (videos if is_video(url) else news).append(score)
    assert len(news) == len(videos) == 16
    assert 0 < min(news) <= max(news) < min(videos)
    assert len(crawl.run()) == 32


def test_scores_are_finite_and_below_a_thousand_or_held(school):
    crawl = school()
    while (taken := crawl.start()) is not None:
        assert all(0 <= s < 1000 or s == HELD for s in crawl.answer.score)
        crawl.finish(*taken)
        assert all(0 <= s < 1000 or s == HELD for s in crawl.answer.score)
        assert all(math.isfinite(s) for s in crawl.answer.structure)
        assert len(set(crawl.answer.ids)) == len(crawl.answer.ids)


def test_a_pattern_learnt_by_accident_loses_its_power(school):
    crawl = school()
    crawl.is_relevant = lambda url: url in VIDEOS[:4]
    while not crawl.scorer.patterns():
        crawl.run(1)
    best = max(crawl.scores().values())
    crawl.run(8)
    assert max(crawl.scores().values()) < best - 0.3


def test_a_barren_directory_sinks_below_one_not_seen_yet(made_up_crawl):
    crawl = made_up_crawl("urlrule", {"/": deep(2, 12), "/d/p4": ["/new/1"]}, num2=5)
    crawl.seed("/")
    crawl.run(6)
    scores = crawl.scores()
    assert len(scores) == 8
    assert max(scores, key=scores.get) == "/new/1"


def test_a_directory_with_finds_comes_first_before_it_has_a_pattern(school):
    crawl = school(m=50, num2=8)
    crawl.run(9)
    assert all(map(is_video, crawl.run(16)))
    assert crawl.scorer.patterns() == []


def test_sites_learn_apart(made_up_crawl):
    other = [f"http://i.test/v/{n}" for n in range(6)]
    crawl = made_up_crawl("urlrule", {"/": [*VIDEOS[:6], *other]}, relevant=is_video, num2=10)
    crawl.seed("/")
    crawl.run()
    assert [(p.host, p.pattern) for p in crawl.scorer.patterns()] == [
        ("h.test", "http://h.test/v/*")
    ]


@pytest.mark.parametrize(
    ("m", "near", "learns"), [(3, 5, True), (19, 5, True), (20, 5, False), (3, 4, False)]
)
def test_m_and_near_say_what_a_cluster_is(school, m, near, learns):
    crawl = school(m=m, near=near, num2=50)
    crawl.run()
    assert bool(crawl.scorer.patterns()) is learns


# -- second thoughts ----------------------------------------------------------------------------


def learn_exactly(crawl, videos=4):
    """Crawl until that many videos were fetched; return their ids."""
    while sum(map(is_video, crawl.fetched)) < videos:
        crawl.run(1)
    return [
        link
        for link, url in enumerate(["/", *NEWS, *VIDEOS])
        if url in crawl.fetched[1:] and is_video(url)
    ]


def test_pages_that_turn_out_irrelevant_are_taken_out_of_their_pattern(school):
    crawl = school(hard=True)
    pages = learn_exactly(crawl)
    assert crawl.scorer.patterns()
    before = max(crawl.scores().values())
    crawl.apply(crawl.scorer.revised(pages[:1]))
    assert crawl.scorer.patterns() == []
    assert max(crawl.scores().values()) <= before - 0.5
    assert set(crawl.answer.ids) == set(crawl.frontier.waiting())


@pytest.mark.parametrize("which", [slice(2), slice(-2, None)], ids=["learnt from", "led to"])
def test_a_pattern_lives_on_without_some_of_its_pages(school, which):
    crawl = school(alpha=1.0)  # without words and structure the score is the pattern's rate
    pages = learn_exactly(crawl, videos=8)
    crawl.apply(crawl.scorer.revised(pages[which]))
    assert [pattern.urls for pattern in crawl.scorer.patterns()] == [6]
    videos = {score for url, score in crawl.scores().items() if is_video(url)}
    assert videos == {(6 + 1) / (8 + 2)}


def test_revising_nothing_changes_nothing(school):
    crawl = school()
    learn_exactly(crawl)
    before = crawl.scores()
    crawl.apply(crawl.scorer.revised([]))
    assert crawl.scores() == before


@pytest.mark.parametrize("pages", [0, 1, 5, 14, 22, 35])
def test_a_scorer_that_is_told_the_history_is_where_it_was(school, pages):
    crawl = school()
    crawl.content = lambda url: len(url) % 3 / 3
    crawl.web = {"/": [*NEWS, *VIDEOS], **{page: ["/", *NEWS[:3], "/w/1"] for page in NEWS}}
    crawl.run(pages // 2)
    if pages:
        crawl.fail(crawl.start()[0])
    crawl.run(pages - pages // 2)
    scorer, scores = crawl.replayed()
    waiting = crawl.frontier.waiting()
    assert [scores[link] for link in waiting] == [crawl.frontier.record(n).score for n in waiting]
    assert scorer.patterns() == crawl.scorer.patterns()

    rest = crawl.frontier.next()
    if rest is not None:
        assert scorer.started(rest.id) == crawl.scorer.started(rest.id)
