import json
from math import log10, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.topic import BooleanModel, Topic, VectorSpaceModel
from tests.tables import each

OPTICS = Topic(
    "optics",
    "光学",
    (("光学", "optics"), ("折射", "refraction"), ("透镜", "lens"), ("棱镜", "prism")),
)
words = st.lists(st.sampled_from(["光学", "折射", "透镜", "news", "sport", "天气"]))


def test_boolean_similarity_is_the_share_of_the_concepts_found():
    model = BooleanModel(OPTICS)
    assert model.score("透镜与 lens", "optics") == 2 / 4  # equation 4.1
    assert model.score("光学 折射 透镜 棱镜") == 1
    assert model.score() == 0


def test_similarities_are_scaled_by_the_largest_seen():
    model = BooleanModel(OPTICS)
    assert model.scaled(model.score("体育新闻")) == 0
    assert model.scaled(model.score("optics")) == 1
    assert model.score("optics, lens") == 0.5
    assert model.scaled(0.25) == 0.5


def test_vector_space_weights_follow_equation_3_13():
    model = VectorSpaceModel(OPTICS)
    for page in (["光学", "news"], ["光学", "sport"], ["news"], ["news"]):
        model.observe(page)
    # N = 4; n = 2 for 光学, 3 for news; 折射 was never seen: 1.
    optics, news, refraction = (log10(4 / n + 0.01) for n in (2, 3, 1))
    length = sqrt((2 * optics) ** 2 + news**2 + refraction**2)
    expected = (2 * optics + refraction) / length / sqrt(4)  # equation 3.14, |w(q)| = sqrt(4)
    assert model.score(["光学", "news", "光学", "折射"]) == pytest.approx(expected)


def test_a_repeated_word_counts_once_per_document_by_its_concept():
    once, often = VectorSpaceModel(OPTICS), VectorSpaceModel(OPTICS)
    once.observe(["光学"])
    often.observe(["光学"] * 5)
    assert once.state() == often.state()
    assert once.words("The lenses of 光學, 新闻的") == ["透镜", "光学", "新闻"]


def test_a_model_goes_on_where_it_was_saved():
    model = VectorSpaceModel(OPTICS)
    model.observe(["光学", "news"])
    model.score(["光学"])
    copy = VectorSpaceModel(OPTICS)
    copy.restore(json.loads(json.dumps(model.state())))
    assert copy.state() == model.state()
    assert copy.score(["光学", "news"]) == model.score(["光学", "news"])
    boolean = BooleanModel(OPTICS)
    boolean.restore(json.loads(json.dumps({"largest": 0.5})))
    assert boolean.scaled(0.25) == 0.5


@each("count", [0, 2])
def test_counts_that_cannot_be_are_refused(count):
    state = {"largest": 0, "documents": 1, "words": {"a": count}}
    with pytest.raises(ValueError, match="more documents than there are"):
        VectorSpaceModel(OPTICS).restore(state)


def test_memory_is_bounded_and_the_topic_is_never_forgotten():
    model = VectorSpaceModel(OPTICS, max_words=50)
    model.observe(["光学"])
    for number in range(300):
        model.observe(["often", f"word{number}"])
    counts = model.state()["words"]
    assert len(counts) <= 50
    assert (counts["光学"], counts["often"]) == (1, 300)
    model = VectorSpaceModel(OPTICS, max_words=1)
    model.observe(["光学", "折射", "a", "b"])
    assert set(model.state()["words"]) == {"光学", "折射"}
    with pytest.raises(ValueError, match="at least 1"):
        VectorSpaceModel(OPTICS, max_words=0)


@given(st.lists(words, max_size=8), words)
def test_vector_space_similarity_lies_in_0_to_1(pages, title):
    model = VectorSpaceModel(OPTICS, max_words=4)
    for page in pages:
        model.observe(page)
    value = model.score(title)
    assert 0 <= value <= 1
    assert (value > 0) == bool({"光学", "折射", "透镜"} & set(title))
    assert 0 <= model.scaled(value) <= 1
