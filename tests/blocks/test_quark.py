"""Blocks by the classes of their tags, bottom-up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import TEXT, partition, read_tree
from mmcrawl.blocks.layout import Measures
from mmcrawl.blocks.partitioners import TAG_CLASSES, Quark
from mmcrawl.errors import BlockError
from tests.growth import assert_linear
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


def cuts(body: str, **options: str | float) -> list[tuple[str, str]]:
    """Return path and text of each block of a page with this body."""
    html = f"<html><body>{body}</body></html>"
    page = partition(html.encode(), method="quark", **options)
    assert page.splice() == html.encode()
    return [(block.path.removeprefix("html/"), block.text) for block in page.blocks]


def paths(body: str) -> list[str]:
    return [path for path, _ in cuts(body)]


def contents(html: str, **options: str | float) -> list[str]:
    return [b.content.decode() for b in partition(html.encode(), method="quark", **options).blocks]


def test_each_tag_of_the_thesis_is_in_its_class_only() -> None:
    for name, tags in THESIS.items():
        assert set(tags.split()) <= TAG_CLASSES[name]
    tags = [tag for tags in TAG_CLASSES.values() for tag in tags]
    assert len(tags) == len(set(tags))


def test_divisions_with_enough_text_are_blocks_and_small_ones_ripen_what_is_around_them() -> None:
    assert cuts(f"<div>{LONG}</div><div>{OTHER}</div>") == [
        ("body/div", LONG.strip()),
        ("body/div[2]", OTHER.strip()),
    ]
    small = "".join(f"<div>{LONG[i : i + 25]}</div>" for i in range(0, 125, 25))
    assert paths(f"<div>{OTHER}</div><div>{small}</div>") == ["body/div", "body/div[2]"]
    taken = f"<div>short<table><tr><td>{LONG}</table></div>"  # ripens nothing around it
    assert cuts(taken) == [("html", "short"), ("body/div/table/tr/td", LONG.strip())]


def test_the_threshold_of_text_is_an_option() -> None:
    body = "<div>twelve chars</div><div>not so</div>"
    assert cuts(body, min_text=12) == [("body/div", "twelve chars"), ("html", "not so")]
    assert cuts(body, min_text="13") == [("body", "twelve chars not so")]
    assert cuts(body, min_text="20") == [("html", "twelve chars not so")]


def test_several_layout_tags_ripen_a_division_of_little_text() -> None:
    menu = "<div><ul><li>Home<li>News<li>Shop</ul></div>"
    body = f"{menu}<div>{LONG}</div><div><span>Home</span> <span>News</span></div>"
    assert cuts(body) == [
        ("body/div", "Home News Shop"),
        ("body/div[2]", LONG.strip()),
        ("html", "Home News"),
    ]
    assert cuts(body, min_layout_share="1.1")[0] == ("html", "Home News Shop")
    assert paths(f"<div><p>Home</p></div><div>{LONG}</div>") == ["html", "body/div[2]"]
    # Without content they are no block, but are handed up.
    handed_up = f"<div>Home<div><br><br></div></div><div>{LONG}</div>"
    assert paths(handed_up) == ["body/div", "body/div[2]"]


def test_script_style_head_and_players_are_blocks_of_their_own() -> None:
    head = "<html><head><title>t</title><style>p {}</style></head>"
    parts = ["<title>t</title>", "<style>p {}</style>", LONG, "<script>f()</script>", OTHER]
    assert contents(f"{head}<body><p>{LONG}<script>f()</script>{OTHER}</body></html>") == parts
    player = "<object><param name=a><embed src=x.swf><p>no player</object>"
    assert contents(f"<html><body>{player}<p>text</p></body></html>") == [player, "<p>text</p>"]


def test_what_is_left_between_blocks_is_cut_in_runs() -> None:
    inner = f"<div>{OTHER}</div>"
    html = f"<html><body><div><h1>Levers</h1>{LONG}{inner}<i></i>{inner}<p>{LONG}</p></div></body>"
    page = partition(html.encode(), method="quark")
    outer = ["<h1>Levers</h1>" + LONG, f"<p>{LONG}</p>"]
    assert [b.content.decode() for b in page.blocks if b.path == "html/body/div"] == outer
    assert b"<i></i>" in page.layout  # bare markup between two blocks


def test_a_page_without_html_element_and_what_no_reader_sees() -> None:
    assert contents("just text") == ["just text"]
    assert contents(f"before<div>{LONG}</div>") == ["before", f"<div>{LONG}</div>"]
    hidden = "<noscript><div><img src=count.gif></div></noscript><input type=hidden>"
    html = f"<html><body><div>{LONG}</div>{hidden}<a name=top></a></body></html>"
    assert contents(html) == [f"<div>{LONG}</div>"]
    html = f"<html><body><div>{LONG}</div><img src=x.png></body></html>"
    assert contents(html)[1:] == ["<img src=x.png>"]


def test_custom_tags_are_blocks() -> None:
    html = f"<html><head><title>t</title></head><body><div><h1>Levers</h1>{LONG}</div></body>"
    assert contents(html) == ["<head><title>t</title></head>", f"<div><h1>Levers</h1>{LONG}</div>"]
    parts = ["<title>t</title>", "<h1>Levers</h1>", LONG]
    assert contents(html, custom_tags="h1, TITLE") == parts
    assert contents(html, custom_tags=["h1"])[1:] == parts[1:]


def test_custom_text_parts_a_line_of_its_own_from_headline_and_body() -> None:
    line = "<p><i>2008-03-12</i> 来源：<b>新华网</b></p>"
    assert cuts(
        f"<div><h1>杠杆</h1>{line}<p>{LONG}</p></div>", custom_text=r"^\d{4}-\d\d-\d\d 来源"
    ) == [
        ("body/div", "杠杆"),
        ("body/div/p", "2008-03-12 来源：新华网"),
        ("body/div", LONG.strip()),
    ]
    inline = f"<div><span>2008-03-12</span>{LONG}<p>{OTHER}</p></div>"
    assert len(cuts(inline, custom_text="2008")) == 1  # the division, not the span
    assert cuts(inline, custom_text="^Pulleys")[1] == ("body/div/p", OTHER.strip())
    late = f"<div>{OTHER}<p>{LONG}{LONG} 2008-03-12</p></div>"
    for body in (late, late.replace("to", "<b>to</b>")):  # it is looked for at the front only
        assert [len(cuts(body, custom_text=text)) for text in ("2008", "Archimedes")] == [1, 2]


@each(
    "options, said",
    [
        ({"custom_text": "(["}, "custom_text is no regular expression"),
        ({"custom_tags": "<h1>"}, "custom_tags must be names"),
        ({"min_text": "many"}, "min_text must be a number"),
        ({"min_text": 0}, "min_text must be at least 1"),
        ({"min_layout_share": float("nan")}, "min_layout_share must be at least 0"),
    ],
)
def test_bad_options_are_named(options: dict[str, str], said: str) -> None:
    with pytest.raises(BlockError, match=said):
        partition(b"", method="quark", **options)


TAGS = (
    "div p td tr table ul li a b h1 html body head title script style noscript object fieldset "
    "frameset svg select img br form input template iframe span"
).split()
PIECES = [*(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS)]
PIECES += ["<a href=x>", "word", "力学", " ", "2008-03-12", LONG, "<!-- c -->", "&lt;", "<", ">"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.sampled_from(["", "h1 span option title", "a select script embed"]),
)
def test_no_text_is_lost_and_no_blocks_overlap(html: str, custom_tags: str) -> None:
    tree = read_tree(html.encode())
    hidden = Measures(tree).hidden
    found = Quark(custom_tags=custom_tags, custom_text="2008", min_text=20)(tree, 1)
    end = 0
    for cut in found:
        assert end <= cut.start < cut.end <= len(tree.body)
        end = cut.end
        assert tree.starts[cut.node] <= cut.start
        assert cut.end <= tree.ends[cut.node]
    for node, tag in enumerate(tree.tags):
        if tag == TEXT and not hidden[node] and tree.text(node):
            assert any(c.start <= tree.starts[node] and tree.ends[node] <= c.end for c in found)


@each("opened", ["<div>word ", f"<span>word <div>{LONG}</div>"])
def test_deep_pages_take_linear_time(opened: str) -> None:
    trees = {size: read_tree((opened * size).encode()) for size in (2_000, 8_000)}
    assert_linear(lambda size: Quark(custom_text="2008")(trees[size], 1), 2_000)
