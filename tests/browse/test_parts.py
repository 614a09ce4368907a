"""The parts the pages are made of."""

import string

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.archive import Visit
from mmcrawl.browse import (
    LANGUAGES,
    Words,
    address,
    isolated,
    live_address,
    marked,
    months_of,
    plain,
    sentences,
    short,
    words_for,
)
from tests.tables import each

TIMES = st.floats(0, 4e9)


def test_every_sentence_names_the_same_things_in_all_languages() -> None:
    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for name, texts in sentences().items():
        assert len(texts) == len(LANGUAGES)
        assert all(texts)
        named = [fields(text) for text in texts]
        assert named[0] == named[1], name


@each(
    "chosen, accepted, language",
    [("zh", "en", "zh"), ("xx", "zh", "zh"), ("", "de,fr;q=0.9", "en"),
     ("", "en;q=0.5,zh-Hans-CN;q=0.9", "zh"), ("", "zh;q=0, en", "en"),
     ("", "zh;q=x, ;;;,en", "en"), ("", "zh," * 100_000, "zh")],
)  # fmt: skip
def test_the_language_is_the_chosen_one_or_the_best_accepted(chosen, accepted, language):
    assert words_for(chosen, "", accepted).language == language


def test_a_sentence_counts_and_isolates_what_it_names() -> None:
    words = Words("en")
    assert words("pages", n=1) == "1 page"
    assert words("pages", n=12_345) == "12,345 pages"
    assert words("problem.url", url="x\u202ey") == "\u2068x\ufffdy\u2069 is not in the archive."
    assert words("problem.url", url="{n} %s {0.__class__}").startswith("{n} %s {0.__class__} is")


@given(st.text(), st.integers(1, 50))
def test_a_shortened_text_is_short_and_steers_nothing(text: str, longest: int) -> None:
    found = short(text, longest)
    assert len(found) <= longest
    assert plain(found) == found
    found.encode()
    assert isolated(text).count("\u2068") == isolated(text).count("\u2069")


@given(st.text(max_size=60), st.lists(st.integers(0, 60), max_size=8, unique=True))
def test_marks_leave_the_text_as_it_is(text: str, places: list[int]) -> None:
    edges = sorted(min(place, len(text)) for place in places)
    marks = list(zip(edges[::2], edges[1::2], strict=False))
    pieces = marked(text, marks)
    assert "".join(piece for _, piece in pieces) == plain(text)
    assert "".join(p for on, p in pieces if on) == plain("".join(text[a:b] for a, b in marks))


@given(st.text())
def test_no_address_becomes_a_link_that_is_none(url: str) -> None:
    found = live_address(url)
    assert not found or found.lower().startswith(("http://", "https://"))
    assert not set(found) & set('"<> \n\t`\\')


def test_parameters_of_an_address_are_escaped() -> None:
    assert address("/page", url="a&b=c#d", n=1, p=None) == "/page?url=a%26b%3Dc%23d&n=1"
    assert address("/page", url="\ud800") == "/page?url=%3F"


@given(st.lists(st.tuples(TIMES, st.booleans(), st.sampled_from([0, 200, 304, 404, 500]))))
def test_a_calendar_shows_every_version(visits):
    known = sorted(
        (Visit(at, new, n, status) for n, (at, new, status) in enumerate(visits, 1)),
        key=lambda visit: visit.time,
    )
    months = [month for year in months_of(known).values() for month in year]
    assert sum(month.versions for month in months) == sum(visit.changed for visit in known)
    assert sum(month.visits for month in months) == len(known)
    assert all(0 <= month.shade <= 4 for month in months)
