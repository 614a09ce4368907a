"""The eleven rules of Song et al. 2008, section 2.1, each on its own."""

from typing import NamedTuple

from mmcrawl.blocks import PageTree, read_tree
from mmcrawl.blocks.layout import TAG_TYPES, NodeType, PageStructure
from mmcrawl.blocks.partitioners import LEAST_AREAS, OTHER_LEAST_AREA, RULES, BlockRules
from mmcrawl.blocks.partitioners import bwap as bwap_rules
from tests.tables import each

LAID_OUT = "<div><p>Levers lift<p>Wheels turn</div>"
TWO_LAID_OUT = f"<div id=x>{LAID_OUT}{LAID_OUT}</div>"


class Example(NamedTuple):
    """A page whose element #x a rule decides."""

    rule: int
    html: str
    is_block: bool
    follows_block: bool = False
    min_size: float = 1.0


EXAMPLES = [
    Example(1, "<table><tr><td>Levers lift<td id=x><script>var a</script></table>", False, True, 0),
    Example(1, "<div id=x>  <br> <!-- nothing --> <span> </span></div>", False, True, 0),
    Example(2, "<a id=x href=/><p>Levers<p>Pulleys</a>", False),
    Example(3, "<div id=x>Levers and <a href=/>pulleys</a></div>", False),
    Example(4, "<table><tr><td id=x><p>Levers and <a href=/>pulleys</a></table>", False),
    Example(5, "<p id=x>|</p>", False),
    Example(5, "<p id=x style='width: 1px; height:1px'>Levers and <b>pulleys</b></p>", False),
    Example(6, "<table><tr id=x><td>Levers lift<td bgcolor=#ffcc00>Wheels turn</table>", False),
    Example(7, TWO_LAID_OUT, False, True),
    Example(8, "<p id=x>Levers and <a href=/>pulleys</a></p>", True),
    Example(9, "<div id=x>Levers and <p>pulleys</p></div>", True),
    Example(10, f"<div id=x>Levers<div>{LAID_OUT}{LAID_OUT}</div></div>", True, True),
]


def with_id(tree: PageTree, name: str = "x") -> int:
    return next(i for i in range(len(tree)) if tree.attributes(i).get("id") == name)


def is_block(html: str, follows_block: bool = False, min_size: float = 1.0) -> bool:
    tree = read_tree(html.encode())
    return BlockRules(tree, min_size).is_block(with_id(tree), follows_block)


def type_of(html: str) -> NodeType:
    tree = read_tree(html.encode())
    return PageStructure(tree).types[with_id(tree)]


def deciding_rule(html: str, follows_block: bool = False, min_size: float = 1.0) -> int:
    tree = read_tree(html.encode())
    rules, node = BlockRules(tree, min_size), with_id(tree)
    verdicts = (rule(rules, node, follows_block) for rule in RULES)
    return next((n for n, verdict in enumerate(verdicts, 1) if verdict is not None), 11)


@each("example", EXAMPLES)
def test_each_rule_decides_its_example(example: Example) -> None:
    rule, html, expected, *others = example
    assert is_block(html, *others) is expected
    assert deciding_rule(html, *others) == rule


# Without rule 1, rule 7 would say of an empty element what rule 1 says.
@each("example", [e for e in EXAMPLES if e.rule > 1])
def test_each_rule_is_missed_when_it_is_taken_away(example, monkeypatch):
    rule, html, expected, *others = example
    monkeypatch.setattr(bwap_rules, "RULES", RULES[: rule - 1] + RULES[rule:])
    assert is_block(html, *others) is not expected


def test_rule_10_comes_before_rule_7_in_tables() -> None:
    assert deciding_rule(TWO_LAID_OUT, follows_block=True) == 7
    cell = f"<table><tr><td id=x>{LAID_OUT}{LAID_OUT}</table>"
    assert deciding_rule(cell, follows_block=True) == 10
    assert deciding_rule(cell) == 7
    assert is_block(cell, follows_block=True)


def test_rule_11_no_rule_said_yes() -> None:
    html = f"<div id=x>Levers<div>{LAID_OUT}{LAID_OUT}</div></div>"
    assert not is_block(html, follows_block=False)
    assert deciding_rule(html) == 11


