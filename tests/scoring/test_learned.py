"""`learned`: what it makes of a crawl, in the real frontier."""

import pytest

from mmcrawl.errors import MmcrawlError
from mmcrawl.scoring import LinkSimilarity, make_scorer
from mmcrawl.topic import Topic

FOLDERS = ("films", "texts", "more", "talks")
SITE = {"/": [f"/{folder}/" for folder in FOLDERS]}
SITE |= {f"/{folder}/": [f"/{folder}/{n}.htm" for n in range(30)] for folder in FOLDERS}


def is_film(url: str) -> bool:
    return url.startswith(("/films/", "/talks/")) and url.endswith(".htm")


def test_once_some_were_found_the_rest_of_their_folder_comes_first(made_up_crawl):
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    fetched = crawl.run()
    assert set(fetched) == {
        "/",
        *SITE["/"],
        *(url for folder in FOLDERS for url in SITE[f"/{folder}/"]),
    }
    found = [is_film(url) for url in fetched]
    assert sum(found[:75]) > 50  # of 60 among 125; the order of discovery finds 30


def test_waiting_links_are_scored_anew_by_what_their_siblings_were(made_up_crawl):
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/", "/films/", "/texts/")
    crawl.run(3)
    before = crawl.scores()
    assert before["/films/20.htm"] == pytest.approx(before["/texts/20.htm"], abs=0.05)
    crawl.run(12)
    after = crawl.scores()
    films = [score for url, score in after.items() if url.startswith("/films/")]
    texts = [score for url, score in after.items() if url.startswith("/texts/")]
    assert films
    assert min(films) > max(texts)


def test_what_is_unlike_anything_fetched_is_tried_before_what_was_barren(made_up_crawl):
    web = {"/": [*(f"/a/{n}.htm" for n in range(30)), "/b/1.htm"]}
    crawl = made_up_crawl("learned", web, explore=1.0)
    crawl.seed("/")
    assert "/b/1.htm" in crawl.run(14)


def test_pages_that_lead_to_finds_are_worth_something_themselves(made_up_crawl):
    lists = [f"/list?page={n}" for n in range(20)]
    notes = [f"/notes/{n}.htm" for n in range(20)]
    web = {"/": [url for pair in zip(lists, notes, strict=True) for url in pair]}
    web |= {url: [f"/film/{n}a.htm", f"/film/{n}b.htm"] for n, url in enumerate(lists)}
    crawl = made_up_crawl("learned", web, relevant=lambda url: url.startswith("/film/"))
    crawl.seed("/")
    fetched = crawl.run()
    half = [url for url in fetched if url in {*lists, *notes}][:20]
    assert sum(url in lists for url in half) >= 14


def test_words_that_fit_the_topic_come_first_before_anything_is_learnt(made_up_crawl):
    web = {"/": [f"/{n}" for n in range(10)]}
    crawl = made_up_crawl("learned", web, content=lambda url: 1.0 if url == "/7" else 0.0)
    crawl.seed("/")
    assert crawl.run(2) == ["/", "/7"]


def test_seeds_come_first(made_up_crawl):
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/films/", "http://other.test/")
    assert crawl.run(2) == ["/films/", "http://other.test/"]


def test_a_seed_comes_before_links_of_which_more_is_expected(made_up_crawl):
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    crawl.run(60)  # films are wanted, texts are not
    assert any(url.startswith("/films/") for url in crawl.scores())
    crawl.seed("/texts/late.htm")
    assert crawl.run(1) == ["/texts/late.htm"]


def test_dead_links_are_learnt_from(made_up_crawl):
    web = {"/": [f"/{folder}/{n}" for n in range(20) for folder in ("gone", "here")]}
    crawl = made_up_crawl("learned", web, relevant=lambda url: url.startswith("/here/"))
    crawl.seed("/")
    crawl.run(1)
    for _ in range(20):
        link, url = crawl.start()
        if url.startswith("/gone/"):
            crawl.fail(link)
        else:
            crawl.finish(link, url)
    assert [url.startswith("/gone/") for url in crawl.fetched[-10:]].count(True) <= 2


@pytest.mark.parametrize("redirects", [False, True])
def test_a_link_that_redirects_to_what_is_wanted_is_a_good_link(made_up_crawl, redirects):
    web = {"/": [f"/{kind}/{n}" for n in range(30) for kind in ("go", "news")]}
    crawl = made_up_crawl("learned", web, relevant=lambda url: "/film" in url or "/go" in url)
    crawl.seed("/")
    crawl.run(1)
    while len(crawl.fetched) < 22:
        link, url = crawl.start()
        if redirects and url.startswith("/go/"):
            crawl.fail(link)
            crawl.apply(crawl.scorer.added(crawl.add(f"/films/x{link}y.htm", parent=link)))
        else:
            crawl.finish(link, url)
    scores = crawl.scores()
    go = [score for url, score in scores.items() if url.startswith("/go/")]
    news = [score for url, score in scores.items() if url.startswith("/news/")]
    assert min(go) > max(news)


def test_pages_taken_back_count_against_links_like_them(made_up_crawl):
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    crawl.run(40)
    before = crawl.scores()
    films = [past.id for past in crawl.frontier.history() if past.relevant]
    crawl.frontier.revise(films)
    crawl.apply(crawl.scorer.revised(films))
    after = crawl.scores()
    waiting = [url for url in after if is_film(url)]
    assert waiting
    assert all(after[url] < before[url] for url in waiting)


def test_two_crawls_of_a_web_go_the_same_way(made_up_crawl):
    runs = []
    for _ in range(2):
        crawl = made_up_crawl("learned", SITE, relevant=is_film)
        crawl.seed("/")
        runs.append(crawl.run())
    assert runs[0] == runs[1]


@pytest.mark.parametrize("pages", [1, 7, 30, 80])
def test_a_scorer_that_is_told_the_history_is_where_it_was(made_up_crawl, pages):
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    crawl.run(pages)
    scorer, _ = crawl.replayed()
    waiting = crawl.frontier.waiting()
    assert scorer._scores_of(waiting) == crawl.scorer._scores_of(waiting)


def test_a_variance_that_makes_no_sense_is_refused():
    similarity = LinkSimilarity(Topic("optics", "光学", (("光学",),)))
    with pytest.raises(MmcrawlError, match="variance must be a number from 1e-06 to 100, not 0"):
        make_scorer("learned", None, similarity, variance=0.0)
