"""What is known of a block: where it is, what it holds, what names and words say of it."""

import tracemalloc
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import PageTree, partition, read_tree
from mmcrawl.blocks.content import PageMetadata, page_headline, page_metadata
from mmcrawl.blocks.layout import (
    Headlines,
    Measures,
    PageLines,
    TopicWords,
    area_of_names,
    begins_with,
    drawn_tags,
    holds,
    is_topic_page,
    lists_of,
)
from mmcrawl.page import declarations, described_in
from tests.tables import each

LONG = "The law of the lever was known to Archimedes. " * 10


def features(html: str) -> list[Mapping[str, float]]:
    return [block.features for block in partition(html.encode(), method="spcola").blocks]


def test_content_is_counted() -> None:
    (found,) = features(
        "<div><form><img src=a width=30 height=20><img src=b><a href=x>link</a> <a href=y>two</a>"
        "text<select></select><input></form></div>"
    )
    assert found["images"] == 2
    assert found["image_area"] == 600 + 60 * 60
    assert (found["links"], found["link_chars"], found["text_chars"]) == (2, 7, 4)
    assert (found["inputs"], found["forms"]) == (2, 1)
    measures = Measures(read_tree(b"<a href=x>12345</a>1234567890"))
    assert [is_topic_page(measures, most) for most in (0.6, 0.5)] == [True, False]


@each(
    "html, level",
    [
        ("<h1>x</h1>", 1),
        ("<h3><a href=y>x</a></h3>", 3),
        ("<p><b>x</b>", 7),
        ("<p><font size=5>x</font>", 7),
        ("<p style='font-weight:bold'>x", 7),
        *(
            (f"<p class='{name}'>x", 7)
            for name in ("post-title", "TITLE_2", "biaoti", "a headline")
        ),
        ("<p class='articleTitle'>x", 7),
        *((f"<p class={name}>x", 0) for name in ("titles", "subheading", "captions")),
        ("<p>x", 0),
        ("<p><b>x</b> and more", 0),
        ("<p>", 0),
    ],
)
def test_headings_are_known_by_tag_and_by_look(html: str, level: int) -> None:
    tree = read_tree(html.encode())
    assert Headlines(tree, Measures(tree)).level(range(1, len(tree))) == level


@each(
    "names, area",
    [
        ("post-nav bottom", "navigation"),
        ("siteFooter", "foot"),
        ("with-sidebar", ""),
        ("justify-content-between", ""),
        ("sidebar-ad", "advertisement"),
        ("load", ""),
        ("shadow", ""),
        ("tag-physics category-levers", ""),
        ("tag-cloud", "tags"),
        ("sidebar " + "x" * 10_000, "side"),
    ],
)
def test_words_of_classes(names: str, area: str) -> None:
    assert area_of_names(names) == area


def test_words_of_texts() -> None:
    assert "navigation" in lists_of("【首頁】")
    assert "navigation" in lists_of("« Home")
    assert not lists_of("Home" + " " * 1000)
    assert begins_with("related", "相關連結：")
    assert begins_with("noise", "Share this page")
    assert not begins_with("noise", "Shareholders met")
    assert begins_with("navigation", "Home " + "x" * 1000)
    assert holds("copyright", "本站 版權所有")
    assert holds("copyright", "uncopyrighted, copyright 2009")
    assert not holds("copyright", "copyrights and uncopyrighted")
    words = TopicWords(["Refraction of light 光的折射"])
    assert [words.is_in(text) for text in ("Refractions", "折射定律", "Mirrors", "")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert not TopicWords(["of the"]).is_in("of the")


def test_long_texts_and_classes_are_not_kept() -> None:
    topic = TopicWords(["Home"])

    def read(size: int) -> None:
        for number in range(20):
            text = f"Home {number} " + "x" * size
            begins_with("navigation", text)
            lists_of(text)
            area_of_names(text)
            topic.is_in(text)
            assert declarations(f"x: {text}; color: red").colour == "red"
            tree = read_tree(f"<p class='{number}{'x' * size}'>Levers".encode())
            Headlines(tree, Measures(tree)).level(range(1, len(tree)))
            list(described_in("div", {f"data-{number}{'x' * size}": "a"}))

    read(10)
    tracemalloc.start()
    read(50_000)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500_000


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


NAMES = ("class", "id", "style", "bgcolor", "width", "height", "color", "size")
PIECES = [*NAMES, "CLASS", "href", "data-id", "a", "=", "=", '"', '"', "'", " ", " ", "\n", "/"]
PIECES += ["<", "&amp;", "&", "\0", "é", "你", "x class=", ' id="', "1", "%", ";"]
TAGS = st.lists(st.lists(st.sampled_from(PIECES)).map("".join), min_size=1, max_size=4)


def assert_same(tree: PageTree) -> None:
    told = [found.attributes for found in drawn_tags(tree)]
    all_read = [tree.attributes(node) for node in range(len(tree))]
    for some, of in zip(told, all_read, strict=True):
        assert {n: some[n] for n in NAMES if n in some} == {n: of[n] for n in NAMES if n in of}


@given(TAGS, st.sampled_from(["utf-8", "gb18030", "utf-16-le", "iso2022_jp", "big5"]))
def test_any_start_tag_is_read_as_by_the_tree(tags: list[str], encoding: str) -> None:
    page = "".join(f"<p {tag}>x" for tag in tags).encode(encoding, "replace")
    tree = read_tree(page, encoding=encoding)
    assert_same(tree)


def test_a_quote_that_goes_with_a_character_cut_short() -> None:
    for encoding in ("gb18030", "big5", "shift_jis", "euc_kr"):
        tree = read_tree(b'<p title="\xb0" class="a" id="\x81">x', encoding=encoding)
        assert_same(tree)


def test_tags_that_differ_by_an_address_alone_are_one() -> None:
    tree = read_tree("".join(f"<a class=c href=/{i}>x</a>" for i in range(9)).encode())
    links = {found for found in drawn_tags(tree) if found.name == "a"}
    assert [link.attributes for link in links] == [{"class": "c"}]
