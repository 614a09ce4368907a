"""What holds of the tree of any page, and how long it takes."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from mmcrawl.blocks import HIDDEN, TEXT, VOID, PageTree, read_tree
from tests.growth import assert_linear
from tests.tables import each

# What lxml and a browser make into the same text, in the same order.
SAMPLES = {
    "article": """<!DOCTYPE html><html><head><meta charset=utf-8><title>T</title><style>p{}</style>
<script>document.write("<p>no</p>")</script></head><body class="a>b"><nav><ul><li><a href=/>Home</a>
<li><a href=/x>X</a></ul></nav><main><h1>Levers &amp; pulleys</h1><p>One <b>two <i>three</b> four
</i><p>Five<br>six<!-- no <p> --><blockquote>Seven</blockquote><dl><dt>a<dd>b<dt>c<dd>d</dl></main>
<footer>&copy; 2008</footer></body></html>""",
    "old tables": """<HTML><BODY><CENTER><TABLE><TR><TD><FONT COLOR=red>One<TD>Two
<TR><TD COLSPAN=2><TABLE><TR><TD>Three</TD></TR></TABLE>Four</TABLE></CENTER><P ALIGN=center>Five
<HR><A NAME=x>Six</A><UL><LI>Seven<LI>Eight</UL></BODY></HTML>""",
    "misnested": """<body><div><p>One<div>Two</p>Three</div><b><p>Four</b>Five</p><a href=1>Six
<a href=2>Seven</a></div></span></b>Eight<form><p>Nine</form>Ten<h1>Eleven</h2>Twelve""",
    "quotes": """<p title="a > b" class='c"d' data-x=e"f>One</p><img alt="<p>no</p>" src=x><p
id=y
>Two</p><input value='>'>Three<a href=a?b=1&c=2>Four</a>""",
    "chinese": """<meta charset=utf-8><div>杠杆<p>是一种<b>简单</b>机械。
<table><tr><td>力<td>臂</table>""",
}


def lxml_words(html: str) -> str:
    root = etree.fromstring(html.encode(), etree.HTMLParser(encoding="utf-8"))
    skipped = "script|style|title|textarea|select|option|iframe|template|head"
    texts = root.xpath(
        f"//text()[not({' or '.join(f'ancestor::{t}' for t in skipped.split('|'))})]"
    )
    return re.sub(r"\s", "", "".join(texts))


def tree_words(html: str) -> str:
    tree = read_tree(html.encode())
    hidden = [False] * len(tree)
    for node in range(1, len(tree)):
        hidden[node] = hidden[tree.parents[node]] or tree.tags[node] in HIDDEN
    texts = (tree.raw_text(i) for i in range(len(tree)) if not hidden[i])
    return re.sub(r"\s", "", "".join(texts))


@each("name", SAMPLES)
def test_the_visible_text_is_that_of_lxml(name: str) -> None:
    assert tree_words(SAMPLES[name]) == lxml_words(SAMPLES[name])


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
