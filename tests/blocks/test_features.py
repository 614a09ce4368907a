"""What is known of a block: where it is, what it holds."""

import tracemalloc
from collections.abc import Mapping

import pytest

from mmcrawl.blocks import partition, read_tree
from mmcrawl.blocks.layout import (
    PAGE_WIDTH,
    WINDOW_HEIGHT,
    Headlines,
    Measures,
    PageAreas,
    is_topic_page,
)
from mmcrawl.page import described_in
from tests.tables import each

LONG = "The law of the lever was known to Archimedes. " * 10


def features(html: str) -> list[Mapping[str, float]]:
    return [block.features for block in partition(html.encode(), method="spcola").blocks]


def test_blocks_stand_below_each_other_in_the_order_of_their_text():
    first, second, third = features(f"<p>{LONG}<hr><p>{LONG}<hr><p>{LONG}")
    assert first["y"] < second["y"] < third["y"]
    assert second["relative_y"] == pytest.approx(0.5)
    assert sum(found["relative_height"] for found in (first, second, third)) == pytest.approx(1)


def test_places_are_absolute_relative_and_of_a_window():
    (found,) = features(f"<p>{LONG}")
    assert found["width"] == PAGE_WIDTH
    assert (found["relative_x"], found["relative_width"]) == (0.5, 1.0)
    assert found["window_y"] == pytest.approx(found["y"] / WINDOW_HEIGHT)
    assert found["window_height"] == pytest.approx(found["height"] / WINDOW_HEIGHT)


def test_content_is_counted():
    (found,) = features(
        "<div><form><img src=a width=30 height=20><img src=b><a href=x>link</a> <a href=y>two</a>"
        "text<select></select><input></form></div>"
    )
    assert found["images"] == 2
    assert found["image_area"] == 600 + 60 * 60
    assert (found["links"], found["link_chars"], found["text_chars"]) == (2, 7, 4)
    assert (found["inputs"], found["forms"]) == (2, 1)


def test_page_type_is_the_share_of_link_text():
    measures = Measures(read_tree(b"<a href=x>12345</a>1234567890"))
    assert is_topic_page(measures, 0.6)
    assert not is_topic_page(measures, 0.5)


# ---------------------------------------------------------------- areas and headings


def area(html: str) -> str:
    """Return the area of the text x."""
    tree = read_tree(html.encode())
    areas = PageAreas(tree, Measures(tree))
    return areas.of(next(i for i in range(len(tree)) if tree.text(i) == "x"))


FILL = f"<p>{LONG}</p>"


@each(
    "html, expected",
    [
        ("<nav><div>x", "navigation"),
        ("<aside>x", "side"),
        ("<footer>x", "foot"),
        ("<header>x", "head"),
        ("<div role=contentinfo>x", "foot"),
        ("<article><header>x", "content"),
        ("<nav><div class=content>x", "navigation"),
        ("<main><div class=share>x", "noise"),
        ("<nav class=share>x", "noise"),
        ("<article class=comment>x", "content"),
        ("<div>x", ""),
    ],
)
def test_areas(html: str, expected: str):
    assert area(FILL + html) == expected


def test_a_name_does_not_count_for_most_of_the_page():
    assert area(f"<div class=sidebar-layout id=sidebar>{FILL}<p>x</div>") == ""
    assert area(f"{FILL}<div id=sidebar><p>x</div>") == "side"


@each(
    "html, level",
    [
        ("<h1>x</h1>", 1),
        ("<h3><a href=y>x</a></h3>", 3),
        ("<p><b>x</b>", 7),
        ("<p><font size=5>x</font>", 7),
        ("<p style='font-weight:bold'>x", 7),
        *((f"<p class='{name}'>x", 7) for name in ("title", "post-title", "TITLE_2", "biaoti")),
        *((f"<p class='{name}'>x", 7) for name in ("articleTitle", "a headline")),
        *((f"<p class={name}>x", 0) for name in ("titles", "subheading", "captions")),
        ("<p>x", 0),
        ("<p><b>x</b> and more", 0),
        ("<p>", 0),
    ],
)
def test_headings_are_known_by_tag_and_by_look(html: str, level: int):
    tree = read_tree(html.encode())
    assert Headlines(tree, Measures(tree)).level(range(1, len(tree))) == level


@each(
    "text, agrees",
    [("Levers", True), ("杠杆 原理", True), ("School", True), ("Pulleys", False), ("L", False)],
)
def test_headlines_agree_with_the_title(text: str, agrees: bool):
    tree = read_tree("<meta charset=utf-8><title>Levers 杠杆原理 | School</title>".encode())
    assert (Headlines(tree, Measures(tree)).agreement(text) >= 0.7) is agrees


def test_long_classes_and_names_of_attributes_are_not_kept():
    def read(size: int) -> None:
        for number in range(20):
            tree = read_tree(f"<p class='{number}{'x' * size}'>Levers".encode())
            Headlines(tree, Measures(tree)).level(range(1, len(tree)))
            list(described_in("div", {f"data-{number}{'x' * size}": "a"}))

    read(10)
    tracemalloc.start()
    read(50_000)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500_000
