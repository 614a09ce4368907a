"""`learned`: what it makes of a crawl, in the real frontier."""

import pytest

from mmcrawl.scoring import default_parameters

FOLDERS = ("films", "texts", "more", "talks")
SITE = {"/": [f"/{folder}/" for folder in FOLDERS]}
SITE |= {f"/{folder}/": [f"/{folder}/{n}.htm" for n in range(30)] for folder in FOLDERS}


NOVELTY = default_parameters("learned")["novelty"]


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


def test_what_is_unlike_anything_fetched_is_tried_before_what_was_barren(made_up_crawl):
    web = {"/": [*(f"/a/{n}.htm" for n in range(30)), "/b/1.htm"]}
    crawl = made_up_crawl("learned", web)
    crawl.seed("/")
    assert "/b/1.htm" in crawl.run(14)


def test_words_that_fit_the_topic_come_first_before_anything_is_learnt(made_up_crawl):
    web = {"/": [f"/{n}" for n in range(10)]}
    crawl = made_up_crawl("learned", web, content=lambda url: 1.0 if url == "/7" else 0.0)
    crawl.seed("/")
    assert crawl.run(2) == ["/", "/7"]


def test_a_seed_comes_before_links_of_which_more_is_expected(made_up_crawl):
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    while sum(map(is_film, crawl.fetched)) < 20:
        crawl.run(1)
    assert any(map(is_film, crawl.scores()))
    crawl.seed("/texts/late.htm")
    assert crawl.run(1) == ["/texts/late.htm"]


def test_where_most_was_found_the_crawl_goes_on(made_up_crawl):
    hosts = [f"http://{name}.test" for name in ("north", "south", "east")]
    web = {f"{host}/": [f"{host}/{n}.htm" for n in range(40)] for host in hosts}
    crawl = made_up_crawl("learned", web, relevant=lambda url: "south" in url and "htm" in url)
    crawl.seed(*web)
    fetched = crawl.run(60)
    assert sum("south" in url for url in fetched) >= 35


def test_finds_of_one_host_leave_it_worth_while_to_try_others(made_up_crawl):
    films = [f"http://rich.test/films/{n}.htm" for n in range(20)]
    untried = ["http://rich.test/new/1.htm", "http://poor.test/new/1.htm"]
    web = {"http://rich.test/": [*films, untried[0]], "http://poor.test/": [untried[1]]}
    crawl = made_up_crawl("learned", web, relevant=lambda url: "films" in url)
    crawl.seed(*web)
    crawl.fetch(*web, *films)
    novelty = [crawl.scorer.parts(crawl.id(url))["novelty of its directory"] for url in untried]
    assert novelty == pytest.approx([NOVELTY * 5 / 25, NOVELTY], abs=1e-5)


def test_dead_links_are_learnt_from(made_up_crawl):
    web = {"/": [f"/{folder}/{n}" for n in range(20) for folder in ("gone", "here")]}
    crawl = made_up_crawl("learned", web, relevant=lambda url: url.startswith("/here/"))
    crawl.seed("/")
    crawl.run(1)
    crawl.run(20, dead="/gone/")
    assert [url.startswith("/gone/") for url in crawl.fetched[-10:]].count(True) <= 2


def test_the_frontier_knows_the_scores_but_for_small_changes(made_up_crawl):
    """Where fewer than 50 links wait, they are scored anew after each page."""
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    crawl.run(80)
    while waiting := crawl.frontier.waiting():
        scorer, _ = crawl.replayed()
        now = scorer.added(waiting).score
        assert [*crawl.scores().values()] == pytest.approx(now, abs=0.0101)
        crawl.run(7)


def test_only_scores_that_changed_noticeably_are_passed_on(made_up_crawl, weighed):
    weighed({"always": (-2.0, 0.0), "directory: rate": (0.5, 0.0)})
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    crawl.run(60)
    before = crawl.scores()
    crawl.run(1)
    after = crawl.scores()
    named = {crawl.frontier.url(link).removeprefix("http://h.test") for link in crawl.answer.ids}
    moved = {url for url in after if url in before and after[url] != before[url]}
    assert moved <= named
    assert all(abs(after[url] - before[url]) > 0.01 for url in moved)
    assert len(named) < len(after)
