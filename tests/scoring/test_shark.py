"""Shark-search: inherited and neighbourhood scores, reckoned by hand."""

import pytest

from mmcrawl.frontier import KnownLink
from mmcrawl.scoring import CrawledPage, LinkSimilarity, LinkText, Shark
from tests.scoring.conftest import OPTICS
from tests.tables import each


class Links:
    """Links known by the page they were found on and their content score."""

    def __init__(self, parents, content):
        self.parents, self.contents = parents, content

    def known(self, link):
        return KnownLink(
            f"http://h.test/{link}", self.contents.get(link, 0.0), 1, self.parents[link]
        )

    def outlinks(self, page):
        return ()


def made(parents, content=None, **parameters):
    return Shark(Links(parents, content or {}), LinkSimilarity(OPTICS), **parameters)


def page(number, links, topic_score=0.0, relevant=False):
    return CrawledPage(number, f"http://h.test/{number}", relevant, relevant, links, topic_score)


def scores(answer):
    return dict(zip(answer.ids, answer.score, strict=True))


@each(
    "text, expected",
    [
        (LinkText("lens", "news", "contact"), 0.8 * 0.5 + 0.2 * 1),  # it needs no context
        (LinkText("more", "lens 2 htm", ""), 0.2 * 0.5),
        (LinkText("more", "lens 2 htm", "optics"), 0.2 * 1),
        (LinkText("more", "news", "contact"), 0),
        (LinkText("lens", "", "", from_script=True), 0.6 / 2),
    ],
)
def test_neighbourhood_is_anchor_and_context(text, expected):
    similarity = LinkSimilarity(OPTICS)
    similarity.shark(LinkText("optics lens", "", ""), 1)  # two concepts are the most seen: 1
    assert Shark(Links({}, {}), similarity).content(text) == pytest.approx(expected)


def test_scores_by_hand():
    scorer = made({0: None, 1: 0, 2: 0, 3: 1, 4: 3}, {1: 0.6, 2: 0.2})
    assert scores(scorer.added([0])) == {0: 1.0}
    answer = scores(scorer.crawled(page(0, [1, 2], 0.8)))
    # inherited: 0.5 · 0.8 = 0.4; scores: 0.5 · 0.4 + 0.5 · 0.6 and 0.5 · 0.4 + 0.5 · 0.2
    assert answer == pytest.approx({1: 0.5, 2: 0.3})
    answer = scores(scorer.crawled(page(1, [3], 0.0)))
    # page 1 has no relevance: its link inherits 0.5 · 0.4, and is worth half of that
    assert answer == pytest.approx({3: 0.1})
    answer = scores(scorer.crawled(page(3, [4], 0.1)))
    # page 3 has little, but has it: 0.5 · 0.1, though it inherited more
    assert answer == pytest.approx({4: 0.025})


def test_the_most_that_any_page_offers_is_inherited():
    scorer = made({0: None, 1: None, 2: None, 3: 0, 4: None, 5: 4})
    scorer.added([0, 1, 2, 4])
    assert scores(scorer.crawled(page(4, [5]))) == {5: 0.0}  # an irrelevant seed
    assert scores(scorer.crawled(page(0, [3], 0.4))) == pytest.approx({3: 0.1})
    assert scores(scorer.crawled(page(1, [3], 0.2))) == {}
    assert scores(scorer.crawled(page(2, [3], 0.8))) == pytest.approx({3: 0.2})


def test_the_target_of_a_redirect_takes_the_place_of_the_link_that_led_to_it():
    scorer = made({0: None, 1: 0, 2: 1, 3: None, 4: 3}, {1: 0.2, 2: 0.2})
    scorer.added([0, 3])
    scorer.crawled(page(0, [1], 0.8))
    assert scorer.failed(1).ids == []
    assert scores(scorer.added([2])) == pytest.approx({2: 0.3})
    again = made({0: None, 1: 0, 2: 1, 3: None}, {1: 0.2, 2: 0.2})
    again.added([0, 3])
    again.crawled(page(0, [1], 0.8))
    again.failed(1)
    # a replay may be told of the target by a page that offers it less
    assert scores(again.crawled(page(3, [2], 0.1))) == pytest.approx({2: 0.3})
    scorer.failed(3)
    assert scores(scorer.added([4])) == {4: 1.0}  # a seed that redirects


def test_revision_and_failure_change_nothing():
    scorer = made({0: None, 1: 0, 2: 0})
    scorer.added([0])
    scorer.crawled(page(0, [1, 2], 0.8, relevant=True))
    assert scorer.revised([0]).ids == []
    assert scorer.failed(1).ids == []
    assert scorer.patterns() == []
