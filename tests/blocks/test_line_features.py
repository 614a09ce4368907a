"""The numbers that are known of each line of a page."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.content import LineFeatures, StartTags, page_metadata
from mmcrawl.blocks.layout import Measures, PageLines
from tests.tables import each

WORDS = {"comment": -1.0, "content": 1.0, "share": -2.0}
PROSE = "A lever is a rigid bar on a pivot. A small force at its long end lifts a load. "


def features(html: str) -> LineFeatures:
    tree = read_tree(html.encode("utf-8", "replace"), encoding="utf-8")
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)
    return LineFeatures(tree, measures, lines, page_metadata(tree), StartTags(WORDS))


PIECES = [
    PROSE, "<p>", "</p>", "<div class=comment>", "</div>", "<h2>Related</h2>", "<br>", "İ",
    "<a href=x>y</a>", "\U0001f600", "。", "\ud83d", "<li hidden>", "<table><td>", "&nbsp;",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_all_numbers_are_finite_whatever_the_page(html: str) -> None:
    assert np.isfinite(features(f"<p>A line{html}").matrix).all()


COMMENTS, RELATED, REVIEWS = range(3)


@each(
    "heading, sections",
    [
        ("<h2>12 Comments</h2>", [COMMENTS]),
        ("<h2>Kommentare</h2>", [COMMENTS]),
        ("<h2>댓글 12</h2>", [COMMENTS]),
        ("<h2>Mehr zum Thema</h2>", [RELATED]),
        ("<h2>À lire aussi</h2>", [RELATED]),
        ("<h2>関連記事</h2>", [RELATED]),
        ("<h2>اقرأ أيضا</h2>", [RELATED]),
        ("<h2>Customer reviews</h2>", [REVIEWS]),
        ("<h2>What a lever is</h2>", []),
        # A short line names comments, and related pages where it is no link.
        ("<h2>Levers</h2><p>Lesen Sie auch</p>", [RELATED]),
        ("<h2>Levers</h2><p><a href=x>Lesen Sie auch</a></p>", []),
        ("<h2>Levers</h2><p><a href=x>3 comments</a></p>", [COMMENTS]),
        ("<h2>Levers</h2><p>Show all comments</p>", [COMMENTS]),
    ],
)
def test_a_heading_names_what_stands_below_it(heading: str, sections: list[int]) -> None:
    found = features(f"<p>A lever is a bar.{heading}<p>A line.")
    columns = found.groups(0, len(found.matrix))["headings above"][-1]
    assert np.flatnonzero(columns[:6]).tolist() == sections
