"""The words that tell what a block is, and those that tell what a page is about."""

import tracemalloc

from mmcrawl.blocks.layout import AREAS, TopicWords, area_of_names, begins_with, holds, lists_of
from mmcrawl.page import declarations
from tests.tables import each


@each(
    "names, area",
    [
        ("post-nav bottom", "navigation"),
        ("siteFooter", "foot"),
        ("with-sidebar", ""),
        ("justify-content-between", ""),
        ("sidebar-ad", "advertisement"),
        ("header", "head"),
        ("load", ""),
        ("shadow", ""),
        ("entry-content", "content"),
        ("tag-physics category-levers", ""),
        ("tag-cloud", "tags"),
    ],
)
def test_words_of_classes(names: str, area: str):
    assert area_of_names(names) == area


def test_every_area_has_words():
    said = "ads comments share related tags nav byline aside footer header article"
    assert {area_of_names(name) for name in said.split()} == set(AREAS)


def test_traditional_characters_and_punctuation_do_not_matter():
    assert "navigation" in lists_of("【首頁】")
    assert "navigation" in lists_of("« Home")
    assert begins_with("related", "相關連結：")
    assert begins_with("noise", "Share this page")
    assert not begins_with("noise", "Shareholders met")
    assert holds("copyright", "本站 版權所有")


def test_a_latin_word_is_held_only_whole():
    assert not holds("copyright", "copyrights and uncopyrighted")
    assert holds("copyright", "uncopyrighted, copyright 2009")


def test_long_texts_are_not_kept():
    topic = TopicWords(["Home"])

    def ask(size: int) -> None:
        for number in range(50):
            text = f"Home {number} " + "x" * size
            begins_with("navigation", text)
            lists_of(text)
            area_of_names(text)
            declarations(f"color: red; x: {text}")
            topic.is_in(text)

    ask(10)
    tracemalloc.start()
    ask(20_000)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500_000


def test_of_long_texts_the_beginning_counts():
    assert begins_with("navigation", "Home " + "x" * 1000)
    assert not lists_of("Home" + " " * 1000)
    assert area_of_names("sidebar " + "x" * 10_000) == "side"
    assert declarations("x:" + "y" * 10_000 + "; color: red").colour == "red"


def test_topic_words_compare_latin_stems_and_pairs_of_chinese_characters():
    words = TopicWords(["Refraction of light 光的折射"])
    assert words.is_in("Refractions")
    assert words.is_in("折射定律")
    assert not words.is_in("Mirrors")
    assert not words.is_in("")
    assert not TopicWords(["of the"]).is_in("of the")
