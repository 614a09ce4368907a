"""The tasks of SEWM-2008: their measures by hand, and the tables of given pages."""

import json
from pathlib import Path

import pytest

from mmcrawl.experiment.presets import (
    FINDING,
    TYPING,
    LabelledPage,
    content_scores,
    type_scores,
)
from mmcrawl.experiment.presets import quark_tables as tables

# 12 bytes of content among 20 of text; the choices of a form are none.
BODY = b"<div>Home</div><h1>Levers</h1><p>A bar.</p><select><option>1</select><i>(c)1</i>"
REGIONS = ((0, 15, "navigation"), (15, 30, "title"), (30, 69, "topic"), (69, 80, "copyright"))
PAGE = LabelledPage("levers", "", "topic", "http://h.test/", BODY, REGIONS)


def test_topic_and_media_pages_are_told_from_hubs() -> None:
    wanted = ("topic", "media", "hub", "hub", "topic")
    found = ("media", "media", "topic", "hub", "hub")
    # Right: 2 of 3 told to have a content, of 3 that have one; 3 of 5 pages; of one type 2.
    assert type_scores(wanted, found) == pytest.approx((3 / 5, 2 / 3, 2 / 3, 2 / 3, 2 / 5))


def test_content_that_was_found_is_counted_in_bytes() -> None:
    scores = content_scores(PAGE)
    assert scores["all text"] == pytest.approx((12 / 20, 1, 2 * 12 / (20 + 12)))
    assert set(scores) == set(FINDING)
    for precision, recall, f1 in scores.values():
        assert 0 <= precision <= 1
        assert 0 <= recall <= 1
        assert f1 <= max(precision, recall)


def test_a_page_labelled_to_have_no_content_has_no_scores() -> None:
    regions = tuple((start, end, "navigation") for start, end, _ in REGIONS)
    assert content_scores(LabelledPage("hub", "", "hub", PAGE.url, BODY, regions)) is None


def test_both_tasks_have_a_table_for_each_half(tmp_path: Path) -> None:
    regions = [{"start": s, "end": e, "kind": k} for s, e, k in REGIONS]
    hub = [{"start": 0, "end": 15, "kind": "related-links"}]
    pages = [
        {"name": "a", "half": "develop", "type": "topic", "regions": regions},
        {"name": "b", "half": "judge", "type": "topic", "regions": regions},
        {"name": "c", "half": "judge", "type": "hub", "regions": hub},
    ]
    (tmp_path / "page.html").write_bytes(BODY)
    labels = {"pages": [{**page, "source": "page.html"} for page in pages]}
    (tmp_path / "pages.json").write_text(json.dumps(labels), encoding="utf-8")
    steps: list[tuple[int, int, str]] = []
    shown = list(tables(tmp_path, lambda *step: steps.append(step)))
    assert steps == [(0, 3, "a"), (1, 3, "b"), (2, 3, "c")]
    assert [table.title.partition(": ")[2] for table in shown] == [
        "topic pages, 1 pages, half develop",
        "blocks of content, 1 pages with content, half develop",
        "topic pages, 2 pages, half judge",
        "blocks of content, 1 pages with content, half judge",
    ]
    types, contents = shown[2:]
    assert [row[0] for row in types.rows] == list(TYPING)
    assert types.rows[-1] == ("all topic", "50.0%", "50.0%", "100.0%", "66.7%", "50.0%")
    assert contents.rows[-1] == ("all text", "60.0%", "100.0%", "75.0%")
