"""What `learned` sees of a link: what it shares with others, what it is by itself, its words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.frontier import KnownLink
from mmcrawl.scoring import (
    BITS,
    FLAGS,
    UNITS,
    WIDTH,
    Origin,
    directory_of,
    fit_features,
    link_features,
    link_flags,
)
from tests.tables import each

LIST = Origin("http://h.test/films/index.htm", "7")


def link(url: str, **more: object) -> KnownLink:
    fields = {"content": 0.0, "physical_layer": 2, "parent": 4} | more
    return KnownLink(url, **fields)


def same_units(
    one: KnownLink, other: KnownLink, from_one: Origin = LIST, from_other: Origin = LIST
) -> set[str]:
    """Return the units that two links are both of."""
    rows = link_features(one, from_one), link_features(other, from_other)
    return {unit for unit, a, b in zip(UNITS, *rows, strict=False) if a == b}


def flags(one: KnownLink, origin: Origin = LIST) -> set[str]:
    bits = link_flags(one, origin)
    assert bits < 1 << len(FLAGS)
    return {name for bit, name in enumerate(FLAGS) if bits >> bit & 1}


ALL = set(UNITS)
OF_THE_HOST = ALL - {"page", "list", "anchor", "title"}  # the others name no host
PLACE = "html body div.post a"
HERE = link(
    "http://h.test/films/2006/lesson12.htm",
    anchor="Lesson 12",
    group_title="Optics",
    tag_path=PLACE,
    logical_layer=3,
)


def changed(**what: object) -> KnownLink:
    fields = {name: getattr(HERE, name) for name in HERE.__slots__} | what
    return KnownLink(**fields)


@each(
    "other, differing",
    [
        (changed(content=0.9, physical_layer=7, parent=5, anchor="LESSON 7"), set()),
        (changed(anchor="Lessons"), {"anchor"}),
        (changed(group_title="Sound"), {"title"}),
        (changed(logical_layer=4), {"clicks"}),
        (changed(tag_path="html body li a"), {"path", "list", "place", "found on, path"}),
        (changed(url="http://h.test/films/2006/lesson9.htm"), set()),
        (changed(url="http://h.test/films/2006/lab9.htm"), {"shape"}),
        (changed(url="http://h.test/films/2006/lesson12.asp"), {"shape", "form"}),
        (changed(url="http://h.test/films/2007/lesson12.htm"), {"directory", "way"}),
        (changed(url="http://h.test/lesson12.htm"), {"directory", "way", "above", "shape", "form"}),
        (changed(url="http://i.test/films/2006/lesson12.htm"), OF_THE_HOST),
    ],
)
def test_a_link_shares_with_another_what_they_have_in_common(other, differing):
    assert ALL - same_units(HERE, other) == differing


def test_what_one_script_makes_is_alike_by_the_names_of_its_values():
    def script(query: str) -> KnownLink:
        return changed(url=f"http://h.test/show.asp?{query}")

    assert same_units(script("id=3&page=2"), script("page=7&id=45")) == ALL
    assert ALL - same_units(script("id=3"), script("cat=3")) == {"shape", "form"}
    assert "directory" not in same_units(
        script("id=3"), changed(url="http://h.test/other.asp?id=3")
    )
    assert directory_of("http://h/a/show.asp?u=/b/c") == "http://h/a/show.asp"


@each(
    "origin, differing",
    [
        (Origin("http://h.test/films/2.htm", "7"), {"page", "list"}),
        (Origin("http://h.test/films/index.htm", "7", relevant=True, has_media=True), set()),
        (Origin("http://h.test/talks/index.htm", "7"), {"page", "list", "place", "way"}),
        (Origin("http://h.test/films/index.htm", "8"), {"found on", "found on, path"}),
        (Origin(), {"page", "list", "place", "way", "found on", "found on, path"}),
    ],
)
def test_a_link_shares_with_another_where_it_was_found(origin, differing):
    assert ALL - same_units(HERE, HERE, LIST, origin) == differing


@each(
    "one, origin, expected",
    [
        (link("http://h/a.htm", parent=None), Origin(), {"seed"}),
        (link("http://h/a.htm", anchor="Watch it"), Origin(), {"media words"}),
        (link("http://h/video/film.htm"), Origin(), set()),
        (link("http://h/a.htm", anchor="next »"), Origin(), {"paging"}),
        (link("http://h/list?page=3"), Origin(), {"numbered"}),
        (link("http://h/blog/page/3/"), Origin(), {"numbered", "deeper directory"}),
        (link("http://h/tag/film/index.html"), Origin(), {"deeper directory"}),
        (link("http://h/films/"), Origin(), set()),
        (link("http://page3.test/tag/film?in=a/b/"), Origin(), set()),
        (link("http://h/pages/a.htm"), Origin(), set()),
        (link("http://h/a"), Origin(relevant=True, has_media=True), set(FLAGS[4:6])),
        (link("http://h/a"), Origin(has_media=True), {"beside a media page"}),
        (link("http://h/p2", anchor="2"), Origin(), {"paging", "numbered"}),
    ],
)
def test_what_a_link_is_by_itself(one, origin, expected):
    assert flags(one, origin) == expected


@each("content", [0.0, 0.3, 1.0])
def test_how_well_its_words_fit_is_a_feature_of_its_own(content):
    steps = fit_features()
    assert len(steps) == len(set(steps.values()))
    [found] = set(link_features(changed(content=content), LIST).tolist()) & steps.keys()
    assert steps[found] == pytest.approx(content, abs=1 / 16)


def test_features_are_the_same_in_every_process():
    """Whatever its PYTHONHASHSEED: models that are kept know features by their numbers."""
    sum_of_numbers = 12_209_480  # in the process that this was written in
    one = KnownLink("http://h.test/a/光.htm?b=1&a=2", 0.5, 2, 1, 3, "光学", "x", "p a")
    features = link_features(one, Origin("http://h.test/", "7"))
    assert features.sum() == sum_of_numbers


# Also with surrogates and NUL, which pages may hold.
texts = st.text(st.characters(), max_size=100)
addresses = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from("/ // .. . ? & = # % : @ ; page 3 a.htm 光 \ud800".split())).map(
        "".join
    ),
)


@given(addresses, texts, texts, texts, texts)
def test_any_address_and_anchor_give_a_row_of_features(tail, anchor, title, path, outcome):
    one = link(
        "http://h.test/" + tail.replace("[", "").replace("]", ""),
        anchor=anchor,
        group_title=title,
        tag_path=path,
    )
    origin = Origin("http://h.test/" + outcome.replace("[", "").replace("]", ""), outcome)
    features = link_features(one, origin)
    assert features.shape == (WIDTH,)
    assert features.dtype == np.uint32
    assert features.max() < 1 << BITS
    count = np.count_nonzero(features)
    assert count >= len(UNITS) + 4
    assert features[: len(UNITS)].all()
    assert not features[count:].any()
    assert 0 <= link_flags(one, origin) < 1 << len(FLAGS)
