"""What is known of a block: where it is, what it holds, what names and words say of it."""

import tracemalloc
from collections.abc import Mapping

from mmcrawl.blocks import partition, read_tree
from mmcrawl.blocks.layout import (
    Headlines,
    Measures,
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
