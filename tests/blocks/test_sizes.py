"""Sizes without a renderer: what is declared, and what is estimated where nothing is."""

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.layout import (
    CHARACTER_WIDTH,
    IMAGE_SIDE,
    LINE_HEIGHT,
    PAGE_WIDTH,
    Measures,
    node_sizes,
)
from tests.tables import each


def test_a_column_halved_a_thousand_times_is_still_a_column() -> None:
    tree = read_tree(b"<table><tr><td width=50%>a" * 1200)
    widths, heights = node_sizes(tree, Measures(tree))
    assert all(width >= 0 for width in widths)
    assert all(height < float("inf") for height in heights)


def size_of_x(html: str) -> tuple[float, float]:
    tree = read_tree(html.encode())
    widths, heights = node_sizes(tree, Measures(tree))
    node = next(i for i in range(len(tree)) if tree.attributes(i).get("id") == "x")
    return widths[node], heights[node]


LINE_OF_20 = "a lever is a machine"


@each(
    "declared, size",
    [
        ("WIDTH='200' HEIGHT='100px'", (200, 100)),
        ("width=20%", (PAGE_WIDTH / 5, LINE_HEIGHT)),
        ("style='width:30px;height: 3em'", (30, 48)),
        ("width=9 style='WIDTH: 30pt !important'", (40, 4 * LINE_HEIGHT)),
        ("style='max-width:30px; border-width:2px'", (PAGE_WIDTH, LINE_HEIGHT)),
        ("width=99999999999 height=*", (PAGE_WIDTH, LINE_HEIGHT)),
        ("width=-5", (PAGE_WIDTH, LINE_HEIGHT)),
        ("width=999999", (20_000, LINE_HEIGHT)),
        ("class=width style='width:calc(100% - 2px)'", (PAGE_WIDTH, LINE_HEIGHT)),
    ],
)
def test_declared_sizes(declared: str, size: tuple[float, float]) -> None:
    assert size_of_x(f"<div id=x {declared}>{LINE_OF_20}</div>") == size


@each(
    "html, size",
    [
        ("<div style='width:50%;height:80px'><div id=x style='width:50%;height:50%'>a</div></div>",
         (PAGE_WIDTH / 4, 40)),
        (f"<p id=x>{LINE_OF_20 * 3}</p>", (PAGE_WIDTH, LINE_HEIGHT)),
        (f"<div style='width:{20 * CHARACTER_WIDTH}px'><p id=x>{LINE_OF_20 * 3}</p></div>",
         (20 * CHARACTER_WIDTH, 3 * LINE_HEIGHT)),
        # inline elements share lines, boxes stand below each other, cells side by side
        ("<p id=x>a lever <b>is</b> <a href=/>a machine</a></p>", (PAGE_WIDTH, LINE_HEIGHT)),
        ("<div id=x><p>a<p>b<div><p>c</div></div>", (PAGE_WIDTH, 3 * LINE_HEIGHT)),
        ("<table><tr id=x><td width=20%>a<td><p>b<p>c<td>d</table>", (PAGE_WIDTH, 2 * LINE_HEIGHT)),
        ("<table><tr><td width=20% id=x>a<td><p>b<p>c<td>d</table>",
         (PAGE_WIDTH * 0.2, LINE_HEIGHT)),
        ("<table><tr><td width=20%>a<td id=x><p>b<p>c<td>d</table>",
         (PAGE_WIDTH * 0.4, 2 * LINE_HEIGHT)),
        ("<img id=x src=a>", (IMAGE_SIDE, IMAGE_SIDE)),
        ("<img id=x src=a width=300 height=200>", (300, 200)),
        ("<p id=x><img src=a width=1000 height=200></p>", (PAGE_WIDTH, 200)),
        ("<script id=x>var a</script>", (0, 0)),
        ("<p><b id=x></b></p>", (PAGE_WIDTH, 0)),
    ],
)  # fmt: skip
def test_estimated_sizes(html: str, size: tuple[float, float]) -> None:
    assert size_of_x(html) == size
