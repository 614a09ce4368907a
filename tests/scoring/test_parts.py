"""What a score is the sum of, as algorithms tell it."""

import pytest

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
