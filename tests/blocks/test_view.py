"""The view of a page's markup in encodings whose bytes are no ASCII."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import codec_name, markup_view
from mmcrawl.errors import BlockError
from tests.tables import each


def test_most_encodings_are_read_as_they_are() -> None:
    body = "<p>工作".encode()
    for encoding in ("utf-8", "gb18030", "cp932", "big5hkscs", "cp1252"):
        view = markup_view(body, encoding)
        assert view.markup is body
        assert view.unit == 1


@each(
    "body, encoding, markup",
    [
        ("<p>工作ł<b>".encode("utf-16-le"), "utf-16-le", b"<p>\xff\xff\xff<b>"),
        ("\ufeff<p>工".encode("utf-16-be"), "utf-16", b"\xff<p>\xff"),
        # halves that look like markup, and half a unit at the end
        ("\u3c3e\u3e3c<b>".encode("utf-16-be"), "utf-16-be", b"\xff\xff<b>"),
        ("<p>".encode("utf-16-le") + b"<", "utf-16-le", b"<p>"),
        ("<p>工<b>".encode("iso2022_jp"), "iso2022_jp", b"<p>" + b"\xff" * 5 + b"\x1b(B<b>"),
        ("<p>工<b>".encode("hz"), "hz", b"<p>" + b"\xff" * 4 + b"~}<b>"),
        (b"~~{<p>a", "hz", b"\xff\xff{<p>a"),
        # an escape that does not end
        ("<p>工作大".encode("iso2022_jp")[:-3], "iso2022_jp", b"<p>" + b"\xff" * 9),
        ("<p>工作大".encode("hz")[:-3], "hz", b"<p>" + b"\xff" * 7),
    ],
)
def test_what_is_no_ascii_is_masked(body: bytes, encoding: str, markup: bytes) -> None:
    assert markup_view(body, encoding).markup == markup


@given(st.binary(max_size=300), st.sampled_from(["utf-8", "hz", "iso2022_jp", "iso2022_jp_2"]))
def test_offsets_are_those_of_the_body(body: bytes, encoding: str) -> None:
    markup = markup_view(body, encoding).markup
    assert len(markup) == len(body)
    assert all(seen in (byte, 0xFF) for seen, byte in zip(markup, body, strict=True))


def test_which_encodings_are_known() -> None:
    for name in "idna punycode undefined x\0y utf-7 unicode_escape cp037 utf-32".split():
        with pytest.raises(BlockError, match="unknown encoding"):
            codec_name(name, b"<p>a")
    # a byte order mark wins over the order that is named
    assert codec_name("utf-16-le", "\ufeff<p>a".encode("utf-16-be")) == "utf-16-be"
