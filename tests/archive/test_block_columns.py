"""Blocks as a manifest keeps them: what is written is read, and little is written."""

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.archive import Capture, StoredBlock, digest_of
from mmcrawl.archive.format import BlockColumns, facts_of
from tests.tables import each

WORDS = st.lists(
    st.sampled_from(
        [
            *("lens", "of", "Lens-maker", "a<b", "&amp;", "<p>", "</p>", "<a href='lens of'>"),
            *("<", ">", "光的折射", "光", "ü", "  ", "\n", "l", "", "x" * 300),
        ]
    ),
    max_size=40,
)


@st.composite
def cut_pages(draw: st.DrawFn, encoding: str) -> tuple[bytes, list[StoredBlock]]:
    """Return a body with blocks in and beside each other, each with a topic of its words or not."""
    words = [word.encode(encoding, "replace") + b" " for word in draw(WORDS)]
    body = b"".join(words)
    places = sorted({0, len(body), *draw(st.lists(st.integers(0, len(body)), max_size=12))})
    blocks: list[StoredBlock] = []

    def cut(first: int, last: int, level: int) -> None:
        while first < last:
            end = draw(st.integers(first + 1, last))
            start, stop = places[first], places[end]
            text = body[start:stop].decode(encoding, "replace").split()
            chosen = [word for word in text if draw(st.booleans())]
            topic = " ".join([*chosen, *draw(st.sampled_from([[], ["other"]]))])
            digest = digest_of(body[start:stop])
            blocks.append(StoredBlock(start, stop, "topic", topic, level, "html/p", digest))
            if draw(st.booleans()) and level < 4:
                cut(first, end, level + 1)
            first = end + draw(st.integers(0, 1))

    cut(0, len(places) - 1, 1)
    return body, blocks


@given(st.data(), st.sampled_from(["utf-8", "gb18030", "latin-1", "utf-16-le"]))
def test_blocks_are_read_as_they_were_written(data: st.DataObject, encoding: str) -> None:
    body, blocks = data.draw(cut_pages(encoding))
    columns = BlockColumns.of(blocks, body, encoding)
    assert columns.read(body, encoding) == blocks


def test_places_of_words_are_found_in_time_in_proportion_to_the_page() -> None:
    def seconds(size: int) -> float:
        body = b"<" * size + b" lens"
        block = StoredBlock(0, len(body), "topic", "lens", 1, "p", digest_of(body))
        began = process_time()
        for _ in range(3):
            BlockColumns.of([block], body, "utf-8").read(body, "utf-8")
        return process_time() - began

    assert seconds(400_000) < 24 * max(seconds(50_000), 0.001)


def language(body: bytes) -> str:
    capture = Capture("http://a.test/", body, 1.0, content_type="text/html")
    return facts_of(capture).language


@each(
    "body",
    [
        b"<html lang=ZH-cn><p>",
        b"<!doctype html>\n<HTML class='a>b' xml:lang=zh-CN>",
        b'<!--[if IE]><html lang="en"><![endif]--><html lang="zh-CN">',
        b'<html lang="zh-cn"',
        b"<title><html lang=en></title><html lang=zh-cn>",
        b"<html lang=zh-cn>" + b"<p>" * 5_000,
        "\ufeff<html lang=zh-cn><p>".encode("utf-16-le"),
    ],
)
def test_the_language_is_that_of_the_start_tag_wherever_it_stands(body: bytes) -> None:
    assert language(body) == "zh-cn"


@each(
    "body",
    [
        b"",
        b"<p lang=de>",
        b"<!-- <html lang=en>",
        b"<html><html>",
        b" " * 5_000 + b"<html lang=en>",
        "\ufeff<html lang=en>".encode("utf-32-be"),
    ],
)
def test_no_language_is_made_up(body: bytes) -> None:
    assert language(body) == ""
