"""The experiment of Wang & Zhu 2012: six measures by hand, and the tables of given pages."""

import json
import math
from pathlib import Path

import pytest

from mmcrawl.blocks import read_tree
from mmcrawl.errors import BlockError
from mmcrawl.experiment.presets import (
    MEASURES,
    PUBLISHED,
    RELATED,
    LabelledPage,
    Ranges,
    crawls,
    kept_of,
    method_of,
    six_measures,
    wang2012,
)
from mmcrawl.experiment.presets import wang2012_tables as tables
from tests.experiment.conftest import FILMS, NEWS, Laboratory
from tests.tables import each

# Noise of 12 characters and 2 links, a topic of 10 and 1, 4 and 1 of related links.
PARTS = (
    ("navigation", "<div><a href=1>Home</a><a href=2>News</a></div>"),
    ("topic", "<p>Levers <a href=3>lift</a></p>"),
    ("related-links", "<ul><li><a href=4>More</a></ul>"),
    ("copyright", "<i>(c)1</i>"),
)


def page_of(parts: tuple[tuple[str, str], ...], half: str = "") -> LabelledPage:
    regions, at = [], 0
    for kind, text in parts:
        regions.append((at, at + len(text), kind))
        at += len(text)
    body = "".join(text for _, text in parts).encode()
    return LabelledPage("levers", half, "topic", "http://h.test/", body, tuple(regions))


PAGE = page_of(PARTS)


def nodes(*kinds: str) -> Ranges:
    """Return the nodes of the parts that are of some kinds."""
    starts = read_tree(PAGE.body).starts
    return [
        range(node, node + 1)
        for start, end, kind in PAGE.regions
        if kind in kinds
        for node in range(1, len(starts))
        if start <= starts[node] < end
    ]


ALL = [range(len(read_tree(PAGE.body)))]


@each(
    "text, links, noise, topic",
    [
        (ALL, ALL, ((12, 12), (2, 2)), ((10, 10), (2, 2))),
        (nodes("topic"), nodes(*RELATED), ((0, 12), (0, 2)), ((10, 10), (2, 2))),
        (nodes("topic", "copyright"), nodes("topic"), ((4, 12), (0, 2)), ((10, 10), (1, 2))),
        (nodes("navigation"), nodes("navigation"), ((8, 12), (2, 2)), ((0, 10), (0, 2))),
    ],
)
def test_characters_and_links_that_were_kept_are_counted(text, links, noise, topic):
    kept = kept_of(PAGE, (text, links))
    assert (kept.noise_text, kept.noise_links) == noise
    assert (kept.topic_text, kept.topic_links) == topic


def test_text_of_related_links_is_noise_only_where_asked() -> None:
    related = (nodes("related-links"), nodes("related-links"))
    assert kept_of(PAGE, related).noise_text == (0, 12)
    assert kept_of(PAGE, related, strict=True).noise_text == (4, 16)
    assert kept_of(PAGE, related, strict=True).noise_links == (0, 2)


def test_the_six_measures_are_the_printed_ones() -> None:
    kept = kept_of(PAGE, (nodes("topic", "copyright"), nodes("topic", "navigation")))
    # 8 of 12 noise characters removed, 0 of 2 links; 10 of 10 kept, 1 of 2 links; lost: the rest.
    assert six_measures([kept]) == pytest.approx((8 / 12, 0, 1, 1 / 2, 0, 1 / 2))


def test_each_page_counts_as_much_as_any_other_unless_pooled() -> None:
    longer = page_of((("topic", "<p>" + 30 * "a" + "</p>"),))
    results = [kept_of(PAGE, ([], [])), kept_of(longer, (ALL, ALL))]
    assert six_measures(results)[2] == pytest.approx((0 / 10 + 30 / 30) / 2)
    assert six_measures(results, pooled=True)[2] == pytest.approx(30 / 40)
    assert six_measures(results)[0] == 1  # the longer page has no noise, and does not count
    assert math.isnan(six_measures([results[1]])[0])


def test_nom_keeps_all_and_a_method_that_is_not_there_is_named() -> None:
    results = [kept_of(PAGE, method_of("nom")(PAGE))]
    assert six_measures(results) == PUBLISHED["NOM"]
    with pytest.raises(BlockError, match="nosuch"):
        method_of("nosuch")


def write_data(folder: Path, halves: tuple[str, ...]) -> Path:
    """Write a folder of labelled pages, one for each half."""
    regions = [{"start": s, "end": e, "kind": k} for s, e, k in PAGE.regions]
    entry = {"source": "page.html", "type": "topic", "regions": regions}
    pages = [{"name": f"page {n}", "half": half, **entry} for n, half in enumerate(halves)]
    (folder / "page.html").write_bytes(PAGE.body)
    (folder / "pages.json").write_text(json.dumps({"pages": pages}), encoding="utf-8")
    return folder


def test_the_table_of_given_pages_has_the_published_line_before_each_method(tmp_path: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    data = write_data(tmp_path, ("", ""))
    [table] = tables(data, lambda *step: steps.append(step))
    assert table.columns == ("method", *MEASURES)
    names = [row[0] for row in table.rows]
    for name in ("nom", "ypm", "gdom", "spcola"):
        assert names[names.index(name) - 1] == f"{name.upper()}, published"
    rows = dict(zip(names, table.rows, strict=True))
    assert rows["nom"][1:] == rows["NOM, published"][1:] == tables_row(0, 0, 1, 1, 0, 0)
    assert rows["SPCOLA, published"][1:] == tables_row(0.915, 0.931, 0.963, 0.971, 0.037, 0.029)
    assert [done for done, _, _ in steps] == list(range(len(steps)))
    assert "2 pages" in table.title


def tables_row(*shares: float) -> tuple[str, ...]:
    return tuple(f"{share:.1%}" for share in shares)


def test_each_half_of_the_pages_has_a_table(tmp_path: Path) -> None:
    data = write_data(tmp_path, ("develop", "judge", "judge"))
    titles = [table.title for table in tables(data, lambda *_: None)]
    assert [title.partition(", ")[2] for title in titles] == [
        "1 pages, half develop",
        "2 pages, half judge",
    ]


def test_without_data_the_pages_that_ship_are_measured_and_the_demo_web_is_crawled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[object] = []
    data = write_data(tmp_path, ("",))
    pages = wang2012.pages_in(data)
    monkeypatch.setattr(wang2012, "pages_in", lambda folder: given.append(folder) or pages)
    monkeypatch.setattr(wang2012, "crawls", lambda web, arguments, _: given.append(web) or web)
    assert [*tables(None, lambda *_: None)][1:] == ["demo"]
    assert given == [None, "demo"]


def test_crawls_without_links_of_blocks_off_topic_stand_beside_those_without(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wang2012, "_ALGORITHMS", wang2012._ALGORITHMS[:2])
    told: list[tuple[int, int, str]] = []
    table = crawls(str(laboratory.web), {"keywords": "optics|光学"}, lambda *one: told.append(one))
    assert told[0] == (0, 3, "truth: runs")
    assert [(done, of) for done, of, what in told if ": done" in what] == [(1, 3), (2, 3), (3, 3)]
    fetched = f"{round(0.4 * (2 + NEWS + FILMS + 1))}"
    assert [row[:2] for row in table.rows] == [
        ("breadth, all links", fetched),
        ("breadth, links of related blocks", fetched),
    ]
    assert {len(row) for row in table.rows} == {len(table.columns)}
