"""What the links of a page say."""

from mmcrawl.blocks import Cut, PageBlocks, PageTree, Partition, partition, read_tree
from mmcrawl.blocks.layout import LONGEST_LINK_TEXT, Measures, PageFeatures, PageText
from tests.growth import assert_linear
from tests.tables import each


def read(html: str) -> tuple[PageTree, Measures]:
    tree = read_tree(html.encode())
    return tree, Measures(tree)


def text_of(html: str) -> str:
    tree, measures = read(html)
    return PageText(tree, measures).of_link(tree.tags.index("a"), len(tree))


@each(
    "inside, text",
    [
        ("<b>L</b>evers", "Levers"),
        ("<b>Levers</b> <i>and</i>\n pulleys", "Levers and pulleys"),
        ("<b>Levers </b>and", "Levers and"),
        ("<b>Levers</b>&nbsp;<i>and</i>", "Levers and"),
        ("<div>Levers</div>and<br>pulleys", "Levers and pulleys"),
        ("Levers<svg><text>drawn</text></svg><noscript>plain</noscript>", "Levers"),
        ("<img src=lever.png>", ""),
    ],
)
def test_the_runs_of_a_link_are_joined_as_those_of_a_line(inside: str, text: str):
    body = "<p>What a reader sees of the page, with scripts.<div>"
    assert text_of(f"{body}<a href=1>{inside}</a>behind") == text


def test_only_the_beginning_of_a_long_link_is_read():
    assert text_of(f"<a href=1>{'ab ' * 1000}</a>") == ("ab " * 1000)[:LONGEST_LINK_TEXT].strip()
    assert (
        text_of(f"<a href=1>{'<b>ab</b> ' * 1000}</a>")
        == ("ab " * 1000)[:LONGEST_LINK_TEXT].strip()
    )


def test_a_link_ends_with_its_block():
    tree, measures = read("<a href=1>One<div>Two</div></a>")
    end = tree.starts[tree.tags.index("div")]
    page = Partition(tree, [Cut(1, 0, end), Cut(1, end, len(tree.body))], method="nom", level=1)
    assert [[link.text for link in block.links] for block in page.blocks] == [["One"], []]
    blocks = PageBlocks(PageFeatures(tree, measures), [block.nodes for block in page.blocks])
    assert blocks.links_in.texts == ["One"]


NESTED = [
    b"<a href=x><table><tr><td>y",
    b"<a href=x><table><tr><td>",
    b"<a href=x><table><tr><td>&nbsp;",
]


@each("opened", NESTED)
def test_nested_links_take_linear_time(opened: bytes):
    def links(size: int) -> int:
        page = partition(opened * size + b"z " * size, method="quark")
        return sum(len(block.links) for block in page.blocks)

    assert_linear(links, 500)
