"""What a score is the sum of, as algorithms tell it."""

import pytest

from mmcrawl.frontier import HELD
from tests.tables import each

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
        assert sum(crawl.scorer.parts(link).values()) == pytest.approx(score)


def test_as_printed_a_link_is_a_probe_or_has_the_score_of_the_paper(made_up_crawl):
    web = {"/": ["/f/", *FILMS[:4]], "/f/": FILMS}
    crawl = made_up_crawl("urlrule-2009", web, relevant=lambda url: url in FILMS, num2=0)
    crawl.seed("/")
    seen = set()
    while crawl.run(1):
        answer = crawl.scorer.added(crawl.frontier.waiting())
        for link, score in zip(answer.ids, answer.score, strict=True):
            if score != HELD:
                parts = crawl.scorer.parts(link)
                assert sum(parts.values()) == pytest.approx(score)
                seen.update(parts)
    [pattern] = crawl.scorer.patterns()
    assert seen == {"as a probe", f"S of (4.8), {pattern.pattern}"}


@each("algorithm", ["breadth", "fish", "shark", "tag-path"])
def test_the_others_add_nothing_up(made_up_crawl, algorithm):
    crawl = made_up_crawl(algorithm, WEB)
    crawl.seed("/")
    assert crawl.scorer.parts(0) == {}
