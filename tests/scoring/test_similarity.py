"""What the words of a link say of its page (4.7), reckoned by hand."""

import json
from math import sqrt

import pytest

from mmcrawl.page import LinkGroup, Page
from mmcrawl.scoring import LinkSimilarity, LinkText
from mmcrawl.topic import Topic
from tests.tables import each

OPTICS = Topic(
    "optics",
    "光学",
    (("光学", "optics"), ("折射", "refraction"), ("透镜", "lens"), ("棱镜", "prism")),
)


@pytest.fixture
def similarity():
    """A similarity that has seen two concepts in one text and a title of one concept."""
    made = LinkSimilarity(OPTICS)
    assert made.shark(LinkText("lens and prism", "", "光学"), beta=1) == 1
    return made


@each(
    "text, beta, expected",
    [
        (LinkText("optics", "lens prism", ""), 0.8, 0.8 * 0.5 + 0.2 * 1),
        (LinkText("光的折射", "", ""), 0.8, 0.8 * 0.5),
        (LinkText("optics", "lens prism", "光学"), 0.8, 0.6),
        (LinkText("optics", "lens prism", "optics today"), 0.8, 0.6 / sqrt(2)),
        (LinkText("optics", "lens prism", "contact"), 0.8, 0),
        (LinkText("optics", "lens prism", "", from_script=True), 0.8, 0.6 / 2),
        (LinkText("contact", "index htm", "光学"), 0.8, 0),
    ],
)
def test_content_of_a_link_follows_equation_4_7(similarity, text, beta, expected):
    assert similarity.shark(text, beta) == pytest.approx(expected)


def test_title_headings_and_group_titles_of_a_page_are_one_document():
    similarity = LinkSimilarity(OPTICS)
    page = Page(
        "http://h/",
        title="Optics",
        headings="Optics: prisms",
        groups=(LinkGroup("Lessons", 3), LinkGroup("", 2), LinkGroup("Lessons", 1)),
        text="everything else",
    )
    similarity.observe(page)
    vectors = similarity.state()["vectors"]
    assert vectors["documents"] == 1
    assert vectors["words"] == {"光学": 1, "棱镜": 1, "lesson": 1}


def test_what_was_learnt_can_be_written_down_and_taken_over(similarity):
    before = similarity.shark(LinkText("lens", "", "optics today"), 1)
    for title in ("optics today", "today", "today", "news"):
        similarity.observe(Page("http://h/", title=title))
    assert (
        similarity.shark(LinkText("lens", "", "optics today"), 1) > before
    )  # the rarer weighs more
    copy = LinkSimilarity(OPTICS)
    copy.restore(json.loads(json.dumps(similarity.state())))
    text = LinkText("lens", "prism lens", "optics today news")
    assert copy.shark(text, 0.8) == similarity.shark(text, 0.8) > 0
    assert copy.state() == similarity.state()
