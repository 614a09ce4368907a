"""Which addresses in scripts and attributes are of one medium, and what it is called."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.page import described_in, described_media, parse_page
from tests.growth import assert_linear
from tests.tables import each

URL = "http://school.test/lever.html"
FILM = "https://youtu.be/a1b2c3d4e5F"


def found(code: str) -> list[tuple[str, ...]]:
    return [one.addresses for one in described_media(code)]


@each(
    "code, media",
    [
        ('p({sources: [{file: "a.webm"}, {file: "a.mp4"}]})', [("a.webm", "a.mp4")]),
        ('p({playlist: [{file: "a.mp4"}, {file: "b.mp4"}]})', [("a.mp4",), ("b.mp4",)]),
        ('f("a.mp4", "b.mp4")', [("a.mp4",), ("b.mp4",)]),
        ('x = {mp3: "1.mp3", ogg: "2.ogg"}', [("1.mp3", "2.ogg")]),
        ('x = {intro: "1.mp3", song: "2.mp3"}', [("1.mp3",), ("2.mp3",)]),
        ('a = "t.mp3"; b = "t.ogg"', [("t.mp3", "t.ogg")]),
        ('{"720p": "a.mp4", "360p": "b.mp4"}', [("a.mp4", "b.mp4")]),
        ('it\'s; q({"file": "a.mp4"})', [("a.mp4",)]),
        ('})]}; q({"file": "a.mp4"', [("a.mp4",)]),
        ("p({playlist: [{file: 'https://youtu.be/a1b2c3d4e5F'}]})", [(FILM,)]),
        ('{"sources": [{"file": "https:\\/\\/youtu.be\\/a1b2c3d4e5F"}]}', [(FILM,)]),
        ('{"sources": ["https://youtu.be/"], "u": "//h.test/x"}', []),
    ],
)
def test_what_stands_around_addresses_tells_whether_they_are_one_medium(code, media):
    assert found(code) == media


def test_a_title_is_of_the_only_medium_of_its_object():
    one, two = described_media('[{title: "\\u6760\\u6746", file: "a.mp4"}, {file: "b.mp4"}]')
    assert (one.title, two.title) == ("杠杆", "")
    many = described_media('{title: "Portal", list: [{file: "a.mp4"}, {file: "b.mp4"}]}')
    assert {one.title for one in many} == {""}


def test_addresses_that_only_decorate_are_none():
    for name in ("data-poster", "data-bg-video", "data-share-url", "data-thumb"):
        assert list(described_in("div", {name: "https://www.youtube.com/embed/aaaaaaaaaaa"})) == []


@given(st.text(alphabet="{}[]():,;'\"ab.mp43 \\/\n", max_size=300))
def test_any_code_is_read(code):
    assert all(one.addresses for one in described_media(code, hosts=True))


def test_long_code_is_read_in_time_linear_in_its_length():
    for unit in ("[", "{a:", "'a.mp3',", '"', "{x:'a.mp3'},", "(()"):
        assert_linear(
            lambda n, unit=unit: [*described_media(unit * n + "'z.mp3'", hosts=True)], 5_000
        )


def test_a_page_that_is_a_simulation_is_its_own_address():
    html = "<title>Ripple tank simulation</title><canvas></canvas><script src=r.js></script>"
    assert parse_page(html.encode(), URL).media == ()
    known = f"{html}<input type=range>"
    [one] = parse_page(f"<base href='/x/'>{known}".encode(), URL).media
    assert (one.kind, one.url) == ("simulation", URL)
    assert parse_page(known.replace("simulation", "photos").encode(), URL).media == ()


def test_one_medium_of_each_page_is_one_even_if_the_page_shows_and_declares_it():
    declared = '<meta property="og:video" content="a.mp4">'
    [one] = parse_page(f"{declared}<video src=b.mp4></video>".encode(), URL).media
    assert (one.url, one.others) == ("http://school.test/b.mp4", ("http://school.test/a.mp4",))
    two = f"{declared}<video src=b.mp4></video><video src=c.mp4></video>"
    assert len(parse_page(two.encode(), URL).media) == 3
