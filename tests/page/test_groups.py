"""How links are grouped, and which text is the title of a group."""

import gc
import tracemalloc

from mmcrawl.page import parse_page
from tests.tables import each

LINKS = '<a href="1.htm">one</a> <a href="2.htm">two</a>'
LONG = "many words that go on and on beyond the ten allowed for titles"
TIMES = "Levers and " * 6


def groups(html: str) -> list[tuple[str, list[str]]]:
    """Return title and anchors of each group."""
    page = parse_page(html.encode(), "http://school.test/x/index.htm")
    anchors: list[list[str]] = [[] for _ in page.groups]
    for link in page.links:
        if link.group >= 0:
            anchors[link.group].append(link.anchor)
    assert [group.size for group in page.groups] == [len(a) for a in anchors]
    return [(group.title, a) for group, a in zip(page.groups, anchors, strict=True)]


@each(
    "html, expected",
    [
        # nested tables
        ("<table><tr><td><a href=a>outer</a></td><td><table><tr><td><a href=b>inner 1</a></td></tr>"
         "<tr><td><a href=c>inner 2</a></td></tr></table></td></tr></table>",
         [("", ["outer"]), ("", ["inner 1", "inner 2"])]),
        # lists and sections
        (f"<nav><a href=n>nav</a></nav><section><h2>Levers</h2>{LINKS}</section><ul><li><a href=3>"
         "three</a></ul>", [("", ["nav"]), ("Levers", ["one", "two"]), ("", ["three"])]),
        # a link in between separates text and list
        (f"<p>Levers</p><p><a href=0>zero</a></p><ul><li>{LINKS}</ul>",
         [("Levers", ["zero"]), ("", ["one", "two"])]),
        (f"<h2>Levers</h2><p><a href=0>0</a></p><p>Updated today</p><ul><li>{LINKS}</ul>",
         [("Levers", ["0"]), ("Updated today", ["one", "two"])]),
        # headings divide a container
        (f"<body><h2>Levers</h2>{LINKS}<h2>Pulleys</h2><a href=3>three</a></body>",
         [("Levers", ["one", "two"]), ("Pulleys", ["three"])]),
        # a linked heading titles its card
        ("<article><h3><a href=a>Levers</a></h3><p>Text.</p><a href=a2>more</a></article>",
         [("Levers", ["Levers", "more"])]),
        # items wrapped in a division each
        ("<section><h2>Levers</h2><div><a href=1>one</a></div><div><div><a href=2>two</a></div>"
         "</div></section>", [("Levers", ["one", "two"])]),
        # a group whose links stand elsewhere is dropped
        ("<ul><li><a href=1><img></a></ul><div><p>Levers</p><a href=1>one</a></div>",
         [("Levers", ["one"])]),
    ],
)  # fmt: skip
def test_tables_lists_and_sections_group_links(html: str, expected: list[object]) -> None:
    assert groups(html) == expected


@each(
    "html, title",
    [
        # a heading row
        *((f"<table>{head}<tr><td>{LINKS}</td></tr></table>", "初中物理") for head in (
            "<caption>初中物理</caption>",
            "<tr><td>初中物理</td></tr>",
            "<tr bgcolor=#0000ff><td>初中物理</td></tr>",
            "<tr><td><font color=red><b>初中物理</b></font></td></tr>",
            "<tr><td style='font-size:18px'>初中物理</td></tr>",
        )),
        # the text immediately before a list
        *((f"<p>{'A long introduction. ' * 20}</p>{before}<ul><li>{LINKS}</ul>", "Levers and more")
          for before in ("<h3>Levers and more</h3>", "<p><b>Levers and more</b></p>",
          "<table bgcolor=navy><tr><td>Levers and more</td></tr></table>")),
        # of the lines before a list the one with most rules, then the nearest
        (f"<h2>Contents</h2><p>Updated today</p><ul><li>{LINKS}</ul>", "Contents"),
        (f"<h2>Levers</h2><h2>Pulleys</h2><ul><li>{LINKS}</ul>", "Pulleys"),
        (f"<h2>Levers</h2><p>{'Long. ' * 60}</p><ul><li>{LINKS}</ul>", "Levers"),
        (f"<div><h2>Levers</h2><p>updated in May</p>{LINKS}</div>", "Levers"),
        # short and alone, or of another colour or size
        (f"<div><p>Levers</p>{LINKS}</div>", "Levers"),
        (f"<div>Levers {LINKS}</div>", ""),
        (f"<td><font color=red>Levers:</font> {LINKS}</td>", "Levers:"),
        (f"<div><em style='font-size:20px'>Levers</em> {LINKS}</div>", "Levers"),
        (f"<font size=4><div>{TIMES}<br>{LINKS}</div></font>", ""),
        (f"<font size=2><div><font size=3>{TIMES}</font><br>{LINKS}</div></font>", TIMES.strip()),
        # a long paragraph is no title; Chinese is counted by character
        (f"<div><p>{LONG}</p>{LINKS}</div>", ""),
        (f"<div><h2>{LONG}</h2>{LINKS}</div>", LONG),
        (f"<div><p>初中物理课件下载</p>{LINKS}</div>", "初中物理课件下载"),
        (f"<div><p>本站提供初中物理课件免费下载</p>{LINKS}</div>", ""),
        # dates and bullets among links
        ("<table><tr><td><a href=1>one</a></td><td>2009-05-01</td></tr><tr><td>·</td><td><a href=2>"
         "two</a></td><td>by Li Lei</td></tr></table>", ""),
    ],
)  # fmt: skip
def test_the_title_of_a_group_is_what_stands_out_before_it(html: str, title: str) -> None:
    assert groups(html) == [(title, ["one", "two"])]


