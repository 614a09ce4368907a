"""How links are grouped, and which text is the title of a group."""

from __future__ import annotations

from mmcrawl.page import parse_page
from tests.tables import each

LINKS = '<a href="1.htm">one</a> <a href="2.htm">two</a>'


def groups(html: str) -> list[tuple[str, list[str]]]:
    """Return title and anchors of each group."""
    page = parse_page(html.encode(), "http://school.test/x/index.htm")
    anchors: list[list[str]] = [[] for _ in page.groups]
    for link in page.links:
        if link.group >= 0:
            anchors[link.group].append(link.anchor)
    assert [group.size for group in page.groups] == [len(a) for a in anchors]
    return [(group.title, a) for group, a in zip(page.groups, anchors, strict=True)]


def titles(html: str) -> list[str]:
    return [title for title, _ in groups(html)]


def test_nested_tables_make_groups_of_their_own():
    html = """<table><tr><td><a href="a.htm">outer</a></td><td>
        <table><tr><td><a href="b.htm">inner 1</a></td></tr>
        <tr><td><a href="c.htm">inner 2</a></td></tr></table></td></tr></table>"""
    assert groups(html) == [("", ["outer"]), ("", ["inner 1", "inner 2"])]


def test_lists_and_sections_are_groups_too():
    html = f"""<nav><a href="n.htm">nav</a></nav><section><h2>Levers</h2>{LINKS}</section>
        <ul><li><a href="3.htm">three</a></ul>"""
    assert groups(html) == [("", ["nav"]), ("Levers", ["one", "two"]), ("", ["three"])]


@each(
    "head",
    [
        "<caption>初中物理</caption>",
        "<tr><th>初中物理</th></tr>",
        "<tr><td>初中物理</td></tr>",
        "<tr bgcolor=#0000ff><td>初中物理</td></tr>",
        "<tr><td><font size=4>初中物理</font></td></tr>",
        "<tr><td><font color=red><b>初中物理</b></font></td></tr>",
        "<tr><td style='font-size:18px'>初中物理</td></tr>",
    ],
)
def test_a_heading_row_names_the_links_of_its_table(head):
    assert titles(f"<table>{head}<tr><td>{LINKS}</td></tr></table>") == ["初中物理"]


@each(
    "before",
    [
        "<h3>Levers and pulleys</h3>",
        "<p><b>Levers and pulleys</b></p>",
        "<table bgcolor=navy><tr><td>Levers and pulleys</td></tr></table>",
    ],
)
def test_the_text_immediately_before_names_a_list(before):
    html = f"<p>{'A long introduction to the subject. ' * 9}</p>{before}<ul><li>{LINKS}</ul>"
    assert titles(html) == ["Levers and pulleys"]


def test_a_link_in_between_separates_text_and_list():
    html = f'<p>Levers</p><p><a href="0.htm">zero</a></p><ul><li>{LINKS}</ul>'
    assert groups(html)[1] == ("", ["one", "two"])


def test_short_and_alone_is_a_title_but_short_within_a_sentence_is_not():
    assert titles(f"<div><p>Levers</p>{LINKS}</div>") == ["Levers"]
    assert titles(f"<div>Levers {LINKS}</div>") == [""]


def test_colour_or_size_in_the_same_line_makes_a_short_text_the_title():
    assert titles(f"<td><font color=red>Levers:</font> {LINKS}</td>") == ["Levers:"]
    assert titles(f"<div><span style='font-size:20px'>Levers</span> {LINKS}</div>") == ["Levers"]


def test_a_long_paragraph_is_no_title_whatever_stands_alone():
    words = "many words that go on and on beyond the ten allowed for titles"
    assert titles(f"<div><p>{words}</p>{LINKS}</div>") == [""]
    assert titles(f"<div><h2>{words}</h2>{LINKS}</div>") == [words]


def test_chinese_is_counted_by_character():
    assert titles(f"<div><p>初中物理课件下载</p>{LINKS}</div>") == ["初中物理课件下载"]
    assert titles(f"<div><p>本站提供初中物理课件免费下载</p>{LINKS}</div>") == [""]


def test_larger_means_larger_than_the_links():
    same = f"<font size=4><div>{'Levers and ' * 6}<br>{LINKS}</div></font>"
    larger = f"<font size=2><div><font size=3>{'Levers and ' * 6}</font><br>{LINKS}</div></font>"
    assert titles(same) == [""]
    assert titles(larger) == [" ".join(["Levers and"] * 6)]


def test_the_line_with_most_rules_wins_over_the_nearest():
    html = f"<div><h2>Levers</h2><p>updated in May</p>{LINKS}</div>"
    assert titles(html) == ["Levers"]


def test_headings_divide_a_container():
    html = f"""<body><h2>Levers</h2>{LINKS}<h2>Pulleys</h2><a href="3.htm">three</a></body>"""
    assert groups(html) == [("Levers", ["one", "two"]), ("Pulleys", ["three"])]


def test_a_linked_heading_titles_its_card():
    html = """<article><h3><a href="a.htm">Levers</a></h3><p>Text.</p>
        <a href="a2.htm">more</a></article>"""
    assert groups(html) == [("Levers", ["Levers", "more"])]


def test_items_wrapped_in_a_division_each_form_one_group():
    html = """<section><h2>Levers</h2><div><a href="1.htm">one</a></div>
        <div><div><a href="2.htm">two</a></div></div></section>"""
    assert groups(html) == [("Levers", ["one", "two"])]


def test_dates_and_bullets_among_links_are_no_titles():
    html = """<table><tr><td><a href="1.htm">one</a></td><td>2009-05-01</td></tr>
        <tr><td>·</td><td><a href="2.htm">two</a></td><td>by Li Lei</td></tr></table>"""
    assert titles(html) == [""]


def test_a_group_whose_links_stand_elsewhere_is_dropped():
    html = '<ul><li><a href="1.htm"><img></a></ul><div><p>Levers</p><a href="1.htm">one</a></div>'
    assert groups(html) == [("Levers", ["one"])]


def test_of_the_lines_before_a_list_the_one_with_most_rules_wins_then_the_nearest():
    assert titles(f"<h2>Contents</h2><p>Updated today</p><ul><li>{LINKS}</ul>") == ["Contents"]
    assert titles(f"<h2>Levers</h2><h2>Pulleys</h2><ul><li>{LINKS}</ul>") == ["Pulleys"]
    assert titles(f"<h2>Levers</h2><p>{'Long. ' * 60}</p><ul><li>{LINKS}</ul>") == ["Levers"]


def test_a_line_before_another_link_names_no_later_list():
    html = f'<h2>Levers</h2><p><a href="0.htm">0</a></p><p>Updated today</p><ul><li>{LINKS}</ul>'
    assert titles(html) == ["Levers", "Updated today"]
