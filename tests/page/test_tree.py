"""The tree over the bytes of a page, against what browsers make of the same markup."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import ROOT, TEXT, VOID, PageTree, read_tree
from mmcrawl.errors import BlockError
from tests.growth import assert_linear
from tests.tables import each


def shape(html: str | bytes, encoding: str | None = None) -> str:
    """Return the tree as nested brackets: ``p(text b(text))``, texts as they are."""
    tree = read_tree(html if isinstance(html, bytes) else html.encode(), encoding=encoding)
    shapes = [""] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        inside = " ".join(shapes[child] for child in tree.children(node))
        name = tree.text(node) if tree.tags[node] == TEXT else tree.tags[node]
        shapes[node] = f"{name}({inside})" if inside else name
    return shapes[0].removeprefix(ROOT).removeprefix("(").removesuffix(")")


def node_of(tree: PageTree, tag: str) -> int:
    return tree.tags.index(tag)


@each(
    "html, expected",
    [
        # implied ends
        ("<p>a<p>b", "p(a) p(b)"),
        ("<p>a<div>b</div>c", "p(a) div(b) c"),
        ("<p><b>a<p>b", "p(b(a)) p(b)"),
        ("<p>a<table><tr><td>b</table>", "p(a) table(tr(td(b)))"),
        ("<h1>a<h2>b", "h1(a) h2(b)"),
        ("<h1>a</h2>b", "h1(a) b"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "ul(li(a ul(li(b))) li(c))"),
        ("<ul><li><div>a<li>b</ul>", "ul(li(div(a)) li(b))"),
        ("<dl><dt>a<dd>b<dt>c</dl>", "dl(dt(a) dd(b) dt(c))"),
        ("<select><option>a<option>b</select>", "select(option(a) option(b))"),
        ("<table><tr><td>a<td>b<tr><th>c</table>", "table(tr(td(a) td(b)) tr(th(c)))"),
        ("<table><thead><tr><td>a<tbody><tr><td>b</table>",
         "table(thead(tr(td(a))) tbody(tr(td(b))))"),
        ("<table><tr><td><table><tr><td>a<tr><td>b</table><td>c</table>",
         "table(tr(td(table(tr(td(a)) tr(td(b)))) td(c)))"),
        ("<html><head><title>t</title><p>a", "html(head(title) p(a))"),
        ("<head><script>x</script><body>a", "head(script) body(a)"),
        # end tags stay in their scope
        ("<div><table><tr><td>a</div>b</table>c</div>d", "div(table(tr(td(a b))) c) d"),
        ("<p><table><tr><td>a</p>b</table>", "p table(tr(td(a b)))"),
        ("<ul><li><table><tr><td><li>a</table></ul>", "ul(li(table(tr(td(li(a))))))"),
        ("<p><button>a<p>b</button>c", "p(button(a p(b)) c)"),
        ("<div><b>a</div>b</b>c", "div(b(a)) b c"),
        ("<b><div>a</b>b</div>c", "b(div(a b) c)"),
        ("<table><tr><td>a</table>b</td>c", "table(tr(td(a))) b c"),
        ("<ul><li>a<ol></li>b</ol></ul>", "ul(li(a ol(b)))"),
        # misnested links
        ("<a>a<a>b</a>c", "a(a) a(b) c"),
        ("<a><div>a</a>b</div>c", "a(div(a)) b c"),
        ("<a><div>a<a>b</a></div>c", "a(div(a)) a(b) c"),
        ("<a><table><tr><td><a>b</a></table>c</a>d", "a(table(tr(td(a(b)))) c) d"),
        ("<div><a><div>a</a><div>b</div>c</div>d</div>e", "div(a(div(a)) div(b) c d) e"),
        ("<table><tr><td><a><div>a</a><td><div>b</div>c</table><div>d</div>e",
         "table(tr(td(a(div(a))) td(div(b) c))) div(d) e"),
        # raw text, void elements, odd markup
        ("<script>a<p>b</script>c", "script c"),
        ("<script>'</scr'+'ipt>'</script>c", "script c"),
        ("<SCRIPT>a</scripty>b</sCript >c", "script c"),
        ("<script>a", "script"),
        ("<title>a<p>b</title>c", "title c"),
        ("<iframe><p>a</iframe>b", "iframe b"),
        ("<noscript><iframe /></noscript>b", "noscript(iframe) b"),
        ("<xmp><p>a</xmp>b", "xmp b"),
        ("<noscript><p>a</noscript>b", "noscript(p(a)) b"),
        ("a<!-- <p> -->b", "a b"),
        ("a<!--><p>b", "a p(b)"),
        ("a<!-- b --!>c", "a c"),
        ("a<!-- b", "a"),
        ("a<!doctype html>b<?php <p> ?>c", "a b ?>c"),
        ("a</>b", "a b"),
        ("a < b <3 c", "a < b <3 c"),
        ("<br/>a<br>b</br>c", "br a br b c"),
        ("<div/>a</div>b", "div(a) b"),
        ("<img src=a>b</img>c", "img b c"),
    ],
)  # fmt: skip
def test_the_tree_of_markup(html: str, expected: str) -> None:
    assert shape(html) == expected


@each(
    "markup, attributes",
    [
        ("<p id=a CLASS='b c' title=\"d > e\">", {"id": "a", "class": "b c", "title": "d > e"}),
        ("<p id=a id=b ID=c>", {"id": "a"}),
        ("<p hidden data-x = y>", {"hidden": "", "data-x": "y"}),
        ("<p a=1/>", {"a": "1/"}),
        ("<p/a/b=2>", {"a": "", "b": "2"}),
        ("<p a=&quot;&eacute; b='&#x4e2d;'>", {"a": '"é', "b": "中"}),
        ("<p a='?x&region=1&copy=2&reg' b='&notit;&amp;c'>",
         {"a": "?x&region=1&copy=2®", "b": "&notit;&c"}),
        ("<p a=it's b=o\"k>", {"a": "it's", "b": 'o"k'}),
        ("<p\n\ta\n=\n'b\nc'>", {"a": "b\nc"}),
        ("<p a='b", {"a": "b"}),
        ("<p:杠杆 a=杆 b='力'>", {"a": "杆", "b": "力"}),
        ("<p a=", {"a": ""}),
    ],
)  # fmt: skip
def test_attributes(markup: str, attributes: dict[str, str]) -> None:
    tree = read_tree(markup.encode())
    assert dict(tree.attributes(1)) == attributes
    assert tree.attributes(0) == {}


def test_a_quote_that_is_no_value_does_not_hide_the_end() -> None:
    assert shape("<p title=a\">b</p><p '>c") == "p(b) p(c)"
    assert shape('<p title=a=">b</p>c">') == 'p(b) c">'


@each("encoding", ["utf-8", "utf-16-le"])
def test_elements_that_may_have_an_attribute_are_found_without_reading_any(encoding: str) -> None:
    html = "<p STYLE=a>style<!-- style --><b>style</b><i data-style></i><script>style</script>"
    tree = read_tree(html.encode(encoding), encoding=encoding)
    assert [tree.tags[node] for node in tree.mentioning(b"style")] == ["p", "i"]


HTML = "<!doctype html>\n<body id=b>\n<p>a<b>c</b>\n<p>d<img src=e></body>\n"


def test_offsets_of_elements_and_text_and_of_content() -> None:
    tree = read_tree(HTML.encode())
    found = [(tree.tags[i], HTML[tree.starts[i] : tree.ends[i]]) for i in range(1, 8)]
    assert found == [
        ("body", "<body id=b>\n<p>a<b>c</b>\n<p>d<img src=e></body>\n"),
        ("p", "<p>a<b>c</b>\n"),
        (TEXT, "a"),
        ("b", "<b>c</b>"),
        (TEXT, "c"),
        ("p", "<p>d<img src=e></body>\n"),
        (TEXT, "d"),
    ]
    html = b"<div id=x><p>a</p><script>if (a<b) c</script></div>"
    tree = read_tree(html)
    div, script = node_of(tree, "div"), node_of(tree, "script")
    assert html[tree.inner_starts[div] : tree.inner_ends[div]] == html[10:-6]
    assert tree.raw_content(script) == "if (a<b) c"


@each("encoding", ["utf-16-le", "utf-16-be"])
def test_offsets_in_utf_16(encoding: str) -> None:
    body = ("\ufeff" + HTML.replace("a", "杠杆")).encode(encoding)
    tree = read_tree(body)
    assert shape(body) == "body(p(杠杆 b(c)) p(d img))"
    p = node_of(tree, "p")
    assert body[tree.starts[p] : tree.ends[p]].decode(encoding) == "<p>杠杆<b>c</b>\n"
    assert tree.ends[0] == len(body)
    assert dict(tree.attributes(node_of(tree, "img"))) == {"src": "e"}


@each(
    "name, codec",
    [
        *((name, name) for name in ("iso2022_jp", "hz", "gb18030", "cp932", "utf-8")),
        ("big5", "big5hkscs"),
        ("UTF-16LE", "utf-16-le"),
        ("utf16", "utf-16-le"),
        ("U8", "utf-8"),
        ("ISO-2022-JP", "iso2022_jp"),
    ],
)
def test_encodings_by_any_of_their_names(name: str, codec: str) -> None:
    body = "<p title=工>工作<b>大地</b>日</p>".encode(codec)
    assert shape(body, name) == "p(工作 b(大地) 日)"
    tree = read_tree(body, encoding=name)
    assert tree.encoding == codec
    assert dict(tree.attributes(1)) == {"title": "工"}


@each("name", ["nonsense", "hex", "rot13"])
def test_no_codec_of_text(name: str) -> None:
    with pytest.raises(BlockError, match=f"unknown encoding '{name}'"):
        read_tree(b"<p>a", encoding=name)


def test_white_space_and_entities_of_text() -> None:
    tree = read_tree(b"<p> a \n\t b&amp;c &copy; &#20013; </p>")
    assert (tree.text(2), tree.text(1)) == ("a b&c © 中", "")
    assert shape("<p> \r\n\t </p> \x0c ") == "p"  # white space alone is no node


def test_nul_and_byte_order_marks_are_no_text() -> None:
    assert shape(b"\xef\xbb\xbf<p>a\x00b") == "p(ab)"
    assert shape("\ufeff<p>a\ufeffb<p>\0\0</p>".encode("utf-16-be")) == "p(ab) p"
    tree = read_tree(b"<b>a</b>\0 \0<b>b</b>\0<b>c</b>")
    texts = [node for node, tag in enumerate(tree.tags) if tag == TEXT]
    assert [bool(tree.spaced[node]) for node in texts] == [False, True, False]


def test_a_broken_character_or_a_nul_spoils_no_other_run() -> None:
    tree = read_tree(b"<b>a\x81\x30</b><b>\x00b</b><b>c &amp</b><b>d;</b>", encoding="gb18030")
    texts = list(tree.texts)
    assert texts[0].startswith("a\ufffd")
    assert texts[1:] == ["b", "c &", "d;"]


def test_paths() -> None:
    tree = read_tree(b"<html><body><p>a<p>b<i>c</i>d</body></html>")
    assert [tree.path(i).removeprefix("html/body") for i in range(2, len(tree))] == [
        "", "/p", "/p/text()", "/p[2]", "/p[2]/text()", "/p[2]/i", "/p[2]/i/text()",
        "/p[2]/text()[2]",
    ]  # fmt: skip
    assert (tree.path(0), tree.path(1)) == ("", "html")
    deep = read_tree(b"<div>" * 2_000 + b"x")  # a path has a hundred steps
    assert deep.path(100) == "/".join(["div"] * 100)
    assert deep.path(101) == "/".join(["…"] + ["div"] * 100)
    assert sum(len(deep.path(node)) for node in range(len(deep))) < 500 * len(deep)


TAGS = ("div", "p", "b", "a", "table", "tr", "td", "ul", "li", "h1", "my-x")
soup = st.lists(
    st.sampled_from(
        [
            *(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS), "<br>", "<select>",
            "<script>", "</script>", "<!--", "-->", "<p id='", "'", '"', ">", "<", "x", "工", " ",
            "\x00", "&amp;", "<option>", "<head>", "<body>", "<html>", "</body>",
        ]
    ),
    max_size=80,
).map("".join)  # fmt: skip


def assert_sound(tree: PageTree) -> None:
    count, body = len(tree), tree.body
    assert (tree.starts[0], tree.ends[0], tree.after[0]) == (0, len(body), count)
    for node in range(1, count):
        parent = tree.parents[node]
        assert 0 <= parent < node < tree.after[node] <= tree.after[parent]
        assert tree.starts[node] <= tree.inner_starts[node] <= tree.inner_ends[node]
        assert tree.inner_ends[node] <= tree.ends[node]
        assert tree.starts[node] < tree.ends[node]
        assert tree.inner_starts[parent] <= tree.starts[node]
        assert tree.ends[node] <= tree.inner_ends[parent]
        if tree.tags[node] in VOID or tree.tags[node] == TEXT:
            assert tree.after[node] == node + 1
    for node in range(count):
        for before, behind in pairwise(tree.children(node)):
            assert tree.ends[before] <= tree.starts[behind]


@given(soup, st.sampled_from(["utf-8", "gb18030", "utf-16-le"]))
def test_ranges_nest_and_begin_with_their_tag(html: str, encoding: str) -> None:
    body = html.encode(encoding)
    tree = read_tree(body, encoding=encoding)
    assert_sound(tree)
    assert_sound(read_tree(body[1:]))
    for node in range(1, len(tree)):
        start = body[tree.starts[node] : tree.ends[node]].decode(encoding, "replace").lower()
        if tree.tags[node] == TEXT:
            assert tree.raw_text(node) or "\x00" in start
        else:
            name = re.match("[!-~]*", tree.tags[node])  # what is no ASCII is written otherwise
            assert start.startswith("<" + name[0])
        end = body[tree.inner_ends[node] : tree.ends[node]].decode(encoding, "replace")
        assert end == "" or end.startswith("</")


@each(
    "piece",
    ["<a><div>", "<li>", "<!--", "<p a='", "<title></titl", "<ul><li></ol>", "&", "<p><a><h2></a>"],
)
def test_time_is_proportional_to_the_page(piece: str) -> None:
    assert_linear(lambda size: read_tree((piece * size).encode()), 3_000)
