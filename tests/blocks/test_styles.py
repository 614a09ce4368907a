"""What the markup and the style sheets of a page say of how it looks."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import TEXT, read_tree
from mmcrawl.blocks.layout import RULES_PER_KEY, Measures, Sheets, Style, node_styles
from tests.growth import assert_linear, least_of_three
from tests.tables import each


def styles_of(page: bytes, sheets: Sheets = ()) -> list[Style]:
    """Return the styles of all nodes."""
    tree = read_tree(page)
    return node_styles(tree, Measures(tree), sheets)


def style_of(html: str, text: str = "x", sheets: Sheets = ()) -> Style:
    """Return the style of the run of text that says `text`."""
    tree = read_tree(html.encode())
    styles = node_styles(tree, Measures(tree), sheets)
    (node,) = (i for i in range(len(tree)) if tree.tags[i] == TEXT and tree.text(i) == text)
    return styles[node]


def colour(css: str, html: str) -> str:
    return style_of(f"<style>{css}</style>{html}").look.colour


def test_the_nearest_rule_wins():
    linked = {"site.css": "p { color: red; background: white }"}
    link, sheet = "<link rel=stylesheet href=site.css>", "<style>p { color: green }</style>"
    assert style_of(f"{link}<p>x", sheets=linked).look.colour == "red"
    assert style_of(f"{link}{sheet}<p>x", sheets=linked).look.colour == "green"
    own = style_of(f"{link}{sheet}<p style='color: blue'>x", sheets=linked)
    assert own.look.colour == "blue"
    assert own.look.background == "white"
    unnamed = style_of("<style>p{color:green}</style><p>x", sheets=["p{color:red}"])
    assert unnamed.look.colour == "green"


def test_attributes_of_old_pages_count_and_what_is_not_declared_is_that_of_the_element_around():
    look = style_of("<td bgcolor=#eeeeee><font size=5 color=navy>x</font>").look
    assert look == (24.0, "navy", "#eeeeee")
    around = style_of("<div style='color:red;font-weight:bold'><p><i>x</i>")
    assert around == ((16.0, "red", ""), True)


@each(
    "html, bold",
    [
        ("<b>x", True),
        ("<h3>x", True),
        ("<p>x", False),
        ("<p style='font: bold 12px serif'>x", True),
        ("<p style='font-weight: 700'>x", True),
        ("<b style='font-weight: normal'>x", False),
        ("<div style='font-weight:bold'><p style='font-weight: 400'>x", False),
    ],
)
def test_weight(html: str, bold: bool):
    assert style_of(html).bold is bold


@each(
    "selector, html, matches",
    [
        ("*", "<p>x", True),
        (".a", "<p class='b a'>x", True),
        ("#a", "<p id=a>x", True),
        ("p.a.b", "<p class='a b'>x", True),
        ("p.a.b", "<p class=a>x", False),
        ("div.a", "<p class=a>x", False),
        ("P, .q", "<p>x", True),
        (".a p", "<div class=a>y</div><p>x", False),
        (".a > p", "<div class=a><div><p>x", False),
        (".a>div p", "<div class=a><div><div><p>x", True),
        (".a .b .c", "<i class=a><i class=b><i class=c>x", True),
        (".a .b .c", "<i class=b><i class=a><i class=c>x", False),
        (".a .a", "<i class=a>x", False),
        ("p:hover", "<p>x", False),
        ("p[title]", "<p title=t>x", False),
        ("h1 + p", "<h1>y</h1><p>x", False),
        ("> p", "<p>x", False),
    ],
)
def test_selectors(selector: str, html: str, matches: bool):
    assert (colour(f"{selector} {{color: red}}", html) == "red") is matches


def test_the_more_specific_rule_wins_then_the_later():
    assert colour("p.a{color:red} p{color:green}", "<p class=a>x") == "red"
    assert colour(".a{color:red} .b{color:green}", "<p class='b a'>x") == "green"
    assert colour("#i{color:red} div p.a{color:green}", "<div><p id=i class=a>x") == "red"


def test_of_each_property_the_winner_counts_by_itself():
    css = "p.a{color:red;font-size:20px} p{color:green;background:blue} .a.a{font-weight:bold}"
    found = style_of(f"<style>{css} .a{{font-size:9px}}</style><p class=a>x")
    assert found == ((20.0, "red", "blue"), True)
    css = ".a{color:red;background:white} .b{color:green} .a{background:black}"
    assert style_of(f"<style>{css}</style><p class='a b'>x").look[1:] == ("green", "black")


def test_what_is_declared_last_takes_back_what_was_before():
    around = "<style>div{color:red} p{color:blue} p{color:inherit}</style><div>"
    assert style_of(f"{around}<p>x").look.colour == "red"
    assert style_of("<style>p{background:red}</style><p style='background:url(a)'>x").look[2] == ""


@each(
    "page",
    [
        lambda n: "<style>p{color:red;x:" + "A" * 4 * n + "}</style>" + "<p>x" * n,
        lambda n: "<style>" + ".a{x:y;color:c}" * (n // 2) + "</style>" + "<p class=a>x" * n,
        lambda n: "<style>.a{color:" + "A" * 20 * n + "}</style>" + "<p class=a>x" * n,
        lambda n: "<p style='font:" + " " * 3 * n + "'>x",
    ],
)
def test_rules_are_not_read_again_for_each_element(page: Callable[[int], str]):
    assert_linear(lambda n: styles_of(page(n).encode()), 1000)


def test_classes_of_an_element_are_gathered_once():
    tree = read_tree(f"<p class='c {' '.join(f'e{i}' for i in range(40_000))}'>x".encode())
    rules = [f".c.d{i}{{color:red}}" for i in range(RULES_PER_KEY)]
    one, all_of_them = (
        least_of_three(lambda s: node_styles(tree, Measures(tree), s), s)
        for s in (rules[:1], rules)
    )
    assert all_of_them < 4 * one


def test_rules_for_print_and_fonts_are_left_out():
    css = "@media print{p{color:red}} @font-face{color:red} @media screen{p{color:green}}"
    assert colour(css, "<p>x") == "green"
    assert colour("@import url(a.css); p{color:green}", "<p>x") == "green"
    assert colour("/* p{color:red} */ p{color:green; content:'}p{color:red}'}", "<p>x") == "green"


@given(st.text(alphabet="p.a#b>*{}:;,@ color:red/*'\"", max_size=80))
def test_no_sheet_is_too_broken(css: str):
    assert style_of("<p class=a id=b>x", sheets=[css]).look.size > 0


def test_of_too_many_rules_for_a_name_the_last_count():
    css = "".join(f".u{i} p{{color:c{i}}}" for i in range(RULES_PER_KEY + 1))
    assert colour(css, f"<div class=u{RULES_PER_KEY}><p>x") == f"c{RULES_PER_KEY}"
    assert colour(css, "<div class=u0><p>x") == ""
