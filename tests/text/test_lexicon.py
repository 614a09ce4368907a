import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.errors import TopicError
from mmcrawl.text import Lexicon, segment, stem
from tests.growth import assert_linear
from tests.tables import each

WORDS = [
    "力",
    "力学",
    "量子力学",
    "光合作用",
    "X射线",
    "维生素c",
    "newton's second law",
    "optics",
    "law",
]

pieces = st.lists(
    st.sampled_from([*WORDS, "Newton’s", "second", "的", "學", "x", " ", "。", "''", "я", "3"])
)


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon(WORDS)


def test_the_longest_word_wins(lexicon):
    assert lexicon.find("量子力学与力学") == {"量子力学": 1, "力学": 1}


def test_a_shorter_word_is_found_where_the_longer_one_breaks_off(lexicon):
    assert lexicon.find("力能") == {"力": 1}
    assert lexicon.find("光合用力") == {"力": 1}


def test_of_words_with_one_beginning_the_longest_is_tried_first():
    lexicon = Lexicon(["光合", "光合作用", "newton", "newton's law", "newton's law of motion"])
    assert lexicon.find("光合作用、光合作") == {"光合作用": 1, "光合": 1}
    assert lexicon.find("Newton's law of motion; Newton's law in") == {
        "newton's law of motion": 1,
        "newton's law": 1,
    }


def test_letters_of_a_mixed_word_are_not_counted_again():
    assert Lexicon(["维生素c", "c"]).find("维生素C和C") == {"维生素c": 1, "c": 1}


def test_matching_goes_forward_and_hits_do_not_overlap():
    assert Lexicon(["中学", "学生"]).find("中学生") == {"中学": 1}


@each("text", ["量子力學", "量子力学"])
def test_traditional_and_simplified_text_match_alike(lexicon, text):
    assert lexicon.find(text) == {"量子力学": 1}


def test_characters_that_simplified_text_uses_itself_stay():
    assert Lexicon(["什么"]).find("什么，什麼") == {"什么": 2}


@each(
    "text",
    [
        "newton's second law",
        "Newton’s Second Laws",
        "NEWTONS SECOND-LAW",
        "ｎｅｗｔｏｎ second law",
    ],
)
def test_a_phrase_is_matched_in_all_its_inflections(lexicon, text):
    assert lexicon.find(text) == {"newton's second law": 1}


@each(
    "word, texts",
    [
        ("wave", ["waves", "Waves'", "wave's", "waved", "waving"]),
        ("lens", ["lenses"]),
        ("plan", ["planned", "planning"]),
        ("mechanics", ["mechanics", "mechanic"]),
        ("gas law", ["gas laws"]),
    ],
)
def test_a_word_is_found_in_its_inflections(word, texts):
    assert [dict(Lexicon([word]).find(text)) for text in texts] == [{word: 1}] * len(texts)


@each(
    "word, text",
    [
        ("solute", "problems and solutions"),
        ("loudness", "say it loud"),
        ("physics", "physical and physically"),
    ],
)
def test_a_word_that_only_has_its_stem_in_common_is_another(word, text):
    assert stem(word) in {stem(other) for other in text.split()}
    assert Lexicon([word]).find(text) == {}


def test_a_phrase_is_not_matched_across_chinese_text(lexicon):
    assert lexicon.find("newton's second 的 law") == {"law": 1}


def test_mixed_words_need_a_word_border(lexicon):
    assert lexicon.find("x射线与X射线") == {"X射线": 2}
    assert lexicon.find("maxx射线") == {}
    assert lexicon.find("维生素C，维生素core") == {"维生素c": 1}


@each("word", ["DNA复制", "DNA 复制"])
@each("text", ["DNA复制", "dna 複製", "关于DNA 复制的", "the DNA 复制"])
def test_a_blank_between_han_and_latin_makes_no_difference(word, text):
    lexicon = Lexicon([word])
    assert lexicon.find(text) == {word: 1}
    assert segment(text, lexicon).count(word) == 1
    assert word.replace(" ", "") in lexicon


def test_blanks_are_left_out_behind_han_and_beside_other_letters_too():
    assert Lexicon(["维生素c", "c"]).find("维生素 C 和 c") == {"维生素c": 1, "c": 1}
    assert Lexicon(["α粒子"]).find("α 粒子 Α粒子") == {"α粒子": 2}
    assert Lexicon(["LC振荡电路"]).find("用 LC 振荡电路 3 次") == {"LC振荡电路": 1}
    assert Lexicon(["维生素c"]).find("维生素 core") == {}


def test_a_blank_between_han_characters_keeps_words_apart():
    assert Lexicon(["物理学", "x射线"]).find("物理 学生") == {}
    lexicon = Lexicon(["阿基米德 原理"])
    assert lexicon.find("阿基米德原理，阿基米德 原理") == {"阿基米德 原理": 2}


def test_a_word_keeps_its_first_spelling():
    lexicon = Lexicon(["Optics", "optic", "光學", "光学"])
    assert lexicon.find("OPTICS 光学") == {"Optics": 1, "光學": 1}
    assert len(lexicon) == 2
    assert lexicon.name_of("optics") == "Optics"
    assert "光学" in lexicon
    assert "力学" not in lexicon


def test_accents_do_not_part_words():
    assert Lexicon(["L'Hôpital's rule"]).find("l’Hopital’s rule") == {"L'Hôpital's rule": 1}


@each("word", ["", "  ", "!?", "''", "力" * 65])
def test_what_is_no_word_is_refused(word):
    with pytest.raises(TopicError):
        Lexicon([word])


def test_the_counts_cannot_be_changed_by_a_caller(lexicon):
    with pytest.raises(TypeError):
        lexicon.find("力学")["力学"] = 7


@given(pieces)
def test_find_counts_what_segment_cuts_out(texts):
    lexicon = Lexicon(WORDS)
    text = "".join(texts)
    found = [word for word in segment(text, lexicon) if word in set(WORDS)]
    assert dict(lexicon.find(text)) == {word: found.count(word) for word in found}


@given(pieces, pieces)
def test_texts_with_chinese_punctuation_between_are_counted_apart(first, second):
    lexicon = Lexicon([word for word in WORDS if " " not in word])
    one, two = "".join(first), "".join(second)
    both = lexicon.find(f"{one}。{two}")
    apart = [lexicon.find(one), lexicon.find(two)]
    assert dict(both) == {
        word: sum(counts.get(word, 0) for counts in apart) for word in {**apart[0], **apart[1]}
    }


@each("unit", ["力", "newton's second ", "维生素cc"])
def test_time_grows_with_the_length_of_the_text_only(unit):
    lexicon = Lexicon([*WORDS, "力" * 60, "newton's " * 7])
    assert_linear(lambda size: lexicon.find(unit * (size // len(unit))), 40_000)
