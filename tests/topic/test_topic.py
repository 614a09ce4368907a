from pathlib import Path

import pytest

from mmcrawl.errors import TopicError
from mmcrawl.topic import Topic, load_topic, load_topics, topic_from_keywords
from tests.tables import each

OPTICS = Topic(
    name="optics",
    title="光学",
    concepts=(("光的反射", "reflection of light"), ("折射", "refraction"), ("透镜", "lens")),
    subject_words=(("光学", "optics"),),
    media={"video": (("双缝实验", "double slit"),), "audio": (("光声效应",),)},
    source="made up for the tests",
)


def test_a_page_counts_alike_in_either_language():
    chinese = OPTICS.find("光学：透镜的折射，折射率")
    english = OPTICS.find("Optics: refraction in lenses. Refractions")
    assert chinese == english == {"光学": 1, "透镜": 1, "折射": 2}


def test_words_of_a_media_kind_count_only_when_it_is_wanted():
    assert len(OPTICS.terms) == 6
    assert len(OPTICS.wanting(["video"]).terms) == 5
    assert OPTICS.wanting(["video"]).find("double slits 光声效应") == {"双缝实验": 1}
    assert OPTICS.wanting([]).find("double slits 光声效应") == {}


def test_concepts_of_the_same_name_are_joined_and_a_word_of_two_stays_with_the_first():
    topic = Topic("t", "t", (("光", "light"), ("光", "lumen"), ("Light", "lux")))
    assert topic.terms == (("光", "light", "lumen", "lux"),)
    topic = Topic("t", "t", (("功", "work"), ("作业", "work", "homework")))
    assert topic.terms == (("功", "work"), ("作业", "homework"))


def test_named_laws_are_words_of_the_curriculum_and_chapters_are_named() -> None:
    topic = load_topic("高中物理")
    for title in ("牛顿定律", "牛顿三大定律", "牛顿第二定律演示", "newton's laws of motion"):
        chapter = topic.chapter_of(title)
        assert chapter[:2] == ("力与牛顿运动定律", "Forces and Newton's laws")
    assert topic.chapter_of("Soup") is None


def test_a_topic_file_has_chapters_whose_words_are_the_topics_too(tmp_path: Path) -> None:
    file = tmp_path / "levers.toml"
    file.write_text(
        'name = "levers"\nwords = ["fulcrum"]\n'
        '[[chapters]]\ntitle = "杠杆"\ntitle_en = "Bars"\nwords = [["杠杆", "crowbar"]]\n',
        encoding="utf-8",
    )
    topic = load_topics(f"{file},computing")
    assert ("杠杆", "crowbar") in topic.concepts
    assert (chapter := topic.chapter_of("A crowbar")) is not None
    assert chapter[:2] == ("杠杆", "Bars")
    assert topic.title == "levers、信息技术"


@each(
    "content, said",
    [
        ("name = levers", "not valid TOML"),
        (f"name = {100_000 * '['}", "not valid TOML"),
        ("words = ['fulcrum']", "the topic has no name"),
        ("name = 3", "name must be a text in quotes"),
        ("name = 'l'\nwords = [3]", "words holds 3, which is no list of words"),
        ("name = 'l'\nword = []", "unknown key 'word'"),
        ("name = 'l'\nmedia = []", "media must be a table"),
        ("name = 'l'\n[media]\nvideo = []", "media.video must be a table"),
        ("name = 'l'\nchapters = {}", "write each chapter as [[chapters]]"),
        ("name = 'l'\n[[chapters]]\nname = 'a'", "[[chapters]]: unknown key 'name'"),
        ("name = 'l'\nwords = ['']", "levers.toml"),
    ],
)
def test_what_is_wrong_in_a_topic_file_is_said(content: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "levers.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(TopicError) as error:
        load_topic(str(file))
    assert str(file) in str(error.value)
    assert said in str(error.value)


@each(
    "names, said",
    [
        ("", "no topic is named"),
        ("no/such/file", "there is no topic file"),
        ("physics-senor", "did you mean physics-senior"),
        ("zzz", "unknown topic 'zzz'; `scrapy topic list`"),
    ],
)
def test_a_topic_that_is_not_there_is_said(names: str, said: str) -> None:
    with pytest.raises(TopicError, match=said):
        load_topics(names)
    with pytest.raises(TopicError):
        topic_from_keywords(" , ")
