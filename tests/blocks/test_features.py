"""What is known of a block: where it is, what it holds, what names and words say of it."""

import tracemalloc
from collections.abc import Mapping

import pytest

from mmcrawl.blocks import partition, read_tree
from mmcrawl.blocks.layout import (
    AREAS,
    PAGE_WIDTH,
    WINDOW_HEIGHT,
    Headlines,
    Measures,
    PageAreas,
    TopicWords,
    area_of_names,
    begins_with,
    holds,
    is_topic_page,
    lists_of,
)
from mmcrawl.page import declarations, described_in
from tests.tables import each

LONG = "The law of the lever was known to Archimedes. " * 10


def features(html: str) -> list[Mapping[str, float]]:
    return [block.features for block in partition(html.encode(), method="spcola").blocks]


def test_places_are_absolute_relative_and_of_a_window() -> None:
    found, second, third = features(f"<p>{LONG}<hr><p>{LONG}<hr><p>{LONG}")
    assert found["y"] < second["y"] < third["y"]
    assert second["relative_y"] == pytest.approx(0.5)
    heights = [one["relative_height"] for one in (found, second, third)]
    assert sum(heights) == pytest.approx(1)
    assert found["width"] == PAGE_WIDTH
    assert (found["relative_x"], found["relative_width"]) == (0.5, 1.0)
    assert found["window_y"] == pytest.approx(found["y"] / WINDOW_HEIGHT)
    assert found["window_height"] == pytest.approx(found["height"] / WINDOW_HEIGHT)


def test_content_is_counted() -> None:
    (found,) = features(
        "<div><form><img src=a width=30 height=20><img src=b><a href=x>link</a> <a href=y>two</a>"
        "text<select></select><input></form></div>"
    )
    assert found["images"] == 2
    assert found["image_area"] == 600 + 60 * 60
    assert (found["links"], found["link_chars"], found["text_chars"]) == (2, 7, 4)
    assert (found["inputs"], found["forms"]) == (2, 1)
    measures = Measures(read_tree(b"<a href=x>12345</a>1234567890"))
    assert [is_topic_page(measures, most) for most in (0.6, 0.5)] == [True, False]


@each(
    "html, expected",
    [
        ("<nav><div>x", "navigation"),
        ("<aside>x", "side"),
        ("<header>x", "head"),
        ("<div role=contentinfo>x", "foot"),
        ("<article><header>x", "content"),
        ("<nav><div class=content>x", "navigation"),
        ("<main><div class=share>x", "noise"),
        ("<nav class=share>x", "noise"),
        ("<article class=comment>x", "content"),
        ("<div id=sidebar><p>x", "side"),
        ("<div>x", ""),
    ],
)
def test_areas(html: str, expected: str) -> None:
    tree = read_tree(f"<p>{LONG}</p>{html}".encode())
    areas = PageAreas(tree, Measures(tree))
    assert areas.of(next(i for i in range(len(tree)) if tree.text(i) == "x")) == expected
    around = read_tree(f"<div class=sidebar-layout id=sidebar><p>{LONG}</p><p>x</div>".encode())
    assert PageAreas(around, Measures(around)).of(len(around) - 1) == ""  # most of the page


@each(
    "html, level",
    [
        ("<h1>x</h1>", 1),
        ("<h3><a href=y>x</a></h3>", 3),
        ("<p><b>x</b>", 7),
        ("<p><font size=5>x</font>", 7),
        ("<p style='font-weight:bold'>x", 7),
        *(
            (f"<p class='{name}'>x", 7)
            for name in ("post-title", "TITLE_2", "biaoti", "a headline")
        ),
        ("<p class='articleTitle'>x", 7),
        *((f"<p class={name}>x", 0) for name in ("titles", "subheading", "captions")),
        ("<p>x", 0),
        ("<p><b>x</b> and more", 0),
        ("<p>", 0),
    ],
)
def test_headings_are_known_by_tag_and_by_look(html: str, level: int) -> None:
    tree = read_tree(html.encode())
    assert Headlines(tree, Measures(tree)).level(range(1, len(tree))) == level


def test_headlines_agree_with_the_title() -> None:
    tree = read_tree("<meta charset=utf-8><title>Levers 杠杆原理 | School</title>".encode())
    agreement = Headlines(tree, Measures(tree)).agreement
    assert [agreement(text) >= 0.7 for text in ("Levers", "杠杆 原理", "School")] == [True] * 3
    assert [agreement(text) >= 0.7 for text in ("Pulleys", "L")] == [False] * 2


@each(
    "names, area",
    [
        ("post-nav bottom", "navigation"),
        ("siteFooter", "foot"),
        ("with-sidebar", ""),
        ("justify-content-between", ""),
        ("sidebar-ad", "advertisement"),
        ("load", ""),
        ("shadow", ""),
        ("tag-physics category-levers", ""),
        ("tag-cloud", "tags"),
        ("sidebar " + "x" * 10_000, "side"),
    ],
)
def test_words_of_classes(names: str, area: str) -> None:
    assert area_of_names(names) == area


def test_every_area_has_words() -> None:
    said = "ads comments share related tags nav byline aside footer header article"
    assert {area_of_names(name) for name in said.split()} == set(AREAS)


def test_words_of_texts() -> None:
    assert "navigation" in lists_of("【首頁】")
    assert "navigation" in lists_of("« Home")
    assert not lists_of("Home" + " " * 1000)
    assert begins_with("related", "相關連結：")
    assert begins_with("noise", "Share this page")
    assert not begins_with("noise", "Shareholders met")
    assert begins_with("navigation", "Home " + "x" * 1000)
    assert holds("copyright", "本站 版權所有")
    assert holds("copyright", "uncopyrighted, copyright 2009")
    assert not holds("copyright", "copyrights and uncopyrighted")
    words = TopicWords(["Refraction of light 光的折射"])
    assert [words.is_in(text) for text in ("Refractions", "折射定律", "Mirrors", "")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert not TopicWords(["of the"]).is_in("of the")


def test_long_texts_and_classes_are_not_kept() -> None:
    topic = TopicWords(["Home"])

    def read(size: int) -> None:
        for number in range(20):
            text = f"Home {number} " + "x" * size
            begins_with("navigation", text)
            lists_of(text)
            area_of_names(text)
            topic.is_in(text)
            assert declarations(f"x: {text}; color: red").colour == "red"
            tree = read_tree(f"<p class='{number}{'x' * size}'>Levers".encode())
            Headlines(tree, Measures(tree)).level(range(1, len(tree)))
            list(described_in("div", {f"data-{number}{'x' * size}": "a"}))

    read(10)
    tracemalloc.start()
    read(50_000)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500_000
