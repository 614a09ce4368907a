"""Links of archived pages and style sheets lead into the archive; all else stays as it was."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.archive import Links, rewrite_html
from mmcrawl.browse.replay import (
    Mode,
    archived_url,
    read_stamp,
    replay_address,
    replaying_links,
    stamp,
    written_url,
)
from mmcrawl.page import rewrite_css
from tests.browse import hostile
from tests.tables import each

BASE = "http://h.test/dir/page.html"
AT = "20240517083000"
PLACE = "/replay/"


def links(mode: Mode = Mode.PAGE, encoding: str = "utf-8") -> Links:
    return replaying_links(BASE, encoding, AT, mode, PLACE)


def rewritten(page: str | bytes, mode: Mode = Mode.PAGE, encoding: str = "utf-8") -> str:
    body = page if isinstance(page, bytes) else page.encode(encoding)
    return rewrite_html(body, encoding, links(mode, encoding)).decode(encoding)


def at(url: str) -> str:
    return f"{PLACE}{AT}/{url}"


@each(
    "page, new",
    [
        ("<a href=a.htm>x</a>", f'<a href="{at("http://h.test/dir/a.htm")}">x</a>'),
        ("<A HREF='/b?c=1&amp;d#e'>", f'<A href="{at("http://h.test/b?c=1&amp;d#e")}">'),
        ("<a href=//o.test/>", f'<a href="{at("http://o.test/")}">'),
        ("<img src = \"a b.gif\" alt='>'>",
         f"<img src=\"{at('http://h.test/dir/a%20b.gif')}\" alt='>'>"),
        ("<img srcset='a.gif 1x, b.gif 2x'>",
         f'<img srcset="{at("http://h.test/dir/a.gif")} 1x, {at("http://h.test/dir/b.gif")} 2x">'),
        ("<td background=t.gif>", f'<td background="{at("http://h.test/dir/t.gif")}">'),
        ("<p style='color:red;background:url(t.gif)'>",
         f'<p style="color:red;background:url(&quot;{at("http://h.test/dir/t.gif")}&quot;)">'),
        ("<style>a{b:url(t.gif)}</style>",
         f'<style>a{{b:url("{at("http://h.test/dir/t.gif")}")}}</style>'),
        ("<meta http-equiv=refresh content='5; URL=n.htm'>",
         f'<meta http-equiv=refresh content="5;url={at("http://h.test/dir/n.htm")}">'),
        ("<base href=/other/><a href=a>",
         f'<base href="{at("http://h.test/other/")}"><a href="{at("http://h.test/other/a")}">'),
        ("<param name=movie value=m.swf>",
         f'<param name=movie value="{at("http://h.test/dir/m.swf")}">'),
        ("<param name=quality value=high>", "<param name=quality value=high>"),
        ("<a target=_top href=#x>", '<a target="_self" href=#x>'),
        ("<a href='javascript:x()'>", '<a href="#">'),
        ("<a href='JaVa\nScript:x()'>", '<a href="#">'),
        ("<iframe src='data:text/html,x'>", '<iframe src="about:blank">'),
        ("<a href='mailto:a@h.test'>", "<a href='mailto:a@h.test'>"),
        ("<script>var a='<a href=x>'</script>", "<script>var a='<a href=x>'</script>"),
        ("<!-- <a href=x> --><title><a href=x></title>",
         "<!-- <a href=x> --><title><a href=x></title>"),
        ("<a href='x", "<a href='x"),
        ("<link integrity=i href=s.css rel=stylesheet>",
         f'<link data-archived="" href="{at("http://h.test/dir/s.css")}" rel=stylesheet>'),
    ],
)  # fmt: skip
def test_what_is_written_in_place_of_a_link(page: str, new: str) -> None:
    assert rewritten(page) == new


def test_scripts_stay_only_where_they_may_run() -> None:
    page = "<a href='javascript:x()'>"
    assert rewritten(page, Mode.SCRIPTS) == page
    assert f"{AT}sc_/" in rewritten("<a href=x>", Mode.SCRIPTS)


def test_bytes_that_are_no_links_stay_in_any_encoding() -> None:
    page = "<p title='中文'>中文<a href='中.htm'>文</a>".encode("gb18030") + b"\xff\x80<"
    new = rewrite_html(page, "gb18030", links(encoding="gb18030"))
    address = at("http://h.test/dir/%E4%B8%AD.htm").encode()
    assert new == page.replace("'中.htm'".encode("gb18030"), b'"' + address + b'"')


@each(
    "sheet, new",
    [
        ("@import 'a.css';", f'@import "{at("http://h.test/dir/a.css")}";'),
        ("@import url(a.css) print;", f'@import url("{at("http://h.test/dir/a.css")}") print;'),
        ("a{b:URL( \"c(1).gif\" )}", f'a{{b:url("{at("http://h.test/dir/c(1).gif")}")}}'),
        ("/* url(x) */a{content:'url(x)'}", "/* url(x) */a{content:'url(x)'}"),
        ("a{b:url(d\\65 .gif)}", None),
        ("a{b:url('\\68ttp://o.test/')}", f'a{{b:url("{at("http://o.test/")}")}}'),
    ],
)  # fmt: skip
def test_what_is_written_in_place_of_an_address_of_a_sheet(sheet: str, new: str | None) -> None:
    found = rewrite_css(sheet.encode(), "utf-8", links().embedded).decode()
    assert found == (sheet if new is None else new)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_rewritten(body: bytes) -> None:
    rewrite_html(body, "utf-8", links())
    rewrite_css(body, "gb18030", links().embedded)


PIECES = ["<link", " rel=", "preconnect", '"', "'", " ", "=", ">", "/", "\x0b", "<!--", "-->", "x",
          "<svg>", "<style>", "</style>", " href=http://o.test/", "<iframe", " srcdoc=", "&lt;link",
          " integrity=", "\t", "\x00", "<script>", "</script>", "<title>"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_no_link_that_connects_is_left_however_it_is_written(pieces: list[str]) -> None:
    """Read by the rules of the HTML standard for attributes, from wherever a tag might begin."""
    page = rewritten("".join(pieces))
    for start in re.finditer(r"<link(?=[\t\n\f\r />])", page):
        assert "preconnect" not in first_rel(page, start.end()).split()


def first_rel(page: str, place: int) -> str:
    """Return the value of the first `rel` of a start tag; "" if the tag does not end."""
    blank, found = "\t\n\f\r ", None
    while place < len(page):
        while place < len(page) and page[place] in blank + "/":
            place += 1
        if page[place : place + 1] == ">":
            return found or ""
        begin = place
        place += 1
        while place < len(page) and page[place] not in blank + "/>=":
            place += 1
        name, value = page[begin:place].lower(), ""
        behind = place
        while behind < len(page) and page[behind] in blank:
            behind += 1
        if page[behind : behind + 1] == "=":
            value, place = read_value(page, behind + 1)
        if name == "rel" and found is None:
            found = value
    return ""


def read_value(page: str, place: int) -> tuple[str, int]:
    while place < len(page) and page[place] in "\t\n\f\r ":
        place += 1
    quote = page[place : place + 1]
    if quote in ("'", '"') and quote:
        end = page.find(quote, place + 1)
        return ("", len(page)) if end < 0 else (page[place + 1 : end].lower(), end + 1)
    begin = place
    while place < len(page) and page[place] not in "\t\n\f\r >":
        place += 1
    return page[begin:place].lower(), place


def test_no_frame_and_no_early_connection_leads_out_wherever_it_stands() -> None:
    for name in ("connects", "astray", "frames"):
        page = rewritten(hostile.pages("http://outside.test")[name])
        assert not re.search(r"<i?frame[^>]*src=[\"']?http", page)
        for start in re.finditer("<link(?=[ >])", page):
            assert not {"preconnect", "dns-prefetch"} & set(first_rel(page, start.end()).split())


@each("unit", [b"<link rel=\"", b"<link a ", b"<iframe srcdoc='&lt;iframe ", b"<!--", b"<a href='",
               b"<style>", b"url(", b"a='<link ", b"<link a='b'"])  # fmt: skip
def test_what_is_read_grows_no_faster_than_the_page(unit):
    """Counted in calls, not in seconds."""

    def calls(units: int) -> int:
        called = 0

        def count(*_: object) -> None:
            nonlocal called
            called += 1

        sys.setprofile(count)
        try:
            rewrite_html(unit * units, "utf-8", links())
        finally:
            sys.setprofile(None)
        return called

    assert calls(400) < 3 * calls(200) + 1_000


def test_what_is_written_for_links_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short links of a page with a long address would grow a thousandfold."""
    monkeypatch.setattr("mmcrawl.archive.rewriting.MOST_WRITTEN", 100_000)
    long = replaying_links(f"http://h.test/{'d' * 7_000}/", "utf-8", AT, Mode.PAGE, PLACE)
    page = rewrite_html(b"<a href=x>" * 1_000 + b"<iframe src=http://o.test/>", "utf-8", long)
    assert len(page) < 130_000
    assert page.endswith(b'<iframe src="about:blank">')


@given(
    st.text(
        st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters='#?"<>\\^`{|}')
    )
)
def test_an_address_leads_back_to_its_url(path: str) -> None:
    url = f"http://h.test/{path}?q=%20{path}"
    written, _, query = written_url(url).partition("?")
    assert archived_url(written, query) == url


@given(st.text(min_size=1))
def test_an_address_is_ascii_without_what_ends_a_header_or_an_attribute(text: str) -> None:
    address = replay_address(f"http://h.test/{text}", 0)
    assert re.fullmatch(r"[!$-;=?-\[\]_a-z~]+", address.replace("\\", "!!"))
    assert "\\" not in address


@given(st.floats(allow_nan=False))
def test_a_stamp_is_read_as_the_second_it_was_written_of(time: float) -> None:
    digits = stamp(time)
    assert len(digits) == 14
    assert stamp(read_stamp(digits)) == digits
