"""Blocks by the classes of their tags, bottom-up."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import TEXT, partition, read_tree
from mmcrawl.blocks.layout import Measures
from mmcrawl.blocks.partitioners import TAG_CLASSES, Quark
from mmcrawl.errors import BlockError
from tests.tables import each

LONG = "The law of the lever was known to Archimedes, who wrote of it at length. " * 2
OTHER = "Pulleys share a load among several lengths of rope, as sailors know well. " * 2

# The lists of the thesis, section 3.1, but for what it lists twice.
THESIS = {
    "S": "head script style object fieldset frameset iframe",
    "B": "div td table form center noframes noscript pre body html",
    "L": "p ul ol dl dir li dt blockquote address br hr col colgroup img menu select",
    "D": "a abbr acronym area b base basefont bdo big button caption cite code dd del dfn em font "
    "h1 h2 h3 h4 h5 h6 i ins kbd small strike strong sub sup q s samp span thead tfoot textarea u "
    "tt var o:smarttagtype",
    "A": "frame input isindex legend link map meta option optgroup param th tr tbody title",
}


def cuts(html: str, **options: str | float) -> list[tuple[str, str]]:
    """Return path and text of each block."""
    page = partition(html.encode(), method="quark", **options)
    assert page.splice() == html.encode()
    return [(block.path, block.text) for block in page.blocks]


def contents(html: str, **options: str | float) -> list[str]:
    return [b.content.decode() for b in partition(html.encode(), method="quark", **options).blocks]


@each("name", THESIS)
def test_the_tags_of_the_thesis_are_in_its_classes(name: str):
    assert set(THESIS[name].split()) <= TAG_CLASSES[name]


def test_every_tag_is_in_one_class():
    tags = [tag for tags in TAG_CLASSES.values() for tag in tags]
    assert len(tags) == len(set(tags))


def test_divisions_with_enough_text_are_blocks():
    html = f"<html><body><div>{LONG}</div><div>{OTHER}</div></body></html>"
    assert cuts(html) == [("html/body/div", LONG.strip()), ("html/body/div[2]", OTHER.strip())]


def test_small_divisions_ripen_the_element_around_them():
    small = "".join(f"<div>{LONG[i : i + 25]}</div>" for i in range(0, 125, 25))
    html = f"<html><body><div>{OTHER}</div><div>{small}</div></body></html>"
    assert [path for path, _ in cuts(html)] == ["html/body/div", "html/body/div[2]"]


def test_text_that_a_block_took_does_not_ripen_what_is_around_it():
    html = f"<html><body><div>short<table><tr><td>{LONG}</table></div></body></html>"
    assert cuts(html) == [("html", "short"), ("html/body/div/table/tr/td", LONG.strip())]


def test_threshold_of_text_is_an_option():
    html = "<html><body><div>twelve chars</div><div>not so</div></body></html>"
    assert cuts(html, min_text=12) == [("html/body/div", "twelve chars"), ("html", "not so")]
    assert cuts(html, min_text="13") == [("html/body", "twelve chars not so")]
    assert cuts(html, min_text="20") == [("html", "twelve chars not so")]


def test_layout_tags_ripen_a_division_of_little_text():
    menu = "<div><ul><li>Home<li>News<li>Shop</ul></div>"
    html = f"<html><body>{menu}<div>{LONG}</div><div><span>Home</span> <span>News</span></div>"
    assert cuts(html) == [
        ("html/body/div", "Home News Shop"),
        ("html/body/div[2]", LONG.strip()),
        ("html", "Home News"),
    ]
    assert cuts(html, min_layout_share="1.1")[0] == ("html", "Home News Shop")


def test_one_layout_tag_ripens_nothing():
    html = f"<html><body><div><p>Home</p></div><div>{LONG}</div></body></html>"
    assert [path for path, _ in cuts(html)] == ["html", "html/body/div[2]"]


def test_layout_tags_without_content_are_no_block_but_are_handed_up():
    html = f"<html><body><div>Home<div><br><br></div></div><div>{LONG}</div></body></html>"
    assert [path for path, _ in cuts(html)] == ["html/body/div", "html/body/div[2]"]


def test_script_style_and_head_are_blocks_of_their_own():
    html = (
        "<html><head><title>t</title><style>p {}</style></head>"
        f"<body><p>{LONG}<script>f()</script>{OTHER}</body></html>"
    )
    assert contents(html) == [
        "<title>t</title>",
        "<style>p {}</style>",
        LONG,
        "<script>f()</script>",
        OTHER,
    ]


def test_a_player_and_its_fallback_are_one_block():
    player = "<object><param name=a><embed src=x.swf><p>no player</object>"
    html = f"<html><body>{player}<p>text</p></body></html>"
    assert contents(html) == [player, "<p>text</p>"]


def test_what_is_left_between_blocks_is_cut_in_runs():
    inner = f"<div>{OTHER}</div>"
    html = f"<html><body><div><h1>Levers</h1>{LONG}{inner}<i></i>{inner}<p>{LONG}</p></div></body>"
    page = partition(html.encode(), method="quark")
    outer = ["<h1>Levers</h1>" + LONG, f"<p>{LONG}</p>"]
    assert [b.content.decode() for b in page.blocks if b.path == "html/body/div"] == outer
    assert b"<i></i>" in page.layout  # bare markup between two blocks


def test_a_page_without_html_element_is_closed_by_its_root():
    assert cuts("just text") == [("", "just text")]
    assert cuts(f"before<div>{LONG}</div>") == [("", "before"), ("div", LONG.strip())]
    assert cuts("") == []


def test_what_no_reader_sees_is_in_no_block_but_images_are():
    hidden = "<noscript><div><img src=count.gif></div></noscript><input type=hidden>"
    html = f"<html><body><div>{LONG}</div>{hidden}<a name=top></a></body></html>"
    assert contents(html) == [f"<div>{LONG}</div>"]
    html = f"<html><body><div>{LONG}</div><img src=x.png></body></html>"
    assert contents(html)[1:] == ["<img src=x.png>"]


def test_custom_tags_are_blocks():
    html = f"<html><head><title>t</title></head><body><div><h1>Levers</h1>{LONG}</div></body>"
    assert contents(html) == ["<head><title>t</title></head>", f"<div><h1>Levers</h1>{LONG}</div>"]
    page = partition(html.encode(), method="quark", custom_tags="h1, TITLE")
    assert [block.path for block in page.blocks] == [
        "html/head/title",
        "html/body/div/h1",
        "html/body/div",
    ]
    assert cuts(html, custom_tags=["h1"])[1] == ("html/body/div/h1", "Levers")


def test_a_date_line_can_be_told_from_headline_and_body():
    html = (
        "<html><body><div><h1>杠杆原理</h1><p><i>2008-03-12</i> 来源：<b>新华网</b></p>"
        f"<p>{LONG}</p></div></body></html>"
    )
    assert len(cuts(html)) == 1
    assert cuts(html, custom_text=r"^\d{4}-\d\d-\d\d 来源") == [
        ("html/body/div", "杠杆原理"),
        ("html/body/div/p", "2008-03-12 来源：新华网"),
        ("html/body/div", LONG.strip()),
    ]


def test_custom_text_is_for_elements_that_set_out_text():
    html = f"<html><body><div><span>2008-03-12</span>{LONG}<p>{OTHER}</p></div></body></html>"
    assert len(cuts(html, custom_text="2008")) == 1  # the division, not the span
    assert cuts(html, custom_text="^Pulleys")[1] == ("html/body/div/p", OTHER.strip())


def test_custom_text_is_looked_for_at_the_front_of_an_element():
    html = f"<html><body><div>{OTHER}<p>{LONG}{LONG} 2008-03-12</p></div></body></html>"
    assert len(cuts(html, custom_text="2008")) == 1
    assert len(cuts(html, custom_text="Archimedes")) == 2
    html = html.replace("to", "<b>to</b>")
    assert len(cuts(html, custom_text="2008")) == 1


@each(
    "options, said",
    [
        ({"custom_text": "(["}, "custom_text is no regular expression"),
        ({"custom_tags": "<h1>"}, "custom_tags must be names"),
        ({"min_text": "many"}, "min_text must be a number"),
        ({"min_text": 0}, "min_text must be at least 1"),
        ({"min_layout_share": "-0.1"}, "min_layout_share must be at least 0"),
        ({"min_layout_share": float("nan")}, "min_layout_share must be at least 0"),
    ],
)
def test_bad_options_are_named(options: dict[str, str], said: str):
    with pytest.raises(ValueError, match=said):
        Quark(**options)
    with pytest.raises(BlockError, match=said):
        partition(b"", method="quark", **options)


TAGS = sorted(
    {"div", "p", "td", "tr", "table", "ul", "li", "a href=x", "b", "h1", "html", "body", "head"}
    | {"title", "script", "style", "noscript", "object", "fieldset", "frameset", "svg", "select"}
    | {"img", "br", "form", "input", "template", "iframe", "span"}
)
soup = st.lists(
    st.one_of(
        st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag.split()[0]}>" for tag in TAGS]),
        st.sampled_from(["word", "力学", " ", "2008-03-12", LONG, "<!-- c -->", "&lt;", "<", ">"]),
    ),
    max_size=40,
).map("".join)


@given(soup, st.sampled_from(["", "h1 span option title", "a select script embed"]))
def test_no_text_is_lost_and_no_blocks_overlap(html: str, custom_tags: str):
    tree = read_tree(html.encode())
    hidden = Measures(tree).hidden
    found = Quark(custom_tags=custom_tags, custom_text="2008", min_text=20)(tree, 1)
    end = 0
    for cut in found:
        assert end <= cut.start < cut.end <= len(tree.body)
        end = cut.end
        assert tree.starts[cut.node] <= cut.start
        assert cut.end <= tree.ends[cut.node]
    seen = [i for i, tag in enumerate(tree.tags) if tag == TEXT and not hidden[i] and tree.text(i)]
    for node in seen:
        assert any(c.start <= tree.starts[node] and tree.ends[node] <= c.end for c in found)


@each("opened", ["<div>word ", f"<div>{LONG}", f"<span>word <div>{LONG}</div>"])
def test_deep_pages_take_linear_time(opened: str):
    tree = read_tree((opened * 20_000).encode())
    started = time.process_time()
    Quark(custom_text="2008")(tree, 1)
    assert time.process_time() - started < 10  # half a second; quadratic work takes minutes
