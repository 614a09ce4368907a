import re
import time

import jieba
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.text import Lexicon, is_stop_word, segment, stem, unify
from tests.tables import each


def test_chinese_is_cut_into_words():
    assert segment("高中物理实验视频下载") == ["高中物理", "实验", "视频", "下载"]


def test_the_dictionary_is_that_of_jieba():
    theirs = jieba.Tokenizer()
    words = [line.split()[0].decode() for line in theirs.get_dict_file()]
    runs = ["".join(words[at : at + 40]) for at in range(0, len(words), 1_600)]
    for run in re.findall("[一-鿿]+", unify(" ".join(runs))):
        assert segment(run) == list(theirs.cut(run, HMM=False))


def test_words_of_the_lexicon_are_cut_out_before_jieba_sees_the_text():
    assert segment("匀变速直线运动的规律", Lexicon(["匀变速直线运动"])) == [
        "匀变速直线运动",
        "的",
        "规律",
    ]


def test_english_words_are_stemmed_in_lower_case():
    assert segment("Experiments in OPTICS, 1687!") == ["experi", "in", "optic", "1687"]


@each("plural, singular", [("lenses", "lens"), ("nuclei", "nucleus")])
def test_irregular_plurals_have_the_stem_of_their_singular(plural, singular):
    assert stem(plural) == stem(singular)


def test_full_width_and_traditional_forms_are_made_plain():
    assert segment("牛頓，ＭＰ３") == ["牛顿", "mp3"]


def test_a_phrase_of_the_lexicon_is_one_word():
    lexicon = Lexicon(["newton's second law"])
    assert segment("Of Newton’s second laws 牛顿", lexicon) == ["of", "newton's second law", "牛顿"]


def test_runs_of_letters_that_are_no_word_are_dropped():
    assert segment("before " + "x" * 65 + " after") == ["befor", "after"]


@given(st.text())
def test_no_text_makes_segment_fail(text):
    assert all(segment(text))
    assert all(segment(text, Lexicon(["力学", "a b"])))


def test_a_long_run_of_one_character_takes_linear_time():
    started = time.process_time()
    assert segment("囧" * 100_000) == ["囧"] * 100_000
    assert time.process_time() - started < 30


@each("word", ["的", "the", "because", stem("because"), "we're", "我们"])
def test_function_words_are_stop_words(word):
    assert is_stop_word(word)


@each("word", ["物理", "physics", "physic", "实验", ""])
def test_subject_words_are_not(word):
    assert not is_stop_word(word)


@each(
    "text, plain",
    [
        ("電磁學與光學", "电磁学与光学"),
        ("乾隆皇帝", "乾隆皇帝"),
        ("Ｎewton’s", "newton's"),
    ],
)
def test_unify_gives_one_spelling(text, plain):
    assert unify(text) == plain
