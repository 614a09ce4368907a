from mmcrawl.topic import Topic

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
