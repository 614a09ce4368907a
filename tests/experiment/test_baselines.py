"""The methods that others are measured against: what they cut, and what they keep."""

from collections.abc import Callable

from mmcrawl.blocks import TEXT, PageTree, read_tree
from mmcrawl.blocks.layout import Measures, node_sizes
from mmcrawl.experiment.presets import CELLS, Gdom, Ypm, node_places, nom

Filter = Callable[[PageTree, Measures], tuple[list[range], list[range]]]
LONG = "The law of the lever was known to Archimedes, who wrote of it at length. " * 40
MENU = "<ul><li><a href=1>One</a><li><a href=2>Two</a><li><a href=3>Three</a></ul>"


def kept(method: Filter, html: str) -> tuple[str, list[str]]:
    """Return the topic text that a method keeps, and the links."""
    tree = read_tree(html.encode())
    measures = Measures(tree)
    texts, links = method(tree, measures)
    seen = (i for nodes in texts for i in nodes if tree.tags[i] == TEXT and not measures.hidden[i])
    found = (i for nodes in links for i in nodes if tree.tags[i] == "a")
    return " ".join(map(tree.text, seen)), [tree.attributes(i)["href"] for i in found]


def test_nom_is_the_page():
    html = f"<html><body>{MENU}<p>text</body></html>"
    assert kept(nom, html) == ("One Two Three text", ["1", "2", "3"])


def test_gdom_removes_lists_of_links_and_keeps_text_with_few():
    body = "<div>The lever and its law, by <a href=a>Archimedes</a> of Syracuse, in words.</div>"
    html = f"<html><body><div>{MENU}</div>{body}<table><tr><td>{MENU}</table></body></html>"
    text, links = kept(Gdom(), html)
    assert text == "The lever and its law, by Archimedes of Syracuse, in words."
    assert links == ["a"]


def test_gdom_estimates_words_by_their_letters():
    html = "<html><body><div>twenty letters or so 123 <a href=a>a</a></div></body></html>"
    assert kept(Gdom(link_text_ratio=0.30), html)[1] == ["a"]  # 17 letters are 3.4 words
    assert kept(Gdom(link_text_ratio=0.29), html) == ("", [])
    assert kept(Gdom(link_text_ratio=0.5, word_length=8.5), html)[1] == ["a"]
    assert kept(Gdom(link_text_ratio=0.5, word_length=8.6), html) == ("", [])


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
    assert kept(Gdom(retain_links=True), html) == (LONG + "a", ["0", "1", "2", "3"])


def test_gdom_removes_forms_and_advertisements_but_no_form_around_the_page():
    advertisement = "<a href='http://ads.example.com/x'>Buy a lever today</a>"
    html = f"<html><body><p>{LONG[:73]}{advertisement}</p><form>Search here</form>"
    html += "<p><label>Name</label><button>Go</button></p></body></html>"
    assert kept(Gdom(), html) == (LONG[:72], [])
    assert kept(Gdom(), f"<form><p>{LONG[:73]}</form>") == (LONG[:72], [])


def test_ypm_parts_the_head_the_foot_and_the_body_of_a_page():
    top, foot = "<div>Name of the site</div>", "<div>All rights reserved</div>"
    html = f"<html><body>{top}<div><p>{LONG}</p></div>{foot}</body></html>"
    assert kept(Ypm(), html) == (LONG.strip(), [])


def test_ypm_finds_side_bars_by_the_declared_widths_of_cells():
    left, right = f"<td width=20%>{MENU * 9}</td>", f"<td width=200>{MENU * 9}</td>"
    body = f"<td>{LONG} <a href=b>b</a></td>"
    html = f"<html><body><table width=100%><tr>{left}{body}{right}</tr></table></body></html>"
    assert kept(Ypm(), html)[1] == ["b"]
    wide = html.replace("width=20%", "width=35%")
    assert kept(Ypm(), wide)[1][:2] == ["1", "2"]


def test_ypm_takes_what_is_named_a_bar_or_a_foot_to_be_there():
    menu, bar = f"<nav>{MENU}</nav>", f"<div class=sidebar>{MENU * 9}</div>"
    main, foot = f"<div><p>{LONG * 2}</div>", f"<div id=footer>{LONG}</div>"
    html = f"<html><body><div>{main}{menu}{main}{bar}{main}{foot}</div></body></html>"
    assert kept(Ypm(), html) == (LONG * 5 + LONG.strip(), [])


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
    assert kept(Ypm(edge=42), flat)[0] == (LONG * 3).strip()  # 42 + 40 / (20 * 0.06 + 1) is 60.2
    assert kept(Ypm(edge=41), flat)[0] != (LONG * 3).strip()
    # 51 + 40 / (20 * 60 / 350 + 1) is 60.03
    less = flat.replace("<div>", "<div style='width: 350px; height: 60px'>")
    assert kept(Ypm(edge=51), less)[0] == (LONG * 3).strip()
    assert kept(Ypm(edge=50), less)[0] != (LONG * 3).strip()


def test_gdom_counts_two_chinese_characters_as_a_word():
    html = "<html><body><div>阿基米德知道杠杆 <a href=a>力学</a></div></body></html>"
    assert kept(Gdom(), html)[1] == ["a"]
    assert kept(Gdom(), html.replace("杠杆", "")) == ("", [])


def test_a_paragraph_at_the_top_is_no_header():
    html = f"<html><body><p>The lever</p>{LONG}<div>All rights reserved</div></body></html>"
    assert kept(Ypm(), html)[0] == "The lever " + LONG.strip()


def test_ypm_looks_into_elements_it_does_not_know():
    html = f"<x-app><html><body><div>Site</div><div>{LONG}</div></body></html>"
    assert kept(Ypm(), html)[0] == LONG.strip()
