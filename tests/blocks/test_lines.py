"""The lines of a page, and the text of blocks and links: where words are separated."""

from mmcrawl.blocks import Block, Partition, read_tree
from mmcrawl.blocks.layout import Measures, PageLines, PageText
from mmcrawl.blocks.partitioners import Cut
from tests.tables import each


def lines_of(html: str) -> PageLines:
    tree = read_tree(html.encode())
    return PageLines.of(tree, Measures(tree))


def whole(html: str) -> Block:
    """Return a page as one block."""
    tree = read_tree(html.encode())
    (block,) = Partition(tree, [Cut(0, 0, len(tree.body))], method="whole", level=1)
    return block


JOINED = [
    ("<b>H</b>ello", "Hello"),
    ("<b>a</b> <b>b</b>", "a b"),
    ("<b>a </b>b", "a b"),
    ("a<i> b</i>", "a b"),
    ("<b>a</b>&nbsp;<b>b</b>", "a b"),
    ("a<!-- no word ends here -->b", "ab"),
    ("a<script>c()</script>b", "ab"),
    ("杠<font color=red>杆</font>原理", "杠杆原理"),
    ("  a \n\t b ", "a b"),
]
CONTROLS = [
    ("<a href=1>Politik</a><a href=2>Wirtschaft</a>", "Politik Wirtschaft"),
    ("<i><a href=1>a</a></i><span><a href=2><b>b</b></a></span>", "a b"),
    ("<button>a</button><button>b</button>", "a b"),
    ("<a href=1>lever</a>s", "levers"),
    ("<a href=1>Wirt</a>,<a href=2>Gast</a>", "Wirt,Gast"),
]
PARTED = [
    ("a<br>b", ["a", "b"]),
    ("<p>a<p>b", ["a", "b"]),
    ("<div>a<div>b</div>c</div>", ["a", "b", "c"]),
    ("<span><div>a</div></span>b", ["a", "b"]),
    ("a<hr>b", ["a", "b"]),
    ("a<div></div>b", ["a", "b"]),
    ("<ul><li>a<li>b</ul>c", ["a", "b", "c"]),
    ("<table><tr><td>a<td>b<tr><td>c</table>", ["a", "b", "c"]),
]


@each("html, text", JOINED + CONTROLS)
def test_inline_elements_do_not_part_words(html: str, text: str) -> None:
    assert list(lines_of(html).texts) == [text]


@each("html, texts", PARTED)
def test_lines_end_at_block_elements_and_breaks(html: str, texts: list[str]) -> None:
    assert list(lines_of(html).texts) == texts


@each("hidden", ["script", "style", "select", "textarea", "template", "svg"])
def test_what_nobody_reads_is_in_no_line(hidden: str) -> None:
    assert list(lines_of(f"<p>a</p><{hidden}>b</{hidden}><p>c").texts) == ["a", "c"]


def test_a_line_knows_its_nodes_and_its_element() -> None:
    html = b"<div>top<p>one <b>two</b> three</p></div>"
    tree = read_tree(html)
    lines = PageLines.of(tree, Measures(tree))
    assert list(lines.texts) == ["top", "one two three"]
    assert [tree.tags[container] for container in lines.containers] == ["div", "p"]
    nodes = range(lines.firsts[1], lines.afters[1])
    assert [tree.text(node) for node in nodes] == ["one", "", "two", "three"]
    assert lines.container_of[lines.firsts[1]] == lines.containers[1]


def test_breaks_count_the_br_before_a_line() -> None:
    assert list(lines_of("<p>a<br>b<br><br>c<p>d").breaks) == [0, 1, 2, 0]


def test_a_break_outside_of_the_element_does_not_count() -> None:
    assert list(lines_of("a<br><br><p>b").breaks) == [0, 0]


@each("html, text", JOINED)
def test_text_of_blocks_and_links_is_joined_likewise(html: str, text: str) -> None:
    block = whole(f"<p><a href=x>{html}</a>")
    assert block.text == text
    assert [link.text for link in block.links] == [text]


@each("html, texts", PARTED)
def test_lines_of_a_block_are_parted_by_a_space(html: str, texts: list[str]) -> None:
    block = whole(html)
    assert block.text == " ".join(texts)


def test_the_text_of_a_page_is_that_of_its_lines() -> None:
    html = "<div>a<b>b</b><p>c</p>d <i>e</i><br>f<ul><li>g<li><a>h</a>i</ul></div>j"
    tree = read_tree(html.encode())
    text = PageText(tree, Measures(tree)).of(range(len(tree)))
    assert text == " ".join(lines_of(html).texts) == "ab c d e f g hi j"
