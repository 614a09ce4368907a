"""The query language."""

from datetime import UTC, datetime

import pytest

from mmcrawl.archive.search_query import Choice, Phrase, SearchError, as_filter, parse_query
from mmcrawl.archive.search_words import tokens
from mmcrawl.errors import MmcrawlError


def test_words_are_unified_stemmed_and_segmented() -> None:
    assert parse_query("Levers  力學 量子力学").words == ("lever", "力学", "量子力学")


def test_words_that_say_nothing_count_only_where_nothing_else_is_asked_for() -> None:
    assert parse_query("the laws of 力学 的").words == ("law", "力学")
    assert parse_query("to be or not to be").words == ("to", "be", "or", "not")


def test_a_phrase_keeps_all_its_words_and_their_distance() -> None:
    query = parse_query('"laws of motion" lever')
    assert query.phrases == (Phrase(("law", "of", "motion"), (0, 1, 2)),)
    assert query.words == ("law", "of", "motion", "lever")
    assert parse_query("“量子 力学”").phrases == (Phrase(("量子", "力学"), (0, 2)),)
    assert parse_query("„laws motion“").phrases == (Phrase(("law", "motion"), (0, 1)),)


def test_a_phrase_of_one_word_is_a_word() -> None:
    query = parse_query('"lever"')
    assert (query.words, query.phrases) == (("lever",), ())


def test_minus_excludes_words_phrases_and_values() -> None:
    query = parse_query('lever -pulley -"three laws" -kind:navigation -topic:rope')
    assert query.without == (
        Phrase(("pulley",), (0,)),
        Phrase(("three", "law"), (0, 1)),
        Phrase(("topic:rope",), (0,)),
    )
    assert query.kind == Choice(unwanted=("navigation",))


def test_a_minus_inside_of_a_word_is_none() -> None:
    assert parse_query("well-known").words == ("well", "known")


def test_fields_take_values_in_quotes_and_full_width_colons() -> None:
    query = parse_query(
        'topic:"laws of motion" kind：title site:Physics.TEST url:http://a/B lang:DE'
    )
    assert query.topics == ("law", "of", "motion")
    assert query.kind.wanted == ("title",)
    assert query.site.wanted == ("physics.test",)
    assert query.url.wanted == ("http://a/B",)
    assert query.lang.wanted == ("de",)


def test_an_address_is_words_and_no_field() -> None:
    assert parse_query("http://lever.test").words == ("http", "lever", "test")


def test_days_are_inclusive_and_in_utc() -> None:
    query = parse_query("from:2024-01-01 to:2024-12-31")
    assert query.start == datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    assert query.end == datetime(2025, 1, 1, tzinfo=UTC).timestamp()
    assert parse_query("to:9999-12-31").end is None


@pytest.mark.parametrize(
    ("text", "says"),
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


def test_words_inside_of_chinese_words_have_positions_of_their_own() -> None:
    found = [(t.word, t.position, t.inner) for t in tokens("学习天气预报 now")]
    assert found == [
        ("学习", 0, False),
        ("天气预报", 2, False),
        ("天气", 2, True),
        ("预报", 4, True),
        ("now", 6, False),
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [("topic", "laws of motion"), ("site", "h.test"), ("url", "http://h.test/a b"), ("lang", "de")],
)
def test_a_filter_is_understood_as_it_was_meant(field: str, value: str) -> None:
    query = parse_query(as_filter(field, value))
    if field == "topic":
        assert query.topics == parse_query(f'"{value}"').words
    else:
        assert getattr(query, field).wanted == (value,)


def test_quotes_in_a_filter_do_no_harm() -> None:
    assert parse_query(as_filter("topic", 'the "lever”')).topics == ("the", "lever")


def test_kana_are_found_inside_of_longer_runs() -> None:
    text = "東京タワーへありがとうございます"
    assert {token.word for token in tokens("ありがとう")} <= {token.word for token in tokens(text)}
    for token in tokens(text):
        assert len(text[token.start : token.end]) <= 2
    assert [token.word for token in tokens("ﾀﾜｰ")] == [token.word for token in tokens("タワー")]
