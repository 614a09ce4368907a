"""Kinds of media by the names that people give them."""

from mmcrawl.crawl import parse_kinds
from mmcrawl.text import CHINESE, DEFAULT_KINDS, KINDS, kind_named, names_kind, names_media
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
