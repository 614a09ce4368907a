"""Sizes without a renderer: what is declared, and what is estimated where nothing is."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.layout import (
    CHARACTER_WIDTH,
    IMAGE_SIDE,
    LINE_HEIGHT,
    PAGE_WIDTH,
    Measures,
    declared_size,
    node_sizes,
)
from tests.tables import each


def test_a_column_halved_a_thousand_times_is_still_a_column() -> None:
    tree = read_tree(b"<table><tr><td width=50%>a" * 2000)
    widths, heights = node_sizes(tree, Measures(tree))
    assert all(width >= 0 for width in widths)
    assert all(height < float("inf") for height in heights)


def size_of_x(html: str, encoding: str = "utf-8") -> tuple[float, float]:
    tree = read_tree(html.encode(encoding), encoding=encoding)
    widths, heights = node_sizes(tree, Measures(tree))
    node = next(i for i in range(len(tree)) if tree.attributes(i).get("id") == "x")
    return widths[node], heights[node]


LINE_OF_20 = "a lever is a machine"


@each(
    "declared, size",
    [
        ("width=200 height=100", (200, 100)),
        ("WIDTH='200' HEIGHT='100px'", (200, 100)),
        ("width=20%", (PAGE_WIDTH / 5, LINE_HEIGHT)),
        ("style='width:30px;height: 3em'", (30, 48)),
        ("width=9 style='WIDTH: 30pt !important'", (40, 4 * LINE_HEIGHT)),
        ("style='max-width:30px; border-width:2px'", (PAGE_WIDTH, LINE_HEIGHT)),
        ("width=auto height=*", (PAGE_WIDTH, LINE_HEIGHT)),
        ("width=99999999999", (PAGE_WIDTH, LINE_HEIGHT)),
        ("width=-5", (PAGE_WIDTH, LINE_HEIGHT)),
        ("width=999999", (20_000, LINE_HEIGHT)),
        ("style='width:calc(100% - 2px)'", (PAGE_WIDTH, LINE_HEIGHT)),
        ("class=width", (PAGE_WIDTH, LINE_HEIGHT)),
    ],
)
def test_declared_sizes(declared: str, size: tuple[float, float]) -> None:
    assert size_of_x(f"<div id=x {declared}>{LINE_OF_20}</div>") == size


def test_percentages_are_those_of_the_parent() -> None:
    html = "<div style='width:50%;height:80px'><div id=x style='width:50%;height:50%'>a</div></div>"
    assert size_of_x(html) == (PAGE_WIDTH / 4, 40)


def test_text_is_set_in_lines() -> None:
    assert size_of_x(f"<p id=x>{LINE_OF_20 * 3}</p>")[1] == LINE_HEIGHT
    narrow = f"<div style='width:{20 * CHARACTER_WIDTH}px'><p id=x>{{}}</p></div>"
    assert size_of_x(narrow.format(LINE_OF_20 * 3)) == (20 * CHARACTER_WIDTH, 3 * LINE_HEIGHT)


def test_inline_elements_share_lines() -> None:
    assert size_of_x("<p id=x>a lever <b>is</b> <a href=/>a machine</a></p>")[1] == LINE_HEIGHT


def test_boxes_stand_below_each_other() -> None:
    assert size_of_x("<div id=x><p>a<p>b<div><p>c</div></div>")[1] == 3 * LINE_HEIGHT


def test_cells_stand_side_by_side() -> None:
    row = "<table><tr id={}><td width=20% id={}>a<td id={}><p>b<p>c<td>d</table>"
    assert size_of_x(row.format("x", "", "")) == (PAGE_WIDTH, 2 * LINE_HEIGHT)
    assert size_of_x(row.format("", "x", ""))[0] == PAGE_WIDTH * 0.2
    assert size_of_x(row.format("", "", "x"))[0] == PAGE_WIDTH * 0.4


def test_images() -> None:
    assert size_of_x("<img id=x src=a>") == (IMAGE_SIDE, IMAGE_SIDE)
    assert size_of_x("<img id=x src=a width=300 height=200>") == (300, 200)
    assert size_of_x("<p id=x><img src=a width=1000 height=200></p>")[1] == 200


@each("html", ["<script id=x>var a</script>", "<p><b id=x></b></p>"])
def test_what_shows_nothing_has_no_height(html: str) -> None:
    assert size_of_x(html)[1] == 0


def test_declared_size_alone() -> None:
    tree = read_tree(b"<td width=30% height=20>a")
    assert declared_size(tree, 1) == (0, 20)
    assert declared_size(tree, 1, (500, 0)) == (150, 20)


@given(st.lists(st.sampled_from(["<td>", "<tr>", "<table>", "<div>", "</div>", "a", "<img>"])))
def test_every_node_has_a_size(pieces: list[str]) -> None:
    tree = read_tree("".join(pieces).encode())
    widths, heights = node_sizes(tree, Measures(tree))
    assert len(widths) == len(heights) == len(tree)
    assert all(width >= 0 for width in widths)
    assert all(height >= 0 for height in heights)
