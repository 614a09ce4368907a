"""Elements that a CSS selector matches, as bytes of the page."""

import pytest

from mmcrawl.blocks import LONGEST_SELECTOR, ElementSelector, read_tree
from mmcrawl.errors import SearchError
from tests.tables import each


def matched(css: str, body: bytes, encoding: str | None = None) -> list[bytes]:
    ranges = ElementSelector(css).ranges(read_tree(body, encoding=encoding))
    return [body[start:end] for start, end in ranges]


PAGE = (
    b"<title>t</title><DIV Class='news big' id=top><p>one<p lang=en-GB>two</div>"
    b"<table><tr><td>three</table><p>four"
)


@each(
    "css, found",
    [
        ("p", [b"<p>one", b"<p lang=en-GB>two", b"<p>four"]),
        ("div.news > p:first-child", [b"<p>one"]),
        ("#top p[lang|=en], td", [b"<p lang=en-GB>two", b"<td>three"]),
        ("table tr:nth-of-type(1) td", [b"<td>three"]),
        ("p:contains('fo')", [b"<p>four"]),
        ("DIV + table", [b"<table><tr><td>three</table>"]),
        ("aside", []),
    ],
)
def test_an_element_is_the_bytes_it_stands_on(css: str, found: list[bytes]) -> None:
    assert matched(css, PAGE) == found


@each(
    "body",
    [
        b"<o:p a:b=1 =2 1x=3 \"=''><p>in</p></o:p>",
        b"<p title='\x01\x0b'>\x00\x02</p>",
        b"<?x y?><!-- -- --><p \xff=\xfe>\xff</p>",
        b"<div>" * 20_000 + b"<p>deep</p>",
    ],
)
def test_what_xml_cannot_hold_is_matched_as_well(body: bytes) -> None:
    [found] = matched("p", body)
    assert found.startswith(b"<p")


@each("css", ["", "[", "p >", "p::text", "p::attr(id)", "x|p", "p" * (LONGEST_SELECTOR + 1)])
def test_what_is_no_selector_is_refused(css: str) -> None:
    with pytest.raises(SearchError):
        ElementSelector(css)


def test_every_encoding_is_matched_by_its_characters() -> None:
    body = "<p class=光>折射<p class=x>y".encode("utf-16-le")
    assert matched(".光", body, "utf-16-le") == ["<p class=光>折射".encode("utf-16-le")]
