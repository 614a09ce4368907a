"""The query language."""

from datetime import UTC, datetime

import pytest

from mmcrawl.archive.search import (
    Choice,
    Run,
    Term,
    as_filter,
    parse_query,
    phrase_runs,
    tokens,
)
from mmcrawl.errors import MmcrawlError, SearchError
from tests.tables import each


def words(query: str) -> list[Run]:
    return [term.runs[0] for term in parse_query(query).words]


def test_words_are_unified_stemmed_and_segmented() -> None:
    assert words("Levers  力學 量子力学") == [("lever",), ("力学",), ("量子", "子力", "力学")]
    assert words("天气预报学习") == [("天气", "气预", "预报"), ("学习",)]


def test_words_that_say_nothing_count_only_where_nothing_else_is_asked_for() -> None:
    assert words("the laws of 力学 的") == [("law",), ("力学",)]
    assert words("to be or not to be") == [("to",), ("be",), ("or",), ("not",)]


def test_a_phrase_keeps_all_its_words_and_their_order() -> None:
    assert words('"laws of motion" lever') == [("law", "of", "motion"), ("lever",)]
    assert words("„laws motion“") == [("law", "motion")]


def test_spaces_in_a_chinese_phrase_count_or_not() -> None:
    (term,) = parse_query("“量子 力学”").words
    assert term.runs == (("量子", "子", "力学"), ("量子", "子力", "力学"))


def test_a_single_character_is_the_beginning_of_a_pair() -> None:
    assert words("力") == [("力*",)]
    assert words('"learn 力"') == [("learn", "力*")]


def test_minus_excludes_words_phrases_and_values() -> None:
    query = parse_query('lever -pulley -"three laws" -kind:navigation -topic:rope')
    assert query.without == (
        Term((("pulley",),)),
        Term((("three", "law"),)),
        Term((("rope",),), topic=True),
    )
    assert query.kind == Choice(unwanted=("navigation",))


def test_fields_take_values_in_quotes_and_full_width_colons() -> None:
    query = parse_query(
        'topic:"laws of motion" kind：title site:Physics.TEST url:http://a/B lang:DE'
    )
    assert [term.runs for term in query.topics] == [(("law",),), (("of",),), (("motion",),)]
    assert query.kind.wanted == ("title",)
    assert query.site.wanted == ("physics.test",)
    assert query.url.wanted == ("http://a/B",)
    assert query.lang.wanted == ("de",)


def test_days_are_inclusive_and_in_utc() -> None:
    query = parse_query("from:2024-01-01 to:2024-12-31")
    assert query.start == datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    assert query.end == datetime(2025, 1, 1, tzinfo=UTC).timestamp()
    assert parse_query("to:9999-12-31").end is None


@each(
    "text, says",
    [
        ("", "empty"),
        ("  \u3000 ", "empty"),
        ('"laws of', "no closing quote"),
        ('""', "empty phrase"),
        ("lever -", "minus sign before nothing"),
        ("-lever", "only says what must not occur"),
        ("???", "no word to search"),
        ("knd:title", "no field 'knd'"),
        ("kind:menu", "use one of title, topic"),
        ("media:film", "use one of audio, video, animation"),
        ("kind: title", "has no value"),
        ("from:yesterday", "is no date"),
        ("from:2024-02-30", "is no date"),
        ("to:20240101", "is no date"),
        ("from:2024-01-01 from:2024-01-02", "given 2 times"),
        ("from:2024-02-01 to:2024-01-01", "later than"),
        ("lever -from:2024-01-01", "cannot be excluded"),
        ("x" * 1_001, "longer than 1000 characters"),
        (" ".join(f"w{n}" for n in range(65)), "more than 64 words"),
        ("lever ”", "no word to search"),
        ("lev*", "no wildcards"),
        ("lever *ulley", "no wildcards"),
    ],
)
def test_a_bad_query_gets_one_sentence(text: str, says: str) -> None:
    with pytest.raises(SearchError, match=says) as caught:
        parse_query(text)
    assert isinstance(caught.value, MmcrawlError)
    assert "\n" not in str(caught.value)


def test_chinese_is_cut_into_pairs_that_overlap() -> None:
    found = [(token.word, token.start, token.end) for token in tokens("學习天 now")]
    assert found == [("学习", 0, 2), ("习天", 1, 3), ("天", 2, 3), ("now", 4, 7)]


@each(
    "field, value",
    [("topic", "laws of motion"), ("site", "h.test"), ("url", "http://h.test/a b"), ("lang", "de")],
)
def test_a_filter_is_understood_as_it_was_meant(field: str, value: str) -> None:
    query = parse_query(as_filter(field, value))
    if field == "topic":
        assert [term.runs[0][0] for term in query.topics] == ["law", "of", "motion"]
    else:
        assert getattr(query, field).wanted == (value,)


def test_kana_are_found_inside_of_longer_runs() -> None:
    text = [token.word for token in tokens("東京タワーへありがとうございます")]
    for part in ("ありがとう", "タワー", "ﾀﾜｰ"):
        (run,) = phrase_runs(part)
        assert run in [tuple(text[at : at + len(run)]) for at in range(len(text))]
    assert [token.word for token in tokens("ﾀﾜｰ")] == [token.word for token in tokens("タワー")]
    assert all(token.start < token.end <= 4 for token in tokens("ｶﾞｷﾞ"))
