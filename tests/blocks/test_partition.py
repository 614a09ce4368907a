"""What holds of every partition, whatever the method and whatever the bytes."""

from importlib import import_module
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmcrawl.archive import Capture, open_archive
from mmcrawl.blocks import (
    Partition,
    TopicRules,
    partition,
    partitioner_names,
)
from mmcrawl.blocks.partitioners import MAX_LEVEL, Cut, Method, make_method, make_partitioner
from mmcrawl.errors import BlockError
from tests.tables import each

METHODS = partitioner_names()

ARTICLE = (
    "<!DOCTYPE html>\n<html><head><meta charset=utf-8><title>Simple machines — 简单机械</title>\n"
    "<style>p { color: red }</style><script>if (1 < 2) document.write('<p>no</p>')</script>"
    "</head>\n"
    '<body class="a > b"><header><nav><ul><li><a href="/1">Levers</a><li><a href="/2">Wheels</a>'
    "</ul></nav></header>\n<main><article><h1>The lever</h1><p>A lever is a beam on a pivot.\n"
    "<p>杠杆是一种简单机械。<img src=lever.png width=200 height=100><table><tr><td>Force<td>Arm"
    "<tr><td>1 N<td>2 m</table><form><input name=q><select><option>a<option>b</select></form>"
    "<!-- an advertisement <div> --><p>It is a simple machine.</article></main>\n"
    "<aside><div><div>Related</div><a href=/3>Pulleys</a><a href=/4>Screws</a></div></aside>"
    "<noscript><img src=/count.gif></noscript><footer>&copy; 2008 &mdash; Machines</footer></body>"
    "</html>\n"
)
OLD_PAGE = (
    "<HTML><BODY BGCOLOR=#FFFFFF><CENTER><TABLE WIDTH=760 BORDER=0><TR><TD COLSPAN=3><FONT SIZE=5>"
    "Machines</FONT><TR><TD WIDTH=20% BGCOLOR=#EEEEFF><DIV><A HREF=1.htm>One</A></DIV><DIV><A "
    "HREF=2.htm>Two</A></DIV><TD><P>Text of the page<BR>goes on<P>and on<HR><B><I>wrong</B></I>"
    "<TD><IMG SRC=a.gif><IMG SRC=b.gif></TABLE></CENTER></BODY>"
)
PAGES = [page.encode() for page in (ARTICLE, OLD_PAGE)]
TAGS = sorted(frozenset("html head body div p ul li table tr td a b form section main".split()))
MARKUP = [
    *(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS),
    "<script>", "</script>", "<style>", "<title>", "</title>", "<textarea>", "<!--", "-->",
    "<noscript>", "</noscript>", "<select><option>", "<frameset>", "<frame src=a>", "<br/>", "<hr>",
    "<img src=a width=1 height=1>", "<a href='", "<div class=\"a", '">', "<![CDATA[", "<?xml ", "<",
    ">", "&amp;", "&#x0;", "lever ", "简单机械。", "\n", "\x00", "<h1>", "<td bgcolor=red>", "</",
]  # fmt: skip

soups = st.lists(st.sampled_from(MARKUP), max_size=60).map("".join)


@st.composite
def mutated_pages(draw: st.DrawFn) -> bytes:
    """A page with some ranges of its bytes taken out, doubled, or overwritten."""
    body = draw(st.sampled_from(PAGES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(body)))
        end = min(len(body), start + draw(st.integers(0, 200)))
        put = draw(
            st.one_of(
                st.just(b""),
                st.just(body[start:end] * 2),
                st.binary(max_size=8),
                st.sampled_from(MARKUP).map(str.encode),
            )
        )
        body = body[:start] + put + body[end:]
    return body


bodies = st.one_of(
    mutated_pages(),
    st.binary(max_size=200),
    st.builds(str.encode, soups, st.sampled_from(["utf-8", "gb18030", "utf-16", "utf-16-le"])),
)


