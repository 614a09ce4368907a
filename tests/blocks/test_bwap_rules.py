"""The eleven rules of Song et al. 2008, section 2.1: what each says of the element #x."""

from mmcrawl.blocks import PageTree, read_tree
from mmcrawl.blocks.partitioners import RULES, BlockRules
from tests.tables import each

LAID_OUT = "<div><p>Levers lift<p>Wheels turn</div>"
TWO = f"{LAID_OUT}{LAID_OUT}"
IN_CELL = f"<table><tr><td id=x>{TWO}</table>"
CELLS = "<tr><td>Levers<td>lift</tr>" * 3


def with_id(tree: PageTree) -> int:
    return next(i for i in range(len(tree)) if tree.attributes(i).get("id") == "x")


def verdict(html: str, follows_block: bool = False, min_size: float = 1.0) -> tuple[int, bool]:
    """Return the number of the rule that decides, and whether #x is a block."""
    tree = read_tree(html.encode())
    rules, node = BlockRules(tree, min_size), with_id(tree)
    said = (rule(rules, node, follows_block) for rule in RULES)
    decides = next((n for n, answer in enumerate(said, 1) if answer is not None), 11)
    return decides, rules.is_block(node, follows_block)


@each(
    "rule, html, follows_block, min_size",
    [
        (1, "<table><tr><td>Levers lift<td id=x><script>var a</script></table>", True, 0),
        (1, "<div id=x>  <br> <!-- nothing --> <span> </span></div>", True, 0),
        (2, "<a id=x href=/><p>Levers<p>Pulleys</a>", False, 1),
        (3, "<div id=x>Levers and <a href=/>pulleys</a></div>", False, 1),
        (4, "<table><tr><td id=x><p>Levers and <a href=/>pulleys</a></table>", False, 1),
        (5, "<p id=x>|</p>", False, 1),
        (5, "<p id=x style='width: 1px; height:1px'>Levers and <b>pulleys</b></p>", False, 1),
        (6, "<table><tr id=x><td>Levers lift<td bgcolor=#ffcc00>Wheels turn</table>", False, 1),
        (7, f"<div id=x>{TWO}</div>", True, 1),
        (7, IN_CELL, False, 1),
        (-8, "<p id=x>Levers and <a href=/>pulleys</a></p>", False, 1),
        (-9, "<div id=x>Levers and <p>pulleys</p></div>", False, 1),
        (-10, f"<div id=x>Levers<div>{TWO}</div></div>", True, 1),
        (-10, IN_CELL, True, 1),  # before rule 7
        (11, f"<div id=x>Levers<div>{TWO}</div></div>", False, 1),
    ],
)
def test_each_rule_decides_its_example(rule, html, follows_block, min_size):
    """A number below 0 is of a rule that says yes."""
    assert verdict(html, follows_block, min_size) == (abs(rule), rule < 0)


@each(
    "html, is_block",
    [
        # Rule 3: a line of its own beside boxes.
        ("<ul><li><h3>Wheels</h3><p>They turn</p></li><li id=x>Levers and pulleys</li></ul>", True),
        ("<ul><li><p>They turn</p></li><li id=x><a href=/>Levers and</a></li></ul>", True),
        ("<ul><li>Wheels turn</li><li id=x>Levers and pulleys</li></ul>", False),
        ("<div><b id=x>Levers and pulleys</b><p>They lift</p></div>", False),
        # Rule 4: one run of text or one link is not lost, one image or control is no block.
        ("<p id=x>Levers and pulleys</p>", True),
        ("<p id=x><span>Levers and pulleys</span></p>", True),
        ("<h2 id=x><a href=/><b>Levers</b> and pulleys</a></h2>", True),
        ("<h2 id=x><a name=top>Levers and pulleys</a></h2>", True),
        ("<div id=x><a href=/><h3>Levers</h3><p>They lift</p></a></div>", True),
        ("<h2 id=x><a href=/><img src=/a.png></a></h2>", False),
        ("<p id=x><img src=/a.png></p>", False),
        ("<p id=x><button>Levers and pulleys</button></p>", False),
        ("<table><td id=x> <!-- --> <p>Levers</p> <script>var a</script> <br></td>", False),
        # Rule 5: least sizes by tag; both declared sizes come before the estimate.
        ("<table><tr><td id=x>42</table>", True),
        ("<table><tr><td id=x>4</table>", False),
        ("<p id=x>no</p>", True),
        ("<section id=x>no</section>", False),
        ("<p id=x style='width:20em; height:3em'>|</p>", True),
        ("<table><tr><td id=x width=1>Levers and pulleys</table>", True),
        # Rule 6: the background of what is laid out.
        ("<table><tr id=x><td>Levers lift<td>Wheels turn</table>", True),
        ("<table><tr id=x><td>Levers lift<td STYLE=BACKGROUND-COLOR:#c00>Wheels</table>", False),
        ("<table bgcolor=#CC0000><tr id=x><td>Levers<td bgcolor=#cc0000>Wheels</table>", True),
        ("<body bgcolor=black><table><tr id=x><td>Levers<td bgcolor=white>Wheels</table>", False),
        ("<table><tr id=x><td>Levers<td bgcolor=#FFFFFF>Wheels</table>", True),
        ("<div id=x>Levers <b style='background:yellow'>lift</b><p>loads</p></div>", True),
        ("<div id=x>Levers <b>lift</b><p style='background:yellow'>loads</p></div>", False),
        ("<table><tr id=x><td>Levers<td style='background:url(a.png)'>Wheels</table>", True),
        # Rules 7 to 9.
        ("<div id=x><p>Levers lift</p><p>Wheels turn</p></div>", True),
        (f"<table id=x><tbody>{CELLS}</tbody><tfoot>{CELLS}</tfoot></table>", True),
        (f"<div id=x>Levers<div>lift<div>loads{LAID_OUT}</div></div></div>", True),
        (f"<div id=x>Levers<div>lift<div>loads<div>{TWO}</div></div></div></div>", False),
        (f"<div id=x>Levers<div><div>lift{LAID_OUT}</div></div></div>", True),
        (f"<div id=x>Levers<div><div>{TWO}</div></div></div>", False),
        ("<div id=x>Levers<div><p>|<p bgcolor=red>loads</div></div>", True),
        # The page itself, if there is nothing to partition.
        ("<html><head><title>t</title></head><body id=x>Levers <b>and</b> pulleys</body>", True),
        ("<html><body id=x>Levers <p>and pulleys</p></body>", False),
        ("<body id=x> </body>", False),
    ],
)
def test_what_is_decided_where_the_paper_is_silent(html: str, is_block: bool) -> None:
    assert verdict(html)[1] is is_block


def test_the_factor_lets_smaller_ones_be_blocks() -> None:
    assert [verdict("<p id=x>|</p>", min_size=size)[1] for size in (0.4, 0.6)] == [True, False]
