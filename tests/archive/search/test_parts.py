"""The parts of the search index, each against a plain way of doing the same."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.archive import StoredBlock
from mmcrawl.archive.search import (
    Term,
    block_text,
    indexed_blocks,
    media_bit,
    outside_of,
    packed,
    parse_query,
    snippet_of,
    unpacked,
)
from mmcrawl.blocks import read_tree
from tests.tables import each


@given(st.text())
def test_a_text_comes_back(text: str) -> None:
    assert unpacked(packed(text + "\ud800x")) == text + "\ud800x"


@each(
    "part, text",
    [
        ("<p>Die Bundes<wbr>regierung und die <em>Wirt</em>schaft</p>",
         "Die Bundesregierung und die Wirtschaft"),
        ("<a href=x>Wirtschaft</a>skrise, H<sub>2</sub>O, <b>W</b>issen",
         "Wirtschaftskrise, H2O, Wissen"),
        ("<i>Wirt</i><i>schaft</i>", "Wirtschaft"),
        ("<span>Politik</span><span>Wirtschaft</span>", "Politik Wirtschaft"),
        ("<span>Preis</span><button>kaufen</button>jetzt", "Preis kaufen jetzt"),
        ("<a href=x>politik</a><a href=y>sport</a>", "politik sport"),
        ("<ul><li>eins</ul><span>zwei</span><button>drei</button>", "eins\nzwei drei"),
    ],
)  # fmt: skip
def test_words_are_parted_where_menus_are_and_nowhere_else(part: str, text: str) -> None:
    assert block_text(read_tree(part.encode())) == text


def test_text_outside_of_all_blocks_is_a_block_of_no_kind() -> None:
    body = b"<div><p>one</p></div><ul><li>two</li></ul><span>three</span><div><p>four</p></div>\n"
    parts = (b"<p>one</p>", b"<ul><li>two</li></ul>", b"<p>four</p>")
    blocks = [
        StoredBlock(body.index(part), body.index(part) + len(part), "topic", "", 1, "", digest)
        for part, digest in zip(parts, ("1a", "2b", "3c"), strict=True)
    ]
    texts = [(block.kind, block.text) for block in indexed_blocks(body, "utf-8", blocks, ())]
    assert texts == [("topic", "one"), ("topic", "two"), ("topic", "four"), ("", "three")]
    (outside,) = outside_of(blocks, body, "utf-8")
    assert body[outside.start : outside.end] == b"<span>three</span><div>"


def test_images_alone_are_told_by_their_topic() -> None:
    body = b'<p><img alt="a lever"></p><p>text<embed src="a.swf"></p>'
    blocks = [
        StoredBlock(start, end, "image", "a lever", 1, "", digest)
        for start, end, digest in ((0, 26, "1a"), (26, 33, "2b"))
    ]
    found = indexed_blocks(body, "utf-8", blocks, {"2b"})
    assert [(block.digest, block.text) for block in found] == [("1a", "a lever"), ("2b", None)]
    assert [block.around for block in found] == [0, media_bit("animation")]


def test_a_snippet_shows_where_most_words_are_and_marks_them() -> None:
    text = "lever " + "nothing here " * 60 + "the lever and the pulley of 力學" + " and so on" * 60
    snippet = snippet_of(text, parse_query("lever pulley 力学").words)
    marked = [snippet.text[start:end] for start, end in snippet.marks]
    assert marked == ["lever", "pulley", "力學"]
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")
    assert len(snippet.text) <= 242


def test_a_snippet_marks_what_was_asked_for() -> None:
    text = "The law of the lever and 原子力 of 量子力学, laws of motion: 二胡"
    for query, marked in (
        ('"laws of motion"', ["laws", "of", "motion"]),
        ("量子力学", ["量子力学"]),
        ("力", ["力", "力"]),
    ):
        snippet = snippet_of(text, parse_query(query).words)
        assert [snippet.text[start:end] for start, end in snippet.marks] == marked


_TERMS = [Term((run,)) for run in (("ab",), ("力学",), ("b",), ("力*",), ("ab", "b"))]


@given(st.text(alphabet="ab 力学\n.", max_size=600), st.lists(st.sampled_from(_TERMS)))
def test_marks_are_in_order_and_inside(text: str, words: list[Term]) -> None:
    snippet = snippet_of(text, words)
    ends = [place for mark in snippet.marks for place in mark]
    assert ends == sorted(ends)
    assert all(start < end <= len(snippet.text) for start, end in snippet.marks)
