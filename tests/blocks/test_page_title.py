"""What a page says of itself, and its headline: of its headings, its title, its metadata."""

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.content import PageMetadata, page_headline, page_metadata
from mmcrawl.blocks.layout import Measures, PageLines
from tests.tables import each

OG = "<meta property=og:title content='{}'>"
LEVERS, TEXT = "<h1>Levers</h1>", "<article>text</article>"


@each(
    "title, body, headline",
    [
        # a main heading that the title repeats; three letters are no sign
        ("LEVERS - The Lab", f"<h1>The School</h1>{LEVERS}{TEXT}", "Levers"),
        ("The School: Levers", f"<h1>The School</h1>{LEVERS}{TEXT}", "The School"),
        ("Lab report", f"<h1>Lab</h1><h1>On levers</h1>{TEXT}", "On levers"),
        # the last main heading before the end of the prose, else the first
        ("Physics", f"<h1>A</h1><article>{LEVERS}text</article><h1>More</h1>", "Levers"),
        ("Physics", "<article>text</article><h1>A</h1><h1>B</h1>", "A"),
        # a whole text in h1 is no heading
        ("Levers", f"<h1>{'word ' * 100}</h1>{TEXT}", "Levers"),
        # the heading of the metadata, without the site
        ("Physics", f"{OG.format('Levers explained')}<h2>Physics</h2>{TEXT}", "Levers explained"),
        ("Physics", f"{OG.format('Levers moved - The Lab')}<h2>Physics</h2><h3>Levers</h3>"
         f"<h3>Levers moved</h3>{TEXT}", "Levers moved"),
        # a lower heading that the title repeats
        ("Levers | The Lab", f"<h2>News</h2><h3>Levers</h3>{TEXT}", "Levers"),
        # the title without the site
        ("Levers and how they work - The Lab", TEXT, "Levers and how they work"),
        ("The Lab | Levers and how they work", TEXT, "Levers and how they work"),
        ("杠杆原理与应用_启明中学", TEXT, "杠杆原理与应用"),
        ("Levers | Pulleys | Wheels", TEXT, "Levers"),
        ("A | Levers | Wheels today", TEXT, "Wheels today"),
        ("Well-known levers", TEXT, "Well-known levers"),
        ("  Levers \n of all\tkinds ", TEXT, "Levers of all kinds"),
        ("", TEXT, ""),
    ],
)  # fmt: skip
def test_the_headline_of_a_page(title: str, body: str, headline: str) -> None:
    tree = read_tree(f"<title>{title}</title><body>{body}".encode(), encoding="utf-8")
    lines = PageLines.of(tree, Measures(tree))
    found = page_headline(tree, lines, tree.tags.index("article"), page_metadata(tree))
    assert found == headline


def metadata(html: str) -> PageMetadata:
    return page_metadata(read_tree(html.encode(), encoding="utf-8"))


def test_what_a_page_says_of_itself() -> None:
    nothing = metadata("<p>text")
    assert (nothing.title, nothing.headline, nothing.description, nothing.data) == ("",) * 4
    assert set(nothing.types) == {0.0}
    page = metadata(
        "<title> Levers\n&amp; pulleys </title><title>No</title><meta name=Description content=A>"
        "<meta property=og:title content=''><meta NAME='Twitter:Title' content=' The  lever '>"
        "<meta property=og:description content='B C'><script>var x = 'not data'</script>"
        r"""<script type=application/ld+json>{"a": "A \"lever\" \u6760\u6746\n is \/ was"}"""
    )
    assert (page.title, page.headline) == ("Levers & pulleys", "The lever")
    assert page.description == "A\nB C"
    assert 'A "lever" 杠杆  is / was' in page.data
    assert "not data" not in page.data
