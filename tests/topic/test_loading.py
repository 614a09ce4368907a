import re
from collections import Counter
from pathlib import Path

import pytest

from mmcrawl.text import Lexicon, has_han
from mmcrawl.topic import load_topic, load_topics, topic_from_keywords, topic_names
from tests.tables import each

TOML = """\
name = "optics"
title = "光学"
words = [
  ["折射", "refraction"],
  "透镜",
]
subject_words = [["光学", "optics"]]
[media.video]
words = [["双缝实验", "double slit"]]
"""


@pytest.fixture
def file(tmp_path):
    def write(content, name="topic.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def test_a_toml_file_is_a_topic(file):
    topic = load_topic(file(TOML))
    assert (topic.name, topic.title) == ("optics", "光学")
    assert topic.concepts == (("折射", "refraction"), ("透镜",))
    assert topic.subject_words == (("光学", "optics"),)
    assert topic.media == {"video": (("双缝实验", "double slit"),)}


def test_a_plain_file_holds_one_concept_a_line(file):
    path = file("# volcanoes\n火山喷发 | volcanic eruption\n\n岩浆\tmagma  # molten\n", "fire.txt")
    topic = load_topic(path)
    assert topic.name == "fire"
    assert topic.terms == (("火山喷发", "volcanic eruption"), ("岩浆", "magma"))


def test_chinese_encodings_are_read(file):
    for encoding in ("utf-8-sig", "gb18030"):
        assert load_topic(file(TOML.encode(encoding))).title == "光学"
        assert load_topic(file("岩浆".encode(encoding), "a.txt")).terms == (("岩浆",),)


def test_a_topic_is_known_by_its_title_in_either_language():
    assert load_topic("高中物理").name == "physics-senior"
    assert load_topic("senior secondary Physics").name == "physics-senior"
    assert load_topics("高中物理,初中化学").name == "physics-senior,chemistry-junior"


def test_several_topics_are_one_union(file):
    other = 'name="waves"\nwords=[["折射", "bending"], ["干涉"]]\n[media.video]\nwords=[["水波"]]'
    topic = load_topics(f"{file(TOML)}, {file(other, 'waves.toml')}")
    assert topic.name == "optics,waves"
    assert ("折射", "refraction", "bending") in topic.terms
    assert {concept[0] for concept in topic.terms} == {*"光学 折射 透镜 干涉 双缝实验 水波".split()}


def test_keywords_make_a_topic():
    topic = topic_from_keywords("光学|optics, refraction，透镜、棱镜")
    assert topic.terms == (("光学", "optics"), ("refraction",), ("透镜",), ("棱镜",))


@each("name", topic_names())
def test_every_shipped_topic_holds_words_of_both_languages_each_in_one_concept(name):
    topic = load_topic(name)
    words = [word for concept in topic.terms for word in concept]
    assert topic.name == name
    assert topic.title
    assert topic.source
    assert sum(has_han(word) for word in words) >= 60
    assert sum(word.isascii() for word in words) >= 60
    key = Lexicon(()).key
    parts = (topic.concepts, topic.subject_words, *topic.media.values())
    in_concepts = ({key(word) for word in concept} for part in parts for concept in part)
    counts = Counter(word for concept in in_concepts for word in concept)
    assert {word for word, count in counts.items() if count > 1} == set()


@each(
    "name, texts",
    [
        ("physics-senior", ["torque and buoyancy", "a hologram, lenses", "弹簧振子与驻波"]),
        ("english", ["phrasal verbs and modal verbs", "定语从句与虚拟语气"]),
        ("music", ["a sonata for violin", "二胡与古筝"]),
        ("computing", ["sorting algorithms in Python", "数据结构与递归"]),
    ],
)
def test_a_subject_is_known_by_what_is_taught_in_it(name, texts):
    topic = load_topic(name)
    assert [len(topic.find(text)) for text in texts] == [2] * len(texts)


def test_the_readme_tells_how_many_concepts_count_for_each_kind_of_media():
    readme = (Path(__file__).parents[2] / "dictionaries" / "README.md").read_text("utf-8")
    told = {
        name: (int(video), int(audio), int(animation))
        for name, video, audio, animation in re.findall(
            r"^\| `([a-z-]+)` \| (\d+) \| \d+ \| (\d+) \| \d+ \| (\d+) \| \d+ \|$", readme, re.M
        )
    }
    counted = {
        name: tuple(len(topic.wanting([kind]).terms) for kind in ("video", "audio", "animation"))
        for name in topic_names()
        if (topic := load_topic(name)).media
    }
    assert told == counted
    assert len(told) == 14
