"""A scorer that is told the history of a crawl goes on as if it had seen all of it."""

from random import Random

import pytest

from mmcrawl.frontier import HELD
from mmcrawl.scoring import algorithm_names
from tests.tables import each

FOLDERS = ("film", "text", "film/a", "list")


def made_up_site(dice):
    names = [f"/{folder}/{n}" for n in range(20) for folder in FOLDERS]
    names += [f"http://i.test{name}" for name in names[::5]]
    return {name: dice.sample(names, dice.randrange(7)) for name in ["/", *names]} | {
        "/": [*names[:9], *names[-3:]]
    }


def crawl_with_accidents(crawl, dice, steps, at_once):
    """Crawl with some fetches under way; some fail, are tried again, or lead to another page."""
    under_way = []
    crawl.seed("/", "/text/7")
    for step in range(steps):
        while len(under_way) < at_once and (taken := crawl.start()) is not None:
            under_way.append(taken)
        if not under_way:
            break
        link, url = under_way.pop(dice.randrange(len(under_way)))
        fate = dice.random()
        if fate < 0.1:
            crawl.fail(link)
        elif fate < 0.2:
            crawl.redirect(link, f"/film/new{dice.randrange(20)}")
        elif fate < 0.3 and at_once > 1:
            crawl.frontier.requeue(link, None, 0)
        else:
            crawl.finish(link, url)
        if step == steps // 2 and at_once > 1:
            crawl.seed("/text/5", "/late")
    for taken in under_way:
        crawl.finish(*taken)


@pytest.mark.parametrize("algorithm", algorithm_names())
@each("pages, revises, seed", [(0, False, 0), (40, False, 1), (40, True, 0)])
def test_it_is_where_it_was(made_up_crawls, algorithm, pages, revises, seed):
    dice = Random(seed)
    crawl = made_up_crawls(
        algorithm,
        made_up_site(dice),
        lambda url: "film" in url and "list" not in url,
        content=lambda url: len(url) * ord(url[-1]) % 5 / 8,
        tag_path=lambda url: f"html body div.{url.split('/')[1]} ul li a",
    )
    # What `urlrule` knows when a fetch begins, or a seed is late, is on no record.
    crawl_with_accidents(crawl, dice, pages, at_once=1 if "urlrule" in algorithm else 4)
    if revises and "urlrule" not in algorithm and algorithm != "learned":  # `Prospects.revised`
        good = [past.id for past in crawl.frontier.history() if getattr(past, "relevant", False)]
        crawl.frontier.revise(good[::2])
        crawl.apply(crawl.scorer.revised(good[::2]))
    again, scores = crawl.replayed()
    waiting = crawl.frontier.waiting()
    assert waiting
    if algorithm not in ("learned", "urlrule"):  # which pass on what changed noticeably
        assert [scores[n] for n in waiting] == [crawl.frontier.record(n).score for n in waiting]
    crawl.scorer.added([])  # of a failure is learnt once it is known to be no redirect
    fresh = again.added(waiting)
    if algorithm != "learned":  # which goes on from what it passed on, and is asked below
        assert fresh == crawl.scorer.added(waiting)
    for _ in range(15):
        if (taken := crawl.start()) is None:
            break
        assert again.started(taken[0]) == crawl.answer
        page = crawl.finish(*taken)
        assert again.crawled(page) == crawl.answer
    waiting = crawl.frontier.waiting()
    assert again.added(waiting) == crawl.scorer.added(waiting)
    assert again.patterns() == crawl.scorer.patterns()
    crawl.store.close()


SUMS = {
    *("learned", "shark-improved", "topicrank", "urlrule", "urlrule-2009"),
    *("pagerank", "weighted-pagerank", "topic-centric-pagerank", "hits"),
}
FILMS = [f"/f/{n}" for n in range(8)]
WEB = {
    "/": ["/n/", "/f/", *FILMS[:4]],
    "/n/": [f"/n/{n}" for n in range(5)],
    "/f/": [*FILMS, "/n/0"],
    "/f/0": ["/n/1", "/f/9"],
}


@each("algorithm", sorted(SUMS))
@each("pages", [1, 9])
def test_the_parts_of_a_score_add_up_to_it(made_up_crawl, algorithm, pages):
    crawl = made_up_crawl(
        algorithm,
        WEB,
        relevant=lambda url: url.startswith("/f/") and url != "/f/",
        content=lambda url: len(url) % 3 / 4,
    )
    crawl.seed("/")
    crawl.run(pages)
    waiting = crawl.frontier.waiting()
    answer = crawl.scorer.added(waiting)
    assert waiting
    for link, score in zip(answer.ids, answer.score, strict=True):
        if score != HELD:
            assert sum(crawl.scorer.parts(link).values()) == pytest.approx(score)
