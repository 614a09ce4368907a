"""What `learned` sees of a link: what it shares with others, what it is by itself, its words."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.frontier import KnownLink
from mmcrawl.scoring import (
    BITS,
    FLAGS,
    FOUND,
    OWN,
    WIDTH,
    Inlinks,
    directory_of,
    fit_features,
    link_features,
    link_flags,
)
from tests.programs import run
from tests.tables import each

LIST = "http://h.test/films/index.htm", 7
NO_PAGE = "", 0


def link(url: str, **more: object) -> KnownLink:
    fields = {"content": 0.0, "physical_layer": 2, "parent": 4} | more
    return KnownLink(url, **fields)


def units(one: KnownLink, page: tuple[str, int]) -> dict[str, int]:
    own, inlinks = link_features(one), Inlinks()
    inlinks.page(*page, relevant=False, has_media=False)
    inlinks.register(0)
    found, _, _ = inlinks.of(np.array([0]), own[None])
    return dict(zip((*OWN, *FOUND), [*own[: len(OWN)], *found[0]], strict=True))


def same_units(
    one: KnownLink,
    other: KnownLink,
    from_one: tuple[str, int] = LIST,
    from_other: tuple[str, int] = LIST,
) -> set[str]:
    """Return the units that two links are both of, found on a page each."""
    ours, theirs = units(one, from_one), units(other, from_other)
    return {unit for unit, number in ours.items() if number == theirs[unit]}


def flags(one: KnownLink) -> set[str]:
    bits = link_flags(one)
    assert bits < 1 << len(FLAGS)
    return {name for bit, name in enumerate(FLAGS) if bits >> bit & 1}


ALL = {*OWN, *FOUND}
OF_THE_HOST = ALL - {"anchor", "title"}  # the others name no host
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
        (changed(), set()),
        (changed(content=0.9, physical_layer=7), set()),
        (changed(anchor="LESSON 7"), set()),
        (changed(anchor="Lessons"), {"anchor"}),
        (changed(group_title="Sound"), {"title"}),
        (changed(logical_layer=4), {"clicks"}),
        (changed(tag_path="html body li a"), {"path", "list", "place", "found on, path"}),
        (changed(parent=5), set()),
        (changed(url="http://h.test/films/2006/lesson9.htm"), set()),
        (changed(url="http://h.test/films/2006/lab9.htm"), {"shape"}),
        (changed(url="http://h.test/films/2006/lab-9.htm"), {"shape", "form"}),
        (changed(url="http://h.test/films/2006/lesson12.asp"), {"shape", "form"}),
        (changed(url="http://h.test/films/2007/lesson12.htm"), {"directory", "way"}),
        (
            changed(url="http://h.test/songs/2007/lesson12.htm"),
            {"directory", "way", "above", "shape"},
        ),
        (
            changed(url="http://h.test/lesson12.htm"),
            {"directory", "way", "above", "shape", "form"},
        ),
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
    "page, differing",
    [
        (("http://h.test/films/2.htm", 7), {"page", "list"}),
        (("http://h.test/talks/index.htm", 7), {"page", "list", "place", "way"}),
        (("http://h.test/films/index.htm", 8), {"found on", "found on, path"}),
        (NO_PAGE, {"page", "list", "place", "way", "found on", "found on, path"}),
    ],
)
def test_a_link_shares_with_another_where_it_was_found(page, differing):
    assert ALL - same_units(HERE, HERE, LIST, page) == differing


def test_units_of_different_kinds_are_told_apart():
    alike = link("http://h/h", anchor="h", group_title="h", tag_path="h", parent=None)
    numbers = units(alike, ("http://h/h", 1)).values()
    assert len(set(numbers)) == len(ALL)


def test_the_first_six_pages_that_hold_a_link_are_kept_until_it_is_fetched():
    inlinks, own = Inlinks(), np.stack([link_features(HERE)] * 3)

    def found_on(page: int, *, new: tuple[int, ...] = ()) -> int:
        inlinks.page(f"http://h.test/{page}", 7, relevant=page > 3, has_media=True)
        for number in new:
            inlinks.register(number)
        return inlinks.linked(np.array([0, 1, 2][: 3 if page else 2]))

    assert found_on(0, new=(0, 1)) == 2
    inlinks.fetched(1)
    assert found_on(1, new=(2,)) == 1
    assert [found_on(page) for page in range(2, 9)] == [0] * 7
    units, media, starts = inlinks.of(np.arange(3), own)
    assert starts.tolist() == [0, 6, 7]
    assert media[:, 0].tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1]
    again = inlinks.of(np.array([2, 1]), own[1:])
    assert (again[0] == units[[*range(7, 13), 6]]).all()


@each(
    "one, expected",
    [
        (link("http://h/a.htm"), set()),
        (link("http://h/a.htm", parent=None), {"seed"}),
        (link("http://h/a.htm", anchor="Watch it"), {"media words"}),
        (link("http://h/video/film.htm"), set()),
        (link("http://h/a.htm", anchor="next »"), {"paging"}),
        (link("http://h/list?page=3"), {"numbered"}),
        (link("http://h/blog/page/3/"), {"numbered"}),
        (link("http://page3.test/a.htm"), set()),
        (link("http://h/pages/a.htm"), set()),
        (link("http://h/p2", anchor="2"), {"paging", "numbered"}),
    ],
)
def test_what_a_link_is_by_itself(one, expected):
    assert flags(one) == expected


@each("content", [0.0, 0.06, 0.3, 0.5, 1.0])
def test_how_well_its_words_fit_is_a_feature_of_its_own(content):
    steps = fit_features()
    assert len(steps) == len(set(steps.values()))
    [found] = set(link_features(changed(content=content)).tolist()) & steps.keys()
    assert steps[found] == pytest.approx(content, abs=1 / 16)


def test_features_are_the_same_in_every_process():
    code = (
        "from mmcrawl.frontier import KnownLink\n"
        "from mmcrawl.scoring.link_features import link_features\n"
        "link = KnownLink('http://h.test/a/光.htm?b=1&a=2', 0.5, 2, 1, 3, '光学', 'x', 'p a')\n"
        "print(*link_features(link))"
    )
    runs = [
        run(sys.executable, "-c", code, env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


# Also with surrogates and NUL, which pages may hold.
texts = st.text(st.characters(), max_size=100)
addresses = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from("/ // .. . ? & = # % : @ ; page 3 a.htm 光 \ud800".split())).map(
        "".join
    ),
)


@given(addresses, texts, texts, texts)
def test_any_address_and_anchor_give_a_row_of_features(tail, anchor, title, path):
    one = link(
        "http://h.test/" + tail.replace("[", "").replace("]", ""),
        anchor=anchor,
        group_title=title,
        tag_path=path,
    )
    features = link_features(one)
    assert features.shape == (WIDTH,)
    assert features.dtype == np.uint32
    assert features.max() < 1 << BITS
    count = np.count_nonzero(features)
    assert count >= len(OWN) + 4
    assert features[: len(OWN)].all()
    assert not features[count:].any()
    assert 0 <= link_flags(one) < 1 << len(FLAGS)
