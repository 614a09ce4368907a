"""Kinds of media by the names that people give them."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.crawl import parse_kinds
from mmcrawl.text import (
    CHINESE,
    DEFAULT_KINDS,
    KINDS,
    data_lines,
    is_paging,
    kind_named,
    names_kind,
    names_media,
)
from tests.tables import each


@each(
    "name, kind",
    [
        ("视频", "video"),
        ("視頻", "video"),
        (" Audio ", "audio"),
        ("模拟", "simulation"),
        ("课件", "document"),
        ("image_animation", "image-animation"),
    ],
)
def test_a_kind_has_names_in_english_and_chinese(name, kind):
    assert kind_named(name) == kind


def test_every_kind_is_its_own_name_and_has_a_chinese_one():
    assert [kind_named(kind) for kind in KINDS] == list(KINDS)
    assert [kind_named(CHINESE[kind]) for kind in KINDS] == list(KINDS)
    assert set(DEFAULT_KINDS) < set(KINDS)
    assert parse_kinds("文档，视频、audio") == ["audio", "video", "document"]


@each(
    "text, kind",
    [
        ("Handout 3", "document"),
        ("导学案", "document"),
        ("虚拟实验", "simulation"),
        ("动图", "image-animation"),
    ],
)
def test_words_of_a_kind_count_where_it_is_wanted(text, kind):
    assert names_kind(text, kind)
    assert names_media(text, [kind])
    assert not names_kind("About us", kind)


def test_media_are_promised_in_many_languages():
    anchors = (
        "DOWNLOADS|Downloading Episode 12|(mp3)|Hörproben|ВИДЕО|实验视频|物理課件下載|물리 동영상"
    )
    assert [anchor for anchor in anchors.split("|") if not names_media(anchor)] == []


def test_words_inside_other_words_promise_nothing():
    anchors = "|Display|Clipboard|Erfolge|Unsound|関連"
    assert [anchor for anchor in anchors.split("|") if names_media(anchor)] == []


def test_a_link_that_says_no_more_than_that_a_list_goes_on():
    anchors = ["next page »", "← Previous", "»", "12", "2019", "[2]", "page 2 of 14", "2 / 14"]
    anchors += ["第 3 頁", "下一页>>", "»|"]
    assert [anchor for anchor in anchors if not is_paging(anchor)] == []


def test_a_link_that_says_more_is_no_paging():
    anchors = ["  ", "Next year", "20190401", "1a", "Page 2 of the story of X", "Page", "[]"]
    anchors += ["[Lesson 2]", "第3课", "24/7 news"]
    assert [anchor for anchor in anchors if is_paging(anchor)] == []


def test_every_word_of_the_lists_is_found() -> None:
    for name in ("media.txt", "paging.txt"):
        lines = data_lines("link_words", name)
        assert len(lines) == len({line.strip().lower() for line in lines}) > 0
    for word in data_lines("link_words", "media.txt"):
        assert names_media(word.replace("*", "")), word
        assert names_media(f"x1 {word.replace('*', 'xyz').upper()}, x2"), word
    for word in data_lines("link_words", "paging.txt"):
        assert is_paging(f"« {word.title()} »"), word
        assert not is_paging(f"{word} optics"), word


@given(st.text(st.characters(), max_size=60))
def test_any_text_is_answered(anchor):
    assert names_media(anchor) in (True, False)
    assert not is_paging(anchor) or anchor.strip()
