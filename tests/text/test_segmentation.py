"""Words of a text, and one spelling for the variants of a character."""

import re
import unicodedata

import jieba
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.errors import TopicError
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


WORDS = [*"力 力学 量子力学 光合作用 X射线 维生素c optics law".split(), "newton's second law"]


@each(
    "words, text, found",
    [
        # the longest word wins, a shorter one where that breaks off
        (WORDS, "量子力学与力学", {"量子力学": 1, "力学": 1}),
        (WORDS, "光合用力", {"力": 1}),
        (["光合", "光合作用"], "光合作用、光合作", {"光合作用": 1, "光合": 1}),
        (["newton", "newton's law", "newton's law of motion"],
         "Newton's law of motion; Newton's law in",
         {"newton's law of motion": 1, "newton's law": 1}),
        # matching goes forward, and hits do not overlap
        (["中学", "学生"], "中学生", {"中学": 1}),
        (["维生素c", "c"], "维生素C和C", {"维生素c": 1, "c": 1}),
        # traditional characters, and those that simplified text uses itself
        (WORDS, "量子力學", {"量子力学": 1}),
        (["什么"], "什么，什麼", {"什么": 2}),
        # phrases and words in their inflections
        *((WORDS, text, {"newton's second law": 1}) for text in (
            "Newton’s Second Laws", "NEWTONS SECOND-LAW", "ｎｅｗｔｏｎ second law",
        )),
        (["wave"], "waves Waves' wave's waved waving", {"wave": 5}),
        (["lens"], "lenses", {"lens": 1}),
        (["plan"], "planned planning", {"plan": 2}),
        (["mechanics"], "mechanics mechanic", {"mechanics": 2}),
        (["gas law"], "gas laws", {"gas law": 1}),
        (["L'Hôpital's rule"], "l’Hopital’s rule", {"L'Hôpital's rule": 1}),
        (WORDS, "newton's second 的 law", {"law": 1}),
        # mixed words need a word border
        (WORDS, "x射线与X射线", {"X射线": 2}),
        (WORDS, "maxx射线", {}),
        (WORDS, "维生素C，维生素core", {"维生素c": 1}),
        # a blank between Han and other letters makes no difference
        *(([word], text, {word: 1}) for word in ("DNA复制", "DNA 复制")
          for text in ("DNA复制", "dna 複製", "关于DNA 复制的", "the DNA 复制")),
        (["维生素c", "c"], "维生素 C 和 c", {"维生素c": 1, "c": 1}),
        (["α粒子"], "α 粒子 Α粒子", {"α粒子": 2}),
        (["维生素c"], "维生素 core", {}),
        # one between Han characters does
        (["物理学", "x射线"], "物理 学生", {}),
        (["阿基米德 原理"], "阿基米德原理，阿基米德 原理", {"阿基米德 原理": 2}),
        # a word keeps its first spelling
        (["Optics", "optic", "光學", "光学"], "OPTICS 光学", {"Optics": 1, "光學": 1}),
    ],
)  # fmt: skip
def test_words_that_are_found(words: list[str], text: str, found: dict[str, int]) -> None:
    lexicon = Lexicon(words)
    assert lexicon.find(text) == found
    assert all(segment(text, lexicon).count(word) == count for word, count in found.items())


@each(
    "word, text",
    [("solute", "problems and solutions"), ("loudness", "say it loud"), ("physics", "physically")],
)
def test_a_word_that_only_has_its_stem_in_common_is_another(word: str, text: str) -> None:
    assert stem(word) in {stem(other) for other in text.split()}
    assert Lexicon([word]).find(text) == {}


def test_what_a_lexicon_holds() -> None:
    lexicon = Lexicon(["Optics", "optic", "光學", "光学", "DNA 复制"])
    assert len(lexicon) == 3
    assert lexicon.name_of("optics") == "Optics"
    assert [word in lexicon for word in ("光学", "DNA复制", "力学")] == [True, True, False]
    with pytest.raises(TypeError):
        lexicon.find("光学")["光学"] = 7  # type: ignore[index]


@each("word", ["", "  ", "!?", "''", "力" * 65])
def test_what_is_no_word_is_refused(word: str) -> None:
    with pytest.raises(TopicError):
        Lexicon([word])


PIECES = [*WORDS, "Newton’s", "second", "的", "學", "x", " ", "。", "''", "я", "3"]


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.lists(st.sampled_from(PIECES)))
def test_find_counts_what_segment_cuts_out_and_adds_up(text: str, more: list[str]) -> None:
    lexicon = Lexicon(WORDS)
    found = lexicon.find(text)
    words = [word for word in segment(text, lexicon) if word in set(WORDS)]
    assert dict(found) == {word: words.count(word) for word in words}
    shorter = Lexicon([word for word in WORDS if " " not in word])
    one, two = shorter.find(text), shorter.find("".join(more))
    both = shorter.find(f"{text}。{''.join(more)}")
    assert dict(both) == {word: one.get(word, 0) + two.get(word, 0) for word in {**one, **two}}


@each("unit", ["力", "newton's second ", "维生素cc"])
def test_time_grows_with_the_length_of_the_text_only(unit: str) -> None:
    lexicon = Lexicon([*WORDS, "力" * 60, "newton's " * 7])
    assert_linear(lambda size: lexicon.find(unit * (size // len(unit))), 10_000)
