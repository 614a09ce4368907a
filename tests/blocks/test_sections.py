"""What headings are taken to say of the lines below them."""

import numpy as np

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.content import LineFeatures, StartTags, page_metadata
from mmcrawl.blocks.layout import Measures, PageLines
from tests.tables import each

COMMENTS, RELATED, REVIEWS = range(3)


def said(html: str) -> list[int]:
    """Return which sections the last line of a page stands in."""
    tree = read_tree(html.encode())
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)
    features = LineFeatures(tree, measures, lines, page_metadata(tree), StartTags({}))
    columns = features.groups(0, len(lines))["headings above"][-1]
    return np.flatnonzero(columns[:6]).tolist()


@each(
    "heading, sections",
    [
        ("12 Comments", [COMMENTS]),
        ("Kommentare", [COMMENTS]),
        ("댓글 12", [COMMENTS]),
        ("Related articles", [RELATED]),
        ("Mehr zum Thema", [RELATED]),
        ("À lire aussi", [RELATED]),
        ("Les også", [RELATED]),
        ("関連記事", [RELATED]),
        ("اقرأ أيضا", [RELATED]),
        ("Customer reviews", [REVIEWS]),
        ("What a lever is", []),
    ],
)
def test_a_heading_names_what_stands_below_it(heading: str, sections: list[int]) -> None:
    assert said(f"<p>A lever is a bar.<h2>{heading}</h2><p>A line.") == sections


def test_a_short_line_names_comments_and_one_without_a_link_related_pages() -> None:
    assert said("<h2>Levers</h2><p>Lesen Sie auch</p><p>A line.") == [RELATED]
    assert said("<h2>Levers</h2><p><a href=x>Lesen Sie auch</a></p><p>A line.") == []
    assert said("<h2>Levers</h2><p><a href=x>3 comments</a></p><p>A line.") == [COMMENTS]
    assert said("<h2>Levers</h2><p>Show all comments</p><p>A line.") == [COMMENTS]
