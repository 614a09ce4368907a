"""The headline of a page: which of its headings, of its title, of its metadata."""

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.content import page_headline, page_metadata
from mmcrawl.blocks.layout import Measures, PageLines
from tests.tables import each


def headline(body: str, *, title: str = "", head: str = "", prose: str = "body") -> str:
    document = f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    tree = read_tree(document.encode(), encoding="utf-8")
    lines = PageLines.of(tree, Measures(tree))
    return page_headline(tree, lines, tree.tags.index(prose), page_metadata(tree))


OG = '<meta property=og:title content="Levers explained">'


def test_a_main_heading_that_the_title_repeats_comes_first() -> None:
    body = "<h1>The School</h1><h1>Levers</h1><article>text</article>"
    assert headline(body, title="LEVERS - The Lab", prose="article") == "Levers"
    assert headline(body, title="The School: Levers", prose="article") == "The School"


def test_a_heading_of_three_letters_is_no_sign() -> None:
    body = "<h1>Lab</h1><h1>On levers</h1><article>text</article>"
    assert headline(body, title="Lab report", prose="article") == "On levers"


def test_else_the_last_main_heading_before_the_end_of_the_prose() -> None:
    body = "<h1>Site</h1><article><h1>Levers</h1>text</article><h1>More</h1>"
    assert headline(body, title="Physics", prose="article") == "Levers"


def test_else_the_first_main_heading() -> None:
    assert headline("<p>text</p><h1>A</h1><h1>B</h1>", title="Physics", prose="p") == "A"


def test_a_whole_text_in_h1_is_no_heading() -> None:
    assert headline(f"<h1>{'word ' * 100}</h1>", title="Levers") == "Levers"


def test_else_the_heading_of_the_metadata() -> None:
    assert headline("<h2>Physics</h2>", title="Physics", head=OG) == "Levers explained"


def test_the_heading_of_the_metadata_is_without_the_site() -> None:
    body = "<h2>Physics</h2><h3>Levers</h3><h3>Levers explained</h3>"
    head = OG.replace("Levers explained", "Levers explained - The Lab")
    assert headline(body, title="Physics", head=head) == "Levers explained"


def test_else_a_lower_heading_that_the_title_repeats() -> None:
    assert headline("<h2>News</h2><h3>Levers</h3>", title="Levers | The Lab") == "Levers"


@each(
    "title, found",
    [
        ("Levers and how they work - The Lab", "Levers and how they work"),
        ("The Lab | Levers and how they work", "Levers and how they work"),
        ("杠杆原理与应用_启明中学", "杠杆原理与应用"),
        ("Levers | Pulleys | Wheels", "Levers"),
        ("A | Levers | Wheels today", "Wheels today"),
        ("Well-known levers", "Well-known levers"),
        ("  Levers \n of all\tkinds ", "Levers of all kinds"),
        ("", ""),
    ],
)
def test_else_the_title_without_the_site(title: str, found: str) -> None:
    assert headline("<p>text</p>", title=title) == found
