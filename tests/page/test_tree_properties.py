"""What holds of the tree of any page, and how long it takes."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import TEXT, VOID, PageTree, read_tree
from tests.growth import assert_linear
from tests.tables import each

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
