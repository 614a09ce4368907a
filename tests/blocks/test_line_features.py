"""The numbers that are known of each line of a page."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.content import (
    LineFeatures,
    StartTags,
    page_metadata,
    words_around,
)
from mmcrawl.blocks.layout import Measures, PageLines
from tests.growth import assert_linear
from tests.tables import each

WORDS = {"comment": -1.0, "content": 1.0, "share": -2.0}
PROSE = (
    "A lever is a rigid bar on a pivot. A small force at its long end lifts a heavy load, it is. "
)


def features(html: str, encoding: str = "utf-8") -> LineFeatures:
    tree = read_tree(html.encode(encoding), encoding=encoding)
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)
    return LineFeatures(tree, measures, lines, page_metadata(tree), StartTags(WORDS))


PAGE = f"""<html><head><title>Levers - Lab</title></head><body><nav class=menu><a href=/>Home</a>
</nav><div class=content><h1>Levers</h1><p>{PROSE}</p><p>{PROSE * 2}<a href=x>More</a></div>
<h2>Comments</h2><div class="comment first"><p>I do like this lever, and the pulley as well.</p>
</div><div class=share><a href=s>Share</a></div></body></html>"""
LINES = ["Home", "Levers", "prose", "longer prose", "Comments", "comment", "Share"]


def test_what_a_line_is_like_comes_first() -> None:
    rows = features("<p>Levers lift.<p><a href=x>Home</a><p>Is it 1998, or 12?<p>$5 AND").matrix
    length, linked, sentences, ends = rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3]
    assert np.exp(length) - 1 == pytest.approx([12, 4, 18, 6], rel=1e-4)
    assert linked.tolist() == [0, 1, 0, 0]
    assert (np.exp(sentences) - 1).round().tolist() == [1, 0, 1, 0]
    assert ends.tolist() == [1, 0, 1, 0]
    assert rows[:, 6] == pytest.approx([0, 0, 6 / 18, 1 / 6])  # digits
    assert rows[:, 7] == pytest.approx([1 / 12, 1 / 4, 1 / 18, 3 / 6])  # capitals
    assert rows[:, 14].tolist() == [0, 0, 0, 1]  # money
    assert rows[:, 15].tolist() == [0, 0, 1, 0]  # years


def test_repeated_lines_are_known_as_such() -> None:
    rows = features("<p>a<p>b<p>a<p>a").matrix
    assert rows[:, 12].tolist() == [0, 0, 1, 1]
    assert rows[:, 13] == pytest.approx(np.log([3, 1, 3, 3]))


def test_comments_are_told_by_class_words() -> None:
    assert features(PAGE).in_comments.tolist() == [text == "comment" for text in LINES]
    assert not features("<div class=commentary><p>text</div>").in_comments.any()


def test_the_element_that_holds_most_of_the_prose_is_found() -> None:
    html = PAGE
    tree = read_tree(html.encode())
    assert tree.attributes(features(html).best).get("class") == "content"
    assert features("<a href=x>Home</a>").best == 0


def test_an_element_with_nothing_but_a_space_in_it_is_not_around_the_line() -> None:
    plain, spaced = (
        features(f"<div class=content><p>{before}A lever is a bar.</p></div>").matrix
        for before in ("", "<span class=share>&nbsp;</span>")
    )
    assert (plain == spaced).all()


def test_class_words_weigh_as_they_are_given() -> None:
    html = '<div class="content"><p>a</div><div class="share content"><p>b</div><p>c'
    tree = read_tree(html.encode())
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)
    with_words = LineFeatures(tree, measures, lines, page_metadata(tree), StartTags(WORDS)).matrix
    without = LineFeatures(tree, measures, lines, page_metadata(tree), StartTags({})).matrix
    changed = np.flatnonzero((with_words != without).any(axis=0))
    assert len(changed) == 4  # sum, least, most, innermost
    assert with_words[0, changed].tolist() == [1, 0, 1, 1]
    half = -1 / np.sqrt(2)
    assert with_words[1, changed] == pytest.approx([half, half, 0, half])
    assert not with_words[2, changed].any()


@each(
    "markup, word",
    [
        ("class='postBody main-text'", "body"),
        ("id=sideBAR", "bar"),
        ("role=navigation", "navigation"),
        ("itemprop=articleBody", "article"),
    ],
)
def test_words_around_a_line(markup: str, word: str) -> None:
    tree = read_tree(f"<body class=no><div {markup}><p>text".encode())
    words = words_around(tree, len(tree) - 1)
    assert word in {found.lower() for found in words}
    assert "no" not in words


@given(
    st.lists(
        st.sampled_from(
            [PROSE, "<p>", "</p>", "<div class=comment>", "</div>", "<h2>Related</h2>", "<br>",
             "İ", "<a href=x>y</a>", "\U0001f600", "。", "\ud83d", "<li hidden>", "<table><td>",
             "&nbsp;"]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_all_numbers_are_finite_whatever_the_page(pieces: list[str]) -> None:
    tree = read_tree("".join(pieces).encode("utf-8", "replace"), encoding="utf-8")
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)
    if len(lines):
        found = LineFeatures(tree, measures, lines, page_metadata(tree), StartTags(WORDS))
        assert np.isfinite(found.matrix).all()
        assert len(found.matrix) == len(lines) == len(found.in_comments)


def read_features(html: str) -> Callable[[], object]:
    tree = read_tree(html.encode())
    measures = Measures(tree)
    lines, metadata = PageLines.of(tree, measures), page_metadata(tree)
    return lambda: LineFeatures(tree, measures, lines, metadata, StartTags(WORDS))


@each(
    "piece", ["<div class=a>lever ", "<li>lever", "<p class=comment>lever</p>", "<b>lever</b><br>"]
)
def test_time_grows_with_the_page(piece: str) -> None:
    read = {size: read_features(piece * size) for size in (5_000, 20_000)}
    assert_linear(lambda size: read[size](), 5_000)
