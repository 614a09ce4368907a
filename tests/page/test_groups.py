"""How links are grouped, and which text is the title of a group."""

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
