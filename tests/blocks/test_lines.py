"""What a reader sees: characters and lines of a page, the text of blocks and of links."""

from mmcrawl.blocks import Block, Cut, PageBlocks, Partition, partition, read_tree
from mmcrawl.blocks.layout import (
    LONGEST_LINK_TEXT,
    Measures,
    PageFeatures,
    PageLines,
    PageText,
    shown_nodes,
)
from tests.growth import assert_linear
from tests.tables import each


def lines_of(html: str) -> PageLines:
    tree = read_tree(html.encode())
    return PageLines.of(tree, Measures(tree))


def whole(html: str) -> Block:
    """Return a page as one block."""
    tree = read_tree(html.encode())
    (block,) = Partition(tree, [Cut(0, 0, len(tree.body))], method="whole", level=1)
    return block


def text_of_link(html: str) -> str:
    tree = read_tree(html.encode())
    return PageText(tree, Measures(tree)).of_link(tree.tags.index("a"), len(tree))


JOINED = [
    ("<b>H</b>ello", "Hello"),
    ("<b>a</b> <b>b</b>", "a b"),
    ("<b>a </b>b", "a b"),
    ("a<i> b</i>", "a b"),
    ("<b>a</b>&nbsp;<b>b</b>", "a b"),
    ("a<!-- no word ends here -->b", "ab"),
    ("a<script>c()</script>b", "ab"),
    ("杠<font color=red>杆</font>原理", "杠杆原理"),
    ("  a \n\t b ", "a b"),
]
CONTROLS = [
    ("<a href=1>Politik</a><a href=2>Wirtschaft</a>", "Politik Wirtschaft"),
    ("<i><a href=1>a</a></i><span><a href=2><b>b</b></a></span>", "a b"),
    ("<button>a</button><button>b</button>", "a b"),
    ("<a href=1>lever</a>s", "levers"),
    ("<a href=1>Wirt</a>,<a href=2>Gast</a>", "Wirt,Gast"),
]
PARTED = [
    ("a<br>b", ["a", "b"]),
    ("<p>a<p>b", ["a", "b"]),
    ("<div>a<div>b</div>c</div>", ["a", "b", "c"]),
    ("<span><div>a</div></span>b", ["a", "b"]),
    ("a<hr>b", ["a", "b"]),
    ("a<div></div>b", ["a", "b"]),
    ("<ul><li>a<li>b</ul>c", ["a", "b", "c"]),
    ("<table><tr><td>a<td>b<tr><td>c</table>", ["a", "b", "c"]),
    *((f"<p>a</p><{tag}>b</{tag}><p>c", ["a", "c"]) for tag in ("style", "textarea", "svg")),
]


@each("html, text", JOINED + CONTROLS)
def test_inline_elements_do_not_part_words(html: str, text: str) -> None:
    assert list(lines_of(html).texts) == [text]
    if "href" not in html:
        block = whole(f"<p><a href=x>{html}</a>")
        assert block.text == text
        assert [link.text for link in block.links] == [text]
        assert text_of_link(f"<div><a href=1>{html}</a>behind") == text


@each("html, texts", PARTED)
def test_lines_end_at_block_elements_and_breaks(html: str, texts: list[str]) -> None:
    assert list(lines_of(html).texts) == texts
    assert whole(html).text == " ".join(texts)
    assert text_of_link(f"<a href=1>{html}</a>behind") == " ".join(texts)


def test_a_line_knows_its_nodes_and_its_element_and_the_breaks_before_it() -> None:
    tree = read_tree(b"<div>top<p>one <b>two</b> three</p></div>")
    lines = PageLines.of(tree, Measures(tree))
    assert list(lines.texts) == ["top", "one two three"]
    assert [tree.tags[container] for container in lines.containers] == ["div", "p"]
    nodes = range(lines.firsts[1], lines.afters[1])
    assert [tree.text(node) for node in nodes] == ["one", "", "two", "three"]
    assert lines.container_of[lines.firsts[1]] == lines.containers[1]
    assert list(lines_of("<p>a<br>b<br><br>c<p>d").breaks) == [0, 1, 2, 0]
    assert list(lines_of("a<br><br><p>b").breaks) == [0, 0]  # outside of the element


def test_only_the_beginning_of_a_long_link_is_read() -> None:
    for words in ("ab " * 1000, "<b>ab</b> " * 1000):
        expected = ("ab " * 1000)[:LONGEST_LINK_TEXT].strip()
        assert text_of_link(f"<a href=1>{words}</a>") == expected


def test_a_link_ends_with_its_block() -> None:
    tree = read_tree(b"<a href=1>One<div>Two</div></a>")
    end = tree.starts[tree.tags.index("div")]
    page = Partition(tree, [Cut(1, 0, end), Cut(1, end, len(tree.body))], method="nom", level=1)
    assert [[link.text for link in block.links] for block in page.blocks] == [["One"], []]
    features = PageFeatures(tree, Measures(tree))
    blocks = PageBlocks(features, [block.nodes for block in page.blocks])
    assert blocks.links_in.texts == ["One"]


@each("opened", [b"<a href=x><table><tr><td>y", b"<a href=x><table><tr><td>&nbsp;"])
def test_nested_links_take_linear_time(opened: bytes) -> None:
    def links(size: int) -> int:
        page = partition(opened * size + b"z " * size, method="quark")
        return sum(len(block.links) for block in page.blocks)

    assert_linear(links, 500)


@each(
    "html, chars, link_chars",
    [
        ("<p>a<a href=x>bc<i>d</i></a>", 4, 3),
        ("<p>a<script>b</script><select><option>c</select>", 1, 0),
        ("<p>&amp;&nbsp; a", 3, 0),
        ("<p>a<ruby>b<rp>(</rp><rt>c</rt><rp>)</rp></ruby>d", 3, 0),
        ("<p>a<rt>b", 2, 0),  # above nothing
        # What is for readers without scripts is hidden unless it is most of the text.
        ("<p>some<noscript>turn on scripts</noscript>", 4, 0),
        (f"<p>some<noscript>{'a post ' * 80}</noscript>", 563, 0),
        # Six characters in there, counted twice, would be more than the eight outside.
        ("<div>outside!<noscript><div><noscript>inside</noscript></div></noscript></div>", 8, 0),
    ],
)
def test_visible_characters(html: str, chars: int, link_chars: int) -> None:
    measures = Measures(read_tree(html.encode()))
    assert (measures.chars[-1], measures.link_chars[-1]) == (chars, link_chars)


@each("method", ["spcola", "quark"])
def test_the_links_of_an_image_map_stand_in_a_block_unless_it_is_hidden(method: str) -> None:
    areas = "<map name=m><area href=a><area><area href=b></map>"
    page = partition(f"<p>before<img src=x usemap=#m>{areas}<p>after".encode(), method=method)
    assert [link.href for block in page.blocks for link in block.links] == ["a", "b"]
    tree = read_tree(f"<p>text<template>{areas}</template>".encode())
    assert len(shown_nodes(tree, Measures(tree))) == 1