URL = "http://school.test/physics/index.htm"


def paths(html: str) -> dict[str, str]:
    """Return the tag path of each link by the last part of its address."""
    links = parse_page(html.encode(), URL).links
    return {link.url.rpartition("/")[2]: link.tag_path for link in links}


def test_a_path_names_elements_with_their_id_and_class():
    html = """<html><body><div id="main" class="wide"><ul class="menu"><li><a href="a">A</a></li>
        <li class="now"><b><a href="b" class="link">B</a></b></li></ul></div>
        <p><a href="c">C</a></p></body></html>"""
    assert paths(html) == {
        "a": "html body div#main.wide ul.menu li a",
        "b": "html body div#main.wide ul.menu li.now b a.link",
        "c": "html body p a",
    }


def test_links_in_the_same_place_of_a_list_have_one_path():
    items = "".join(
        f'<li id="post-{n}" class="post-{n} post tag-lens"><a href="{n}.htm">{n}</a></li>'
        for n in (7, 12, 430)
    )
    found = paths(f'<ol class="list2">{items}</ol><div><a href="next">next</a></div>')
    assert found.pop("next") == "html body div a"
    assert set(found.values()) == {"html body ol.list0 li#post-0.post-0.post a"}


def test_a_path_has_the_eight_innermost_elements_and_a_step_is_cut() -> None:
    outer = "".join(f"<div class={name}>" for name in "abcdefghij")
    assert paths(f"{outer}<a href=x>x</a>") == {"x": "div.d div.e div.f div.g div.h div.i div.j a"}
    [path] = paths(f'<p class="{"c" * 500}"><a href=x>x</a>').values()
    assert path == f"html body p.{'c' * 58} a"


@each(
    "html, path",
    [
        ("<p><a href=\"javascript:window.open('x.htm')\">x</a>", "html body p a"),
        ("<ul><li class=k onclick=\"location.href='x.htm'\">x</li></ul>", "html body ul li.k"),
        ("<form id=f><select onchange='go()'><option value='x.htm'>x</select>",
         "html body form#f select option"),
        ("<frameset id=top><frame name=n class=left src=x.htm></frameset>",
         "html frameset#top frame.left"),
        ("<div id=d><map class=m><area href=x.htm></map>", "html body div#d map.m area"),
        ("<div id=d><iframe class=f src=x.htm></iframe>", "html body div#d iframe.f"),
        ("<noscript><p class=n><a href=x.htm>x</a></noscript>", "html body noscript p.n a"),
        ("<frameset><noframes><body class=n><a href=x.htm>x</a></noframes>", "html body.n a"),
        ("<body class=n><html><p><a href=x.htm>x</a>", "html body.n p a"),
        # the occurrence whose anchor is taken
        ("<div class=pic><a href=x.htm><img src=i></a></div><p class=t><a href=x.htm>One</a>",
         "html body p.t a"),
    ],
)  # fmt: skip
def test_links_of_scripts_menus_and_odd_places_have_paths(html, path):
    assert paths(html)["x.htm"] == path


def test_paths_of_a_page_nested_deeply() -> None:
    html = "".join(f"<div class=d><a href={n}.htm>{n}</a>" for n in range(2_000))
    found = [path.split() for path in paths(html).values()]
    assert found[:2] == ["html body div.d a".split(), "html body div.d div.d a".split()]
    assert all(path == ["div.d"] * 7 + ["a"] for path in found[6:])
    assert len(found) == 2_000


def test_long_classes_of_pages_past_are_not_kept() -> None:
    def parse(letter: str) -> None:
        parse_page(f'<p class="{letter * 200_000}"><a href=x>x</a>'.encode(), URL)

    parse("a")  # what is loaded on first use
    tracemalloc.start()
    for letter in "bcdefghijk":
        parse(letter)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 200_000
