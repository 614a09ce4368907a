"""What holds of the content of any page, and how long it takes to read it."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import page_content, read_tree
from mmcrawl.blocks.content import PAGE_TYPES, best_lines
from mmcrawl.blocks.layout import Measures, PageLines
from tests.growth import assert_linear
from tests.tables import each

PIECES = (
    "<p>", "</p>", "<div class=content>", "<div class='comment'>", "</div>", "<h1>", "</h1>",
    "<pre>", "<ul><li>", "<li>", "</ul>", "<table><tr><td>", "</table>", "<a href=x>", "</a>",
    "<br>", "<b>",
    "<script>var hidden;</script>", "<noscript>", "</noscript>", "<!--", "-->", "<title>",
    "</title>", "A lever is a rigid bar on a pivot, and a small force lifts a heavy load. ",
    "lever ", "杠杆原理。", "&amp;", "&nbsp;", "\n", "<", ">", '"', "\0", "é",
    "<svg>", "<select><option>", "<frameset>",
    "<body>", "<meta charset=gbk>", "<meta property=og:title content='x'>", "</html>", "x" * 400,
)  # fmt: skip
html_texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
# A "<" before a word makes a tag of it and of what follows, "<lever <script>" for instance, and
# then what stands in that script is text of the page.
TAG_INTO_ANOTHER = re.compile("<[a-zA-Z][^>]*<")


DECLARED = " utf-8 gbk big5 iso-8859-1 shift_jis utf-16 x-none utf-7 hz".split(" ")
WRITTEN_IN = (
    "utf-8", "utf-8-sig", "gb18030", "big5", "shift_jis", "euc_jp", "iso2022_jp", "koi8-r",
    "iso-8859-1", "utf-16", "utf-16-be", "utf-32", "hz", "cp949",
)  # fmt: skip
bodies = st.builds(
    lambda t, name: t.encode(name, "ignore"), html_texts, st.sampled_from(WRITTEN_IN)
)


@given(st.binary(max_size=300) | bodies, st.sampled_from(DECLARED), st.sampled_from(DECLARED))
def test_no_page_is_an_error_whatever_it_declares(body: bytes, meta: str, header: str) -> None:
    body = f'<meta charset="{meta}">'.encode() + body if meta else body
    page = page_content(body, "http://lab.test/", content_type=f"text/html; charset={header}")
    assert page.page_type in PAGE_TYPES
    assert page.text == "\n\n".join(page.paragraphs)
    assert all(paragraph.strip() for paragraph in page.paragraphs)
    for form in ("md", "txt", "json"):
        page.write(form).encode()  # type: ignore[arg-type]


@each(
    "page",
    [
        "<p>\udfff\ud800 lever \udc00" * 20,
        b"\0" * 1000,
        b"<meta charset=utf-16><p>lever",
        b"&#xd800;<p>&#x110000; lever",
        b"<table>" * 2000,
        b"<math>" * 2000 + b"</math>",
        b"<span class=katex>" * 2000 + b"x",
        b"<blockquote>" * 5_000 + b"<p>A lever is a rigid bar on a pivot.",
        b'<script type="application/ld+json">' + b'{"a":' * 5_000,
        b'<script type="math/mml">' + b"<mrow>" * 5_000,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40,
    ],
)
def test_what_is_hardly_a_page_is_read_without_failing(page: bytes | str) -> None:
    content = page_content(page, "http://h.test/")
    for form in ("md", "txt", "json"):
        content.write(form).encode()  # type: ignore[arg-type]


@each("declared", ["iso-8859-1", "utf-8", "windows-1252", ""])
@each("actual", ["utf-8", "gb18030"])
def test_chinese_is_read_whatever_a_page_declares(declared: str, actual: str) -> None:
    text = "杠杆是一种简单机械，在力的作用下能绕着固定点转动。阿基米德提出了杠杆原理。" * 3
    html = f'<meta charset="{declared}"><title>杠杆</title><p>{text}</p>'
    assert page_content(html.encode(actual)).text == text


@given(html_texts.filter(lambda html: not TAG_INTO_ANOTHER.search(html)))
def test_text_is_visible_text_of_the_page_in_order(html: str) -> None:
    body = html.encode()
    tree = read_tree(body, encoding="utf-8")
    visible = iter("".join(PageLines.of(tree, Measures(tree)).texts).replace(" ", ""))
    page = page_content(body, encoding="utf-8")
    assert all(character in visible for character in "".join(page.text.split()))
    assert "hidden" not in page.text


@given(html_texts.filter(lambda text: "é" not in text and "charset" not in text))
def test_the_encoding_makes_no_difference(html: str) -> None:
    pages = [
        page_content(html.encode(name), encoding=name)
        for name in ("utf-8", "gb18030", "utf-16-le", "utf-16-be")
    ]
    for page in pages[1:]:
        assert (page.title, page.paragraphs) == (pages[0].title, pages[0].paragraphs)
        assert page.genres == pages[0].genres


def expected_f1(chosen: np.ndarray, probabilities: np.ndarray, words: np.ndarray) -> float:
    """The ratio of expectations: twice the words that are right over the chosen and the true."""
    right = float((probabilities * words)[chosen].sum())
    return 2 * right / float(words[chosen].sum() + (probabilities * words).sum())


@given(
    st.lists(st.tuples(st.integers(1, 99), st.integers(1, 50)), min_size=1, max_size=8, unique=True)
)
def test_the_lines_with_the_greatest_expected_f1_are_chosen(lines: list[tuple[int, int]]) -> None:
    probabilities = np.array([percent / 100 for percent, _ in lines], dtype=np.float32)
    words = np.array([count for _, count in lines], dtype=np.float64)
    chosen = best_lines(probabilities, words)
    expected = probabilities * words
    if expected[probabilities >= 0.5].sum() < 0.9 and expected.sum() < 10:
        assert not chosen.any()  # a menu, a notice
        return
    choices = itertools.product([False, True], repeat=len(lines))
    best = max(expected_f1(np.array(c), probabilities, words) for c in choices if any(c))
    assert expected_f1(chosen, probabilities, words) == pytest.approx(best, rel=1e-6)


def test_at_least_one_line_is_chosen_where_some_words_may_be_expected() -> None:
    probabilities = np.array([0.01, 0.02], dtype=np.float32)
    assert best_lines(probabilities, np.array([5.0, 500.0])).tolist() == [False, True]
    assert best_lines(probabilities, np.array([5.0, 5.0])).tolist() == [False, False]


@each(
    "piece",
    [b"<div>a lever lifts ", b"<p class=comment>A lever lifts.</p>", b"<noscript>a", b"<table>a "],
)
def test_time_grows_with_the_page(piece: bytes) -> None:
    assert_linear(lambda size: page_content(piece * size), 800)
