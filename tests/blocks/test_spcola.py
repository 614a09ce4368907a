"""Blocks by tags, as far as content, look and size of the parts differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import TEXT, partition, read_tree
from mmcrawl.blocks.layout import Measures, Sheets
from mmcrawl.blocks.partitioners import Spcola
from mmcrawl.errors import BlockError
from tests.growth import assert_linear
from tests.tables import each

LEVERS = "The law of the lever was known to Archimedes."
PULLEYS = "Pulleys share a load among several lengths of rope."
LINKS = "<li><a href=1>One</a><li><a href=2>Two</a><li><a href=3>Three</a>"


def blocks(html: str, **options: float | str | Sheets) -> list[str]:
    """Return the text of each block."""
    page = partition(html.encode(), method="spcola", **options)
    assert page.splice() == html.encode()
    return [block.text for block in page.blocks]


def contents(html: str) -> list[str]:
    return [b.content.decode() for b in partition(html.encode(), method="spcola").blocks]


@each(
    "html",
    [
        "<div><div id=a class=a>{a}</div><div class=b>{b}</div></div>",
        "<table><tr><td>{a}</table><table><tr><td>{b}</table>",
        "<table><tr><td bgcolor=red>{a}<tr><td bgcolor=blue>{b}</table>",
        "<body><p>{a}<p>{b}",
        "{a}<hr>{b}",
        "<ul><li>{a}</ul><ul><li>{b}</ul>",
        "<dl><dd>{a}</dl>{b}",
        "<header>{a}</header><main>{b}</main>",
        "<h2>{a}</h2>{b}",
        # rule 1: children that look different
        "<div><p>{a}<p style='color:red'>{b}</div>",
        "<div><p>{a}<p><font size=6>{b}</font></div>",
        "<div><p>{a}<p><b>{b}</b></div>",
        "<div><p style='background:#eee'>{a}<p>{b}</div>",
        "<div style='color:red'><p style='color:blue'>{a}<p style='color:blue'>{b}</div>",
        # rule 3: a list of text
        "<ul><li><p>{a}<li><p><b>{b}</b></ul>",
    ],
)
def test_tags_of_the_list_and_looks_part_blocks(html: str) -> None:
    assert blocks(html.format(a=LEVERS, b=PULLEYS)) == [LEVERS, PULLEYS]


def test_cells_and_inline_elements_part_nothing_and_loose_text_is_a_block() -> None:
    html = f"<table><tr><td>{LEVERS}<td><span>{PULLEYS}</span> <font color=red>new</font></table>"
    assert blocks(html) == [f"{LEVERS} {PULLEYS} new"]
    html = "<div>before<div class=a>one</div>between<div class=b>two</div><hr>x</div>"
    assert blocks(html) == ["before", "one", "between", "two", "x"]


def test_children_that_look_alike_merge_and_style_sheets_tell_what_does() -> None:
    alike = f"<div><p class=n>{LEVERS}<p>{PULLEYS}</div>"
    assert contents(alike) == [alike]
    linked = f"<link rel=stylesheet href=s.css>{alike}"
    assert blocks(linked, styles={"s.css": ".n{color:red}"}) == [LEVERS, PULLEYS]
    assert blocks(alike, styles=["p.n{font-size:30px}"]) == [LEVERS, PULLEYS]
    with_link = f"<div><p>{LEVERS} <a href=a>More</a><p>{PULLEYS}</div>"  # on a page of text
    assert [len(blocks(with_link, link_text_ratio=ratio)) for ratio in (0.6, 0.0)] == [1, 2]


def test_an_element_below_both_sizes_is_not_split() -> None:
    html = "<div style='width:80px;height:25px'><p>a<p><b>b</b></div>"
    assert blocks(html) == ["a b"]
    assert blocks(html, min_width=70) == blocks(html, min_height=20) == ["a", "b"]


@each(
    "html",
    [
        f"<ul>{LINKS}<li><a href=4>Four</a><ul><li><a href=5>Five</a></ul></ul>",
        "<div>" + "".join(f"<div><a href={i}>Link {i}</a></div>" for i in range(5)) + "</div>",
        "<ul>" + "".join(f"<li><p><a href={i}>Link {i}</a> (2012)" for i in range(5)) + "</ul>",
        "<div><div><a href=a><img src=a></a></div><div><a href=b><img src=b></a></div></div>",
        "<div><p><object data=a.swf></object><p><embed src=b.swf></div>",
    ],
)
def test_lists_of_links_and_pictures_are_not_split(html: str) -> None:
    assert contents(f"{html}<p>{LEVERS}") == [html, f"<p>{LEVERS}"]


def test_two_lists_of_links_are_two_blocks_and_a_link_is_one() -> None:
    assert len(blocks(f"<div><ul>{LINKS}</ul><ul>{LINKS}</ul></div>")) == 2
    html = f"<a href=a><h3>Levers</h3><p>{LEVERS}</p></a><a href=b><h3>Pulleys</h3></a>"
    assert blocks(html) == [f"Levers {LEVERS}", "Pulleys"]
    unclosed = f"<a href=a><h3>Levers</h3><p>{LEVERS * 30}</p><p><b>{PULLEYS}</b>"
    assert len(blocks(unclosed)) == 3


TAGS = (
    "<div> </div> <p> </p> <table> <tr> <td> </table> <ul> <li> </ul> <hr> <h2> </h2> <b> </b> "
    "<a·href=x> </a> <img·src=x> word 中文 <span> </span> <nav> </nav> <input> <script> </script> "
    "<div·class=a> <p·style=color:red> <!-- -->"
)


@given(st.lists(st.sampled_from(TAGS.split()), max_size=40))
def test_no_overlap_and_no_visible_text_or_link_lost(pieces: list[str]) -> None:
    page = partition(" ".join(pieces).replace("·", " ").encode(), method="spcola")
    tree, measures = page.tree, Measures(page.tree)
    held = [node for block in page.blocks for node in block.nodes]
    assert len(held) == len(set(held))
    shown = {i for i, tag in enumerate(tree.tags) if tag == TEXT and not measures.hidden[i]}
    links = {i for i, tag in enumerate(tree.tags) if tag == "a" and not measures.hidden[i]}
    assert shown <= set(held)
    assert all(set(range(i, tree.after[i])) & set(held) for i in links)


@each("piece", [b"<li><a href=x>link</a>", b"<a href=x><h2>x</h2>"])
def test_large_pages_take_linear_time(piece: bytes) -> None:
    assert_linear(lambda size: partition(piece * size, method="spcola"), 1_000)


def test_levels_are_not_made() -> None:
    cuts = Spcola()(read_tree(b"<div class=a>x</div><div class=b>y</div>"), 3)
    assert [cut.children for cut in cuts] == [(), ()]


@each("option", ["min_width", "min_height", "link_text_ratio"])
def test_numbers_may_be_given_as_text(option: str) -> None:
    html = f"<div><h2>{LEVERS}</h2><p>{PULLEYS}<ul>{LINKS}</ul></div>"
    assert blocks(html, **{option: "40"}) == blocks(html, **{option: 40.0})
    for wrong in ("wide", "-1", "nan", None):
        with pytest.raises(BlockError, match="partitioner spcola: "):
            partition(b"", method="spcola", **{option: wrong})