def check(page: Partition, body: bytes) -> None:
    """Assert what every partition promises."""
    assert page.body == body
    assert page.splice() == body
    assert len(page.layout) == len(page.blocks) + 1
    assert all(block.content == body[block.start : block.end] for block in page.blocks)
    assert all(0 <= block.start < block.end <= len(body) for block in page)
    assert all(before.end <= behind.start for before, behind in pairwise(page.blocks))
    assert all(before.end <= behind.start for before, behind in pairwise(page.roots))
    for block in page:
        assert 1 <= block.level <= page.level
        for child in block.children:
            assert child.level == block.level + 1
            assert block.start <= child.start < child.end <= block.end
        assert all(before.end <= behind.start for before, behind in pairwise(block.children))
        assert 0 <= block.node < len(page.tree)
        assert isinstance(block.path, str)
        assert isinstance(block.text, str)


@pytest.mark.parametrize("method", METHODS)
@example(body=b"", level=1, encoding=None)
@example(body=PAGES[0], level=3, encoding=None)
@example(body=PAGES[1], level=3, encoding=None)
@given(
    body=bodies,
    level=st.integers(1, 5),
    encoding=st.sampled_from([None, "ascii", "gb18030", "utf-16-be", "utf-16", "iso2022_jp", "hz"]),
)
def test_layout_and_blocks_are_the_page(method, body, level, encoding):
    check(partition(body, method=method, level=level, encoding=encoding), body)


@each("method", METHODS)
@each(
    "body",
    [
        b"\xfe\xff\x00",
        b"<" * 5000,
        b"<p 'x" * 3000,
        b"<!--" * 3000,
        b"<p>lever<script>var never = '<p>closed",
        b"<p>le\x00ver <b>x</b>\x00</p><di\x00v>x</div>\x00",
        b"<body><plaintext><p>lever <b>x</b>",
        b"</div></p></table>lever</body></html>pulley<p>x",
        b"<table>" * 300 + b"x",
    ],
)
def test_bad_input(method: str, body: bytes) -> None:
    check(partition(body, method=method, level=3), body)


@each("method", METHODS)
@each("encoding", ["big5", "euc_jp", "iso2022_jp", "hz", "koi8-r"])
def test_a_declared_encoding(method: str, encoding: str) -> None:
    words = "Рычаг простой" if encoding == "koi8-r" else "工作日大地"
    label = {"hz": "hz-gb-2312", "iso2022_jp": "iso-2022-jp"}.get(encoding, encoding)
    html = f"<meta charset={label}><body><h1>{words}</h1><p>{words} <b>{words}</b></p></body>"
    page = partition(html.encode(encoding), method=method, encoding=encoding)
    check(page, html.encode(encoding))
    assert words in " ".join(block.text for block in page.blocks)


@each("method", METHODS)
@each("encoding", ["utf-16-le", "utf-16-be", "utf-16", "gb18030"])
def test_blocks_are_the_same_in_any_encoding(method: str, encoding: str) -> None:
    html = ARTICLE.replace("<meta charset=utf-8>", "")  # of GB 18030 nothing is declared
    given = encoding if encoding.endswith("e") else None
    page = partition(html.encode(encoding), method=method, encoding=given)
    check(page, html.encode(encoding))
    plain = partition(html.encode(), method=method)
    assert [(b.path, b.text) for b in page] == [(b.path, b.text) for b in plain]
    text = " ".join(block.text for block in page.blocks)
    assert "A lever is a beam on a pivot." in text
    assert "杠杆是一种简单机械。" in text
    assert "document.write" not in text


@each("method", METHODS)
def test_options_and_levels_that_do_not_exist(method: str) -> None:
    with pytest.raises(BlockError, match=f"partitioner {method} has no option 'colour'"):
        partition(b"<p>lever", method=method, colour="red")
    with pytest.raises(ValueError, match="level must be at least 1"):
        partition(b"<p>lever", method=method, level=0)
    assert partition(b"<p>lever", method=method, level=MAX_LEVEL).level == MAX_LEVEL
    with pytest.raises(BlockError, match="level must be at most 50, not 51"):
        partition(b"<p>lever", method=method, level=MAX_LEVEL + 1)


