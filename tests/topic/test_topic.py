from mmcrawl.topic import Topic, load_topic

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


def test_concepts_of_the_same_name_are_joined():
    topic = Topic("t", "t", (("光", "light"), ("光", "lumen"), ("Light", "lux")))
    assert topic.terms == (("光", "light", "lumen", "lux"),)


def test_a_word_of_two_concepts_stays_with_the_first():
    topic = Topic("t", "t", (("功", "work"), ("作业", "work", "homework")))
    assert topic.terms == (("功", "work"), ("作业", "homework"))


def test_named_laws_are_words_of_the_curriculum_and_chapters_are_named() -> None:
    topic = load_topic("高中物理")
    for title in ("牛顿定律", "牛顿三大定律", "牛顿第二定律演示", "newton's laws of motion"):
        chapter = topic.chapter_of(title)
        assert chapter is not None
        assert chapter[:2] == ("力与牛顿运动定律", "Forces and Newton's laws")
    assert topic.chapter_of("Soup") is None
