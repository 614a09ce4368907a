import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.errors import TopicError
from mmcrawl.text import Lexicon, segment, stem
from tests.growth import assert_linear
from tests.tables import each

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
