"""What a score is the sum of, as algorithms tell it."""

import pytest

SUMS = {
    *("learned", "shark-improved", "topicrank", "urlrule"),
    *("pagerank", "weighted-pagerank", "topic-centric-pagerank", "hits"),
}
FILMS = [f"/f/{n}" for n in range(8)]
WEB = {
    "/": ["/n/", "/f/", *FILMS[:4]],
    "/n/": [f"/n/{n}" for n in range(5)],
    "/f/": [*FILMS, "/n/0"],
    "/f/0": ["/n/1", "/f/9"],
}


@pytest.mark.parametrize("algorithm", sorted(SUMS))
@pytest.mark.parametrize("pages", [1, 4, 9])
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
        assert sum(crawl.scorer.parts(link).values()) == pytest.approx(score)


@pytest.mark.parametrize("pages", [1, 7])
def test_with_hard_focus_a_link_is_a_probe_or_matches_a_pattern(made_up_crawl, pages):
    crawl = made_up_crawl("urlrule", WEB, relevant=lambda url: url.startswith("/f/"), hard=True)
    crawl.seed("/")
    crawl.run(pages)
    answer = crawl.scorer.added(crawl.frontier.waiting())
    parts = [crawl.scorer.parts(link) for link in answer.ids]
    assert [sum(terms.values()) for terms in parts] == pytest.approx(answer.score)
    named = {name for terms in parts for name in terms}
    patterns = {f"rate of its pattern {found.pattern}" for found in crawl.scorer.patterns()}
    assert named == ({"as a probe"} | (patterns | {"S of (4.8)"} if patterns else set()))


@pytest.mark.parametrize("algorithm", ["breadth", "fish", "shark", "tag-path"])
def test_the_others_add_nothing_up(made_up_crawl, algorithm):
    crawl = made_up_crawl(algorithm, WEB)
    crawl.seed("/")
    assert crawl.scorer.parts(0) == {}
