"""Words of a text, and one spelling for the variants of a character."""

import re
import unicodedata

import jieba
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.text import Lexicon, is_stop_word, segment, stem, unify
from tests.growth import assert_linear
from tests.tables import each


@each(
    "text, words, cut",
    [
        ("高中物理实验视频下载", [], ["高中物理", "实验", "视频", "下载"]),
        ("匀变速直线运动的规律", ["匀变速直线运动"], ["匀变速直线运动", "的", "规律"]),
        ("Experiments in OPTICS, 1687!", [], ["experi", "in", "optic", "1687"]),
        ("牛頓，ＭＰ３", [], ["牛顿", "mp3"]),
        ("Of Newton’s second laws 牛顿", ["newton's second law"],
         ["of", "newton's second law", "牛顿"]),
        ("before " + "x" * 65 + " after", [], ["befor", "after"]),  # no word is that long
    ],
)  # fmt: skip
def test_a_text_is_cut_into_words(text: str, words: list[str], cut: list[str]) -> None:
    assert segment(text, Lexicon(words)) == cut


def test_the_dictionary_is_that_of_jieba() -> None:
    theirs = jieba.Tokenizer()
    words = [line.split()[0].decode() for line in theirs.get_dict_file()]
    runs = ["".join(words[at : at + 40]) for at in range(0, len(words), 4_000)]
    for run in re.findall("[一-鿿]+", unify(" ".join(runs))):
        assert segment(run) == list(theirs.cut(run, HMM=False))


def test_irregular_plurals_have_the_stem_of_their_singular() -> None:
    assert (stem("lenses"), stem("nuclei")) == (stem("lens"), stem("nucleus"))


@given(st.text())
def test_no_text_makes_segment_fail(text: str) -> None:
    assert all(segment(text))
    assert all(segment(text, Lexicon(["力学", "a b"])))


def test_function_words_are_stop_words_and_subject_words_are_not() -> None:
    for word in ("的", "the", "because", stem("because"), "we're", "我们"):
        assert is_stop_word(word)
    for word in ("物理", "physics", "physic", "实验", ""):
        assert not is_stop_word(word)


def test_unify_gives_one_spelling() -> None:
    assert unify("電磁學與光學") == "电磁学与光学"
    assert unify("乾隆皇帝 Ｎewton’s") == "乾隆皇帝 newton's"
    for text in ("e\u0301", "x\u0323\u0301", "ｶﾞ", "Ｐ", "²"):
        for before in range(508, 514):  # around the border of two pieces
            whole = "a" * before + text + "b" * 600 + text
            assert unify(whole) == unicodedata.normalize("NFKC", whole).lower()


@each("read, unit", [(segment, "囧"), (unify, "a\u0301\u0323" + "\u0301\u0323" * 9)])
def test_long_runs_are_read_in_linear_time(read, unit: str) -> None:
    assert_linear(lambda size: read(unit * size), 10_000)
