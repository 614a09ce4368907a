"""The methods that others are measured against: what they cut, and what they keep."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.sizes import node_sizes
from mmcrawl.blocks.partitioners.gdom import CELLS, Gdom
from mmcrawl.blocks.partitioners.nom import Nom
from mmcrawl.blocks.partitioners.registry import make_partitioner
from mmcrawl.blocks.partitioners.ypm import Ypm, node_places
from mmcrawl.blocks.tree import PageTree, read_tree
from mmcrawl.errors import BlockError

LONG = "The law of the lever was known to Archimedes, who wrote of it at length. " * 40
MENU = "<ul><li><a href=1>One</a><li><a href=2>Two</a><li><a href=3>Three</a></ul>"


def kept(method: Nom | Ypm | Gdom, html: str) -> tuple[str, list[str]]:
    """Return the topic text that a method keeps, and the links."""
    tree = read_tree(html.encode())
    measures = Measures(tree)
    texts, links = method.kept(tree, measures)
    seen = (i for nodes in texts for i in nodes if tree.tags[i] == TEXT and not measures.hidden[i])
    found = (i for nodes in links for i in nodes if tree.tags[i] == "a")
    return " ".join(map(tree.text, seen)), [tree.attributes(i)["href"] for i in found]


def contents(method: Nom | Ypm | Gdom, html: str) -> list[str]:
    tree = read_tree(html.encode())
    return [tree.body[cut.start : cut.end].decode() for cut in method(tree, 1)]


def test_nom_is_the_page():
    html = f"<html><body>{MENU}<p>text</body></html>"
    assert contents(Nom(), html) == [html]
    assert kept(Nom(), html) == ("One Two Three text", ["1", "2", "3"])
    assert contents(Nom(), "") == []


def test_gdom_removes_lists_of_links_and_keeps_text_with_few():
    body = "<div>The lever and its law, by <a href=a>Archimedes</a> of Syracuse, in words.</div>"
    html = f"<html><body><div>{MENU}</div>{body}<table><tr><td>{MENU}</table></body></html>"
    assert contents(Gdom(), html) == [body]
    text, links = kept(Gdom(), html)
    assert text == "The lever and its law, by Archimedes of Syracuse, in words."
    assert links == ["a"]


def test_gdom_estimates_words_by_their_letters():
    html = "<html><body><div>twenty letters or so 123 <a href=a>a</a></div></body></html>"
    assert kept(Gdom(link_text_ratio=0.30), html)[1] == ["a"]  # 17 letters are 3.4 words
    assert kept(Gdom(link_text_ratio="0.29"), html) == ("", [])
    assert kept(Gdom(link_text_ratio=0.5, word_length=8.5), html)[1] == ["a"]
    assert kept(Gdom(link_text_ratio=0.5, word_length="8.6"), html) == ("", [])


def test_gdom_counts_two_chinese_characters_as_a_word():
    html = "<html><body><div>阿基米德知道杠杆 <a href=a>力学</a></div></body></html>"
    assert kept(Gdom(), html)[1] == ["a"]
    assert kept(Gdom(), html.replace("杠杆", "")) == ("", [])


def test_gdom_does_not_blame_a_division_for_a_list_that_is_gone():
    html = f"<html><body><div><p>Twenty letters of a text</p><nav>{MENU}</nav></div></body></html>"
    assert kept(Gdom(), html) == ("Twenty letters of a text", [])


def test_gdom_as_printed_looks_at_table_cells_only():
    cell = f"<table><tr><td>{LONG}<td>{MENU}</table>"
    html = f"<html><body>{cell}<div>{MENU}</div></body></html>"
    assert kept(Gdom(containers=CELLS), html)[1] == ["1", "2", "3"]
    assert kept(Gdom(), html)[1] == []


def test_gdom_gives_back_the_links_it_removed_where_asked_to():
    html = f"<html><body><p>{LONG}<a href=0>a</a></p><nav>{MENU}<a href=4></a></nav></body></html>"
    assert kept(Gdom(), html)[1] == ["0"]
    assert kept(Gdom(retain_links="true"), html) == (LONG + "a", ["0", "1", "2", "3"])


def test_gdom_removes_forms_and_advertisements_but_no_form_around_the_page():
    advertisement = "<a href='http://ads.example.com/x'>Buy a lever today</a>"
    html = f"<html><body><p>{LONG[:73]}{advertisement}</p><form>Search here</form></body></html>"
    assert kept(Gdom(), html) == (LONG[:72], [])
    assert kept(Gdom(), f"<form><p>{LONG[:73]}</form>") == (LONG[:72], [])


def test_gdom_removes_controls_and_their_labels():
    html = f"<html><body><p>{LONG[:73]}<label>Name</label><button>Go</button></p></body></html>"
    assert kept(Gdom(), html) == (LONG[:72], [])


def test_gdom_leaves_what_it_removed_to_the_layout():
    html = f"<html><body><p>{LONG}</p><nav>{MENU}</nav><p>{LONG}</p></body></html>"
    assert contents(Gdom(), html) == [f"<p>{LONG}</p>", f"<p>{LONG}</p>"]


def test_a_cut_is_of_the_element_that_it_lies_in_or_is():
    html = f"<html><body><p>{LONG}</p><nav>{MENU}</nav><p>{LONG}</p><p>{LONG}</p></body></html>"
    tree = read_tree(html.encode())
    assert [tree.path(cut.node) for cut in Gdom()(tree, 1)] == ["html/body/p", "html/body"]


def test_ypm_parts_the_head_the_foot_and_the_body_of_a_page():
    top, foot = "<div>Name of the site</div>", "<div>All rights reserved</div>"
    html = f"<html><body>{top}<div><p>{LONG}</p></div>{foot}</body></html>"
    assert contents(Ypm(), html) == [top, f"<div><p>{LONG}</p></div>", foot]
    assert kept(Ypm(), html) == (LONG.strip(), [])


def test_ypm_finds_side_bars_by_the_declared_widths_of_cells():
    left, right = f"<td width=20%>{MENU * 9}</td>", f"<td width=200>{MENU * 9}</td>"
    body = f"<td>{LONG} <a href=b>b</a></td>"
    html = f"<html><body><table width=100%><tr>{left}{body}{right}</tr></table></body></html>"
    assert contents(Ypm(), html) == [left, body, right]
    assert kept(Ypm(), html)[1] == ["b"]
    wide = html.replace("width=20%", "width=35%")
    assert kept(Ypm(), wide)[1][:2] == ["1", "2"]


def test_ypm_takes_an_aside_for_a_side_bar():
    main, aside = f"<main>{LONG}</main>", f"<aside>{MENU * 9}</aside>"
    html = f"<html><body>{main}{aside}{aside}{main}{main}{aside}{main}</body></html>"
    assert kept(Ypm(), html)[1] == []
    assert contents(Ypm(), html)[1:3] == [aside + aside, main + main]
    halves = f"<html><body>{main}{aside}{aside}{main}</body></html>"
    assert contents(Ypm(), halves) == [main, aside, aside, main]  # at the left and at the right


def test_a_paragraph_at_the_top_is_no_header():
    html = f"<html><body><p>The lever</p>{LONG}<div>All rights reserved</div></body></html>"
    assert kept(Ypm(), html)[0] == "The lever " + LONG.strip()


def test_ypm_looks_into_elements_it_does_not_know():
    html = f"<x-app><html><body><div>Site</div><div>{LONG}</div></body></html>"
    assert kept(Ypm(), html)[0] == LONG.strip()


def test_ypm_takes_what_is_named_a_bar_or_a_foot_to_be_there():
    menu, bar = f"<nav>{MENU}</nav>", f"<div class=sidebar>{MENU * 9}</div>"
    main, foot = f"<div><p>{LONG * 2}</div>", f"<div id=footer>{LONG}</div>"
    html = f"<html><body><div>{main}{menu}{main}{bar}{main}{foot}</div></body></html>"
    assert kept(Ypm(), html) == (LONG * 5 + LONG.strip(), [])


def units(html: str, **options: float) -> list[list[str]]:
    """Return the units of each part of a page."""
    tree = read_tree(f"<html><body>{html}</body></html>".encode())
    cuts = Ypm(**options)(tree, 2)
    return [[tree.body[c.start : c.end].decode() for c in cut.children] for cut in cuts]


def test_ypm_parts_the_body_where_its_parts_cease_to_look_alike():
    text, list_ = f"<div class=a><p>{LONG}</div>", f"<div class=b>{MENU}</div>"
    assert units(text + list_ + list_ + text) == [[text, list_ + list_, text]]
    assert units(list_ + list_) == [[]]  # no higher than a unit
    assert units(text + text) == [[text, text]]  # each higher than one
    assert units(text + text, unit=10_000) == [[]]


def test_ypm_parts_at_rules_borders_and_thin_pictures():
    long = f"<p>{LONG}</p>"
    assert units(long + "<hr>" + long, unit=10_000) == [[long, long]]
    assert units(long + "<img height=1 width=300>" + long, unit=10_000) == [[long, long]]
    framed = "<div style='border: 1px solid'>All about levers</div>"
    assert units(long + framed + long, unit=10_000) == [[long, framed, long]]
    bare = framed.replace("1px solid", "0")
    assert units(long + bare + long, unit=10_000) == [[]]


def places(html: str, *names: str) -> list[tuple[float, float]]:
    """Return left and top of the elements with these ids."""
    tree = read_tree(html.encode())
    lefts, tops = node_places(tree, *node_sizes(tree, Measures(tree)))
    ids = {tree.attributes(node).get("id"): node for node in range(len(tree))}
    return [(lefts[ids[name]], tops[ids[name]]) for name in names]


def test_elements_stand_below_each_other_and_cells_side_by_side():
    html = (
        f"<div id=a height=200>x</div><font><table><tr><td id=b width=20%>x<td id=c width=300>"
        f"<p>{LONG[:100]}<p id=d>x<td id=e>x<tr><td id=f>x</table></font><b>bold</b><div id=g>x"
    )
    assert places(html, *"abcdefg") == [
        (0, 0),
        (0, 200),
        (200, 200),
        (200, 260),  # below three lines of 300 pixels
        (500, 200),
        (0, 280),
        (0, 300),
    ]


def test_ypm_lets_flat_parts_reach_further():
    flat = f"<html><body><div>{LONG[:365]}</div><p>{LONG * 3}</body></html>"  # 1000 by 60 pixels
    assert len(contents(Ypm(edge=42), flat)) == 2  # 42 + 40 / (20 * 0.06 + 1) is 60.2
    assert len(contents(Ypm(edge=41), flat)) == 1
    less = flat.replace("<div>", "<div style='width: 350px; height: 60px'>")
    assert len(contents(Ypm(edge=51), less)) == 2  # 51 + 40 / (20 * 60 / 350 + 1) is 60.03
    assert len(contents(Ypm(edge=50), less)) == 1


def test_a_short_page_has_a_body():
    html = "<html><body><div>one</div><div>two</div><div>three</div></body></html>"
    assert kept(Ypm(), html)[0] != ""


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("gdom", {"link_text_ratio": "x"}),
        ("gdom", {"link_text_ratio": -1}),
        ("gdom", {"link_text_ratio": float("nan")}),
        ("gdom", {"word_length": 0}),
        ("gdom", {"retain_links": "perhaps"}),
        ("ypm", {"unit": "x"}),
        ("ypm", {"edge": "x"}),
        ("ypm", {"edge": -1}),
        ("ypm", {"side": 0.6}),
    ],
)
def test_bad_options_are_named(method: str, options: dict[str, float]):
    with pytest.raises(BlockError, match=next(iter(options))):
        make_partitioner(method, **options)


TAGS = sorted(
    frozenset(
        """
        div p td tr table ul li a b h1 html body form script noscript aside center svg
        """.split()
    )
)
soup = st.lists(
    st.one_of(
        st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
        st.sampled_from(["word", "力学", " ", LONG[:73], "<td width=20%>", "<a href=x>", "<img>"]),
    ),
    max_size=40,
).map("".join)


def visible(tree: PageTree) -> set[int]:
    hidden = Measures(tree).hidden
    return {i for i, tag in enumerate(tree.tags) if tag == TEXT and not hidden[i] and tree.text(i)}


@given(soup)
def test_cuts_are_in_order_and_hold_what_is_kept(html: str):
    tree = read_tree(html.encode())
    measures = Measures(tree)
    for method in (Nom(), Ypm(), Gdom()):
        cuts, end = method(tree, 2), 0
        for cut in cuts:
            assert end <= cut.start < cut.end <= len(tree.body)
            end = cut.start
            for unit in cut.children:
                assert end <= unit.start < unit.end <= cut.end
                end = unit.end
            end = cut.end
        kept_nodes = {i for nodes in method.kept(tree, measures)[0] for i in nodes}
        for node in visible(tree) & kept_nodes:
            assert any(c.start <= tree.starts[node] and tree.ends[node] <= c.end for c in cuts)
    for node in visible(tree):  # ypm and nom lose no text of the page
        for method in (Nom(), Ypm()):
            assert any(c.start <= tree.starts[node] < c.end for c in method(tree, 1))
