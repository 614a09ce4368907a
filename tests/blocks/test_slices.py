"""Pages are read a slice at a time; where the slices end makes no difference."""

import tracemalloc

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmcrawl.blocks import page_content, read_tree
from mmcrawl.blocks.content import (
    LineFeatures,
    StartTags,
    line_features,
    line_texts,
    page_metadata,
)
from mmcrawl.blocks.layout import Measures, PageLines
from mmcrawl.page.html import tags

PIECES = (
    "<p>", "</p>", "<div class='comment x'>", "</div>", "<h2>Related</h2>", "<br>", "<b>",
    "<script>a < b; '</p>'</script>", "<style>", "</style>", "<!-- <p> -->", "<!--", "-->",
    "<a href='x>y'>", "</a>", "<td title=\"a", "\">", "lever ", " ", "\n", "<", "杠杆。", "\0",
    "&amp;", "<noscript>", "</noscript>", "<iframe />", "<select>", "x. ",
)  # fmt: skip
html_texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
COLUMNS = ("parents", "after", "starts", "inner_starts", "inner_ends", "ends", "spaced")
unpatched = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@unpatched
@given(html_texts, st.integers(1, 20))
def test_windows_of_tokens_make_no_difference(monkeypatch, html, size):
    body = html.encode()
    whole = read_tree(body, encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(tags, "_WINDOW", size)
        separated = read_tree(body, encoding="utf-8")
        assert b"".join(token for some in tags.windows(body, 0) for token in some) == body
    assert separated.tags == whole.tags
    for column in COLUMNS:
        assert getattr(separated, column) == getattr(whole, column)


@unpatched
@given(html_texts, st.integers(1, 6))
def test_slices_of_lines_make_no_difference(monkeypatch, html, size):
    tree = read_tree(f"<p>A lever.{html}".encode(), encoding="utf-8")
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)

    def read() -> LineFeatures:
        tags = StartTags({"comment": -1.0})
        return LineFeatures(tree, measures, lines, page_metadata(tree), tags)

    whole = read()
    with monkeypatch.context() as patched:
        patched.setattr(line_texts, "SLICE", size)
        patched.setattr(line_features, "SLICE", size)
        separated = read()
        np.testing.assert_allclose(separated.matrix, whole.matrix, rtol=1e-6)
    assert separated.best == whole.best


def test_memory_of_a_large_page_is_bounded() -> None:
    """Peak of what Python and numpy allocate, as a multiple of a page of 100 kB of short lines."""
    body = b"a<br>" * 20_000
    page_content(body[:1000])
    tracemalloc.start()
    page_content(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 120 * len(body)


def test_start_tags_of_very_many_attributes_are_not_kept() -> None:
    start_tags, kept = StartTags({}), []
    tracemalloc.start()
    for number in range(6):
        classes = " ".join(f"class={number}a{place}" for place in range(2_000))
        tree = read_tree(f"<body><div {classes}>text</div>".encode())
        start_tags.of(tree, np.arange(1, len(tree.tags)))
        del tree
        kept.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert kept[-1] < kept[0] + 100_000