class TestTypes:
    def test_each_tag_has_one_type(self) -> None:
        tags = [tag for tags in TAG_TYPES.values() for tag in tags]
        assert len(tags) == len(set(tags))

    @each("tag", ["table", "p", "ul", "section", "nav", "h2", "blockquote"])
    def test_schema(self, tag: str) -> None:
        assert type_of(f"<{tag} id=x>Levers</{tag}>") == NodeType.SCHEMA

    @each("tag", ["div", "b", "big", "em", "font", "i", "strong", "u", "my-box"])
    def test_format_is_schema_once_it_holds_boxes(self, tag: str) -> None:
        assert type_of(f"<{tag} id=x>Levers <b>and</b> pulleys</{tag}>") == NodeType.FORMAT
        assert type_of(f"<{tag} id=x>Levers <p>and pulleys</{tag}>") == NodeType.SCHEMA
        assert type_of(f"<{tag} id=x><i><div>Levers</div></i></{tag}>") == NodeType.SCHEMA

    @each(
        "html",
        [
            "<a id=x href=/>Levers</a>",
            "<a id=x href=/><p>Levers<p>Pulleys</a>",
            "<form id=x>Find <input></form>",
            "<form id=x><div>Find <input></div></form>",
            "<input id=x>",
            "<img id=x src=/a.png>",
            "<button id=x><p>Go</p></button>",
            "<label id=x>Find <p>this</p></label>",
        ],
    )
    def test_function(self, html: str) -> None:
        assert type_of(html) == NodeType.FUNCTION

    def test_a_form_around_the_layout_is_schema(self) -> None:
        assert type_of("<form id=x><table><tr><td>Levers</table></form>") == NodeType.SCHEMA

    def test_an_anchor_that_nothing_ended_is_schema(self) -> None:
        assert type_of("<a id=x name=top><table><tr><td>Levers</table>") == NodeType.SCHEMA

    @each("tag", ["script", "style", "template", "noscript", "map", "hr", "td"])
    def test_what_takes_no_room_has_no_type(self, tag: str) -> None:
        page = "<p>Levers and pulleys lift what hands cannot</p>"
        html = f"{page}<{tag} id=x></{tag}>"
        assert type_of(html) == NodeType.NONE

    def test_noscript_counts_where_it_is_most_of_the_page(self) -> None:
        said = "<p>Levers and pulleys lift what hands cannot</p>"
        assert type_of(f"{said}<noscript id=x><p>Turn scripts on</noscript>") == NodeType.NONE
        assert type_of(f"Wait<noscript id=x>{said}</noscript>") == NodeType.SCHEMA


class TestRule3:
    @each("words", ["Levers and pulleys", "<a href=/>Levers and pulleys</a>"])
    def test_a_line_of_its_own_beside_boxes_may_be_a_block(self, words: str) -> None:
        html = f"<ul><li>{{}}</li><li id=x>{words}</li></ul>"
        assert is_block(html.format("<h3>Wheels</h3><p>They turn</p>"))
        assert not is_block(html.format("Wheels turn"))

    def test_words_beside_boxes_are_none(self) -> None:
        assert not is_block("<div><b id=x>Levers and pulleys</b><p>They lift</p></div>")


class TestRule4:
    @each("inside", ["Levers and pulleys", "<span>Levers and pulleys</span>"])
    def test_one_run_of_text_may_be_a_block(self, inside: str) -> None:
        assert is_block(f"<p id=x>{inside}</p>")

    @each("link", ["<a href=/>{}</a>", "<a name=top>{}</a>"])
    def test_one_link_with_text_may_be_a_block(self, link: str) -> None:
        assert is_block(f"<h2 id=x>{link.format('Levers and pulleys')}</h2>")
        assert is_block(f"<h2 id=x>{link.format('<b>Levers</b> and pulleys')}</h2>")
        assert not is_block(f"<h2 id=x>{link.format('<img src=/a.png>')}</h2>")

    @each("inside", ["<img src=/a.png>", "<button>Levers and pulleys</button>"])
    def test_one_image_or_control_is_none(self, inside: str) -> None:
        assert not is_block(f"<p id=x>{inside}</p>")

    def test_one_link_around_boxes_may_be(self) -> None:
        assert is_block("<div id=x><a href=/><h3>Levers</h3><p>They lift</p></a></div>")

    def test_what_takes_no_room_is_no_child(self) -> None:
        assert not is_block("<td id=x> <!-- --> <p>Levers</p> <script>var a</script> <br></td>")


