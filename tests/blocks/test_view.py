"""The view of a page's markup in encodings whose bytes are no ASCII."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import codec_name, markup_view
from mmcrawl.errors import BlockError
from tests.tables import each


@each("encoding", ["utf-8", "gb18030", "cp932", "big5hkscs", "cp1252"])
def test_most_encodings_are_read_as_they_are(encoding: str) -> None:
    body = "<p>工作".encode()
    view = markup_view(body, encoding)
    assert view.markup is body
    assert view.unit == 1


@each("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_has_one_byte_for_two(encoding: str) -> None:
    view = markup_view("<p>工作ł<b>".encode(encoding), encoding)
    assert view.unit == 2
    assert view.markup == b"<p>\xff\xff\xff<b>"


def test_utf_16_takes_the_byte_order_from_the_mark() -> None:
    view = markup_view("\ufeff<p>工".encode("utf-16-be"), "utf-16")
    assert view.markup == b"\xff<p>\xff"


def test_characters_whose_halves_look_like_markup_are_masked() -> None:
    view = markup_view("\u3c3e\u3e3c<b>".encode("utf-16-le"), "utf-16-le")
    assert view.markup == b"\xff\xff<b>"


def test_iso_2022_jp_is_masked_between_its_escapes() -> None:
    body = "<p>工作<b>x</b>大地</p>".encode("iso2022_jp")
    view = markup_view(body, "iso2022_jp")
    assert len(view.markup) == len(body)
    plain = view.markup.replace(b"\xff", b"").replace(b"\x1b(B", b"")
    assert plain == b"<p><b>x</b></p>"


def test_hz_is_masked_between_its_escapes() -> None:
    body = "<p>工作<b>x</b>大地</p>".encode("hz")
    view = markup_view(body, "hz")
    assert len(view.markup) == len(body)
    assert view.markup.replace(b"\xff", b"").replace(b"~}", b"") == b"<p><b>x</b></p>"


@each("encoding", ["iso2022_jp", "hz"])
def test_an_escape_that_does_not_end(encoding: str) -> None:
    body = "<p>工作大".encode(encoding)[:-3]
    assert markup_view(body, encoding).markup == b"<p>".ljust(len(body), b"\xff")


@given(st.binary(max_size=300), st.sampled_from(["utf-8", "hz", "iso2022_jp", "iso2022_jp_2"]))
def test_offsets_are_those_of_the_body(body: bytes, encoding: str) -> None:
    markup = markup_view(body, encoding).markup
    assert len(markup) == len(body)
    assert all(seen in (byte, 0xFF) for seen, byte in zip(markup, body, strict=True))


@each(
    "name", ["idna", "punycode", "undefined", "x\0y", "utf-7", "unicode_escape", "cp037", "utf-32"]
)
def test_an_encoding_that_browsers_do_not_know_is_refused(name: str) -> None:
    with pytest.raises(BlockError, match="unknown encoding"):
        codec_name(name, b"<p>a")


def test_a_byte_order_mark_wins_over_the_order_that_is_named() -> None:
    assert codec_name("utf-16-le", "\ufeff<p>a".encode("utf-16-be")) == "utf-16-be"


def test_two_tildes_begin_no_characters_of_two_bytes_in_hz() -> None:
    assert b"<p>" in markup_view(b"~~{<p>a", "hz").markup


def test_half_a_unit_at_the_end_is_left_out() -> None:
    assert markup_view("<p>".encode("utf-16-le") + b"<", "utf-16-le").markup == b"<p>"
