"""The numbers that are known of each line of a page."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.content import (
    ContentModel,
    LineFeatures,
    StartTags,
    content_model,
    page_metadata,
)
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


FILE = files("mmcrawl.blocks.content") / "content_model.npz"


def test_a_file_holds_numbers_and_words_and_no_pickled_objects(tmp_path: Path) -> None:
    with FILE.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "fuU" for name in arrays)
        numbers = [arrays[name] for name in arrays if arrays[name].dtype.kind == "f"]
    assert all(np.isfinite(values[values < np.inf]).all() for values in numbers)
    path = tmp_path / "model.npz"
    np.savez(path, class_words=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        ContentModel.load(str(path))


def test_saving_and_loading_keeps_the_model(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    content_model().save(str(path))
    with FILE.open("rb") as file, np.load(file) as before, np.load(path) as after:
        assert {*before} == {*after}
        assert all((before[name] == after[name]).all() for name in before)