def test_a_method_that_does_not_exist() -> None:
    with pytest.raises(BlockError, match="unknown partitioner 'vips'; there are bwap, "):
        partition(b"<p>lever", method="vips")


@each("options", [{"max_depth": None}, {"max_depth": []}, {"min_size": None}])
def test_an_option_with_a_value_of_the_wrong_type(options: dict[str, Any]) -> None:
    with pytest.raises(BlockError, match="partitioner bwap: "):
        partition(b"<p>lever", **options)


LEVERS = b"<p>lever</p><p>pulley</p>"


def other(monkeypatch: pytest.MonkeyPatch, cuts: list[Cut]) -> None:
    """Let the partitioner `other` return these cuts."""
    module = import_module("mmcrawl.blocks.partition")  # the function has its name
    method = Method(lambda tree, level: cuts, TopicRules(), "learnt")
    monkeypatch.setattr(module, "make_method", lambda name: method)


@each(
    "cuts",
    [
        [Cut(1, 12, 25), Cut(1, 0, 12)],  # not in order
        [Cut(1, 0, 13), Cut(1, 12, 25)],  # overlapping
        [Cut(1, 3, 3)],  # empty
        [Cut(1, -1, 3)],  # before the page
        [Cut(1, 0, 26)],  # behind the page
        [Cut(5, 0, 25)],  # no such node
        [Cut(-1, 0, 25)],
        [Cut(1, 0, 12, (Cut(1, 0, 13),))],  # a child outside
        [Cut(1, 0, 12, (Cut(1, 0, 7), Cut(1, 6, 12)))],  # overlapping children
        [Cut(1, 0, 12, (Cut(1, 0, 9, (Cut(1, 0, 8, (Cut(1, 0, 7),)),)),))],  # too deep
    ],
)
def test_what_another_package_cuts_is_checked(cuts, monkeypatch):
    other(monkeypatch, cuts)
    with pytest.raises(BlockError, match="partitioner other: "):
        partition(LEVERS, method="other")


def test_another_package_may_cut_in_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    other(monkeypatch, [Cut(1, 0, 12, (Cut(2, 3, 5), Cut(2, 5, 8))), Cut(3, 12, 25)])
    check(partition(LEVERS, method="other"), LEVERS)


PAGE = b"<body><div><h1>Levers</h1><b>2010-08-01</b><p>A lever moves the world.</p></div></body>"


def test_a_pattern_may_hold_what_parts_options():
    page = b"<body><div>2010; x</div><div>A lever moves the world.</div></body>"
    method = r"quark:custom_text=\d{4}; x;min_text=50"
    assert next(block.text for block in partition(page, method=method).blocks) == "2010; x"
    assert make_partitioner(method).min_text == 50


@each(
    "method, named",
    [
        ("bwap:min_size", "min_size"),
        ("bwap:min_size=x", "min_size"),
        ("bwap:least=1", "least"),
        ("bwap:theta=0", "theta"),
        ("bwap:distinct=perhaps", "distinct"),
        ("sieve:theta=3", "sieve"),
    ],
)
def test_what_is_wrong_with_a_method_is_named(method: str, named: str):
    with pytest.raises(BlockError, match=named):
        make_method(method)


def test_an_archive_cuts_a_page_again_as_it_was_told(tmp_path):
    method = "quark:custom_tags=h1 b;theta=2"
    with open_archive(f"sqlite:///{tmp_path}/a.db") as archive:
        headers = (("Content-Type", "text/html"),)
        archive.store_many([Capture("http://h.test/", PAGE, 1.0, headers=headers)], method=method)
        version = archive.version("http://h.test/", 1)
        assert version.method == method
        topics = [block.topic for block in archive.blocks_of(version)]
        with pytest.raises(BlockError, match="sieve"):
            archive.store_many([], method="sieve")
    assert topics == ["Levers", "2010 08", "lever moves"]