class TestRule5:
    def test_two_characters_are_enough_for_a_cell(self) -> None:
        assert is_block("<table><tr><td id=x>42</table>")
        assert not is_block("<table><tr><td id=x>4</table>")

    def test_each_tag_has_its_least_size(self) -> None:
        assert LEAST_AREAS["p"] < OTHER_LEAST_AREA
        assert is_block("<p id=x>no</p>")
        assert not is_block("<section id=x>no</section>")

    def test_a_declared_size_comes_before_the_estimate(self) -> None:
        assert is_block("<p id=x style='width:20em; height:3em'>|</p>")
        assert is_block("<table><tr><td id=x width=300 height=60>|</table>")

    def test_half_a_declared_size_does_not_count(self) -> None:
        assert is_block("<table><tr><td id=x width=1>Levers and pulleys</table>")

    @each("min_size", [0.0, 0.4])
    def test_the_factor_lets_smaller_ones_be_blocks(self, min_size: float) -> None:
        assert is_block("<p id=x>|</p>", min_size=min_size)


class TestRule6:
    @each(
        "colour",
        [
            "bgcolor=#cc0000",
            "bgcolor='RED'",
            "style='background: #c00'",
            "STYLE=BACKGROUND-COLOR:#c00",
        ],
    )
    def test_however_the_colour_is_declared(self, colour: str) -> None:
        row = "<table><tr id=x><td>Levers lift<td {}>Wheels turn</table>"
        assert is_block(row.format(""))
        assert not is_block(row.format(colour))

    def test_the_same_colour_is_no_border(self) -> None:
        html = "<table bgcolor=#CC0000><tr id=x><td>Levers<td bgcolor=#cc0000>Wheels</table>"
        assert is_block(html)

    def test_the_colour_around_counts_for_an_element_without_its_own(self) -> None:
        html = "<body bgcolor=black><table><tr id=x><td>Levers<td bgcolor=white>Wheels</table>"
        assert not is_block(html)

    def test_white_is_the_colour_of_paper(self) -> None:
        assert is_block("<table><tr id=x><td>Levers<td bgcolor=#FFFFFF>Wheels</table>")

    def test_a_coloured_word_is_no_border(self) -> None:
        html = "<div id=x>Levers <b style='background:yellow'>lift</b>{}</div>"
        assert is_block(html.format("<p>loads</p>"))
        assert not is_block(html.format("<p style='background:yellow'>loads</p>"))

    def test_an_image_behind_is_no_colour(self) -> None:
        html = "<table><tr id=x><td>Levers<td style='background:url(a.png)'>Wheels</table>"
        assert is_block(html)


class TestRules7To9:
    def test_paragraphs_count_like_the_format_they_hold(self) -> None:
        assert is_block("<div id=x><p>Levers lift</p><p>Wheels turn</p></div>")

    def test_cells_count_for_their_table(self) -> None:
        rows = "<tr><td>Levers<td>lift</tr>" * 3
        assert is_block(f"<table id=x>{rows}</table>")
        assert is_block(f"<table id=x><tbody>{rows}</tbody><tfoot>{rows}</tfoot></table>")

    def test_one_irregular_element_deep_inside_is_enough_for_rule_9_to_fail(self) -> None:
        html = "<div id=x>Levers<div>lift<div>loads{}</div></div></div>"
        assert is_block(html.format(LAID_OUT))
        assert not is_block(html.format(f"<div>{LAID_OUT}{LAID_OUT}</div>"))

    def test_an_element_around_one_is_as_regular_as_that(self) -> None:
        html = "<div id=x>Levers<div><div>{}</div></div></div>"
        assert is_block(html.format(f"lift{LAID_OUT}"))
        assert not is_block(html.format(f"{LAID_OUT}{LAID_OUT}"))

    def test_size_and_colour_inside_do_not_count(self) -> None:
        assert is_block("<div id=x>Levers<p>|</p></div>")
        assert is_block("<div id=x>Levers<div><p>lift<p bgcolor=red>loads</div></div>")


@each("before", ["", "<html><head><title>t</title></head>", "<html>"])
def test_the_page_itself_is_a_block_only_if_there_is_nothing_to_partition(before: str) -> None:
    assert is_block(f"{before}<body id=x>Levers <b>and</b> pulleys</body>")
    assert not is_block(f"{before}<body id=x>Levers <p>and pulleys</p></body>")
    assert not is_block(f"{before}<body id=x> </body>")
