"""The parts of the search index, each against a plain way of doing the same."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.archive.model import StoredBlock
from mmcrawl.archive.search_building import SegmentBuilder
from mmcrawl.archive.search_codec import as_ints, decoded, encoded, pack_columns, unpack_columns
from mmcrawl.archive.search_documents import (
    areas_around,
    block_text,
    indexed_blocks,
    media_in,
)
from mmcrawl.archive.search_index import Segment
from mmcrawl.archive.search_joining import joined, resolved
from mmcrawl.archive.search_merging import next_merge
from mmcrawl.archive.search_postings import Inverted, bundles_of, find, invert, merged, read_bundle
from mmcrawl.archive.search_query import MEDIA
from mmcrawl.archive.search_sightings import (
    NONE,
    Sightings,
    read_sightings,
    write_sightings,
)
from mmcrawl.archive.search_snippets import snippet_of
from mmcrawl.archive.search_texts import Text, read_texts, text_bundles
from mmcrawl.errors import StoreError

_numbers = st.lists(st.integers(0, 2**62))
_texts = st.lists(st.lists(st.sampled_from(["a", "b", "c", "力学", "zz"]), max_size=8), max_size=12)


@given(_numbers)
def test_varints_come_back(numbers: list[int]) -> None:
    assert decoded(encoded(as_ints(numbers))).tolist() == numbers


@given(st.lists(st.binary(max_size=50)))
def test_columns_come_back(columns: list[bytes]) -> None:
    assert unpack_columns(pack_columns(columns)) == columns


@given(st.lists(st.binary(max_size=50), min_size=1), st.data())
def test_a_damaged_frame_is_noticed(columns: list[bytes], data: st.DataObject) -> None:
    frame = bytearray(pack_columns(columns))
    frame[data.draw(st.integers(0, len(frame) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(StoreError):
        assert unpack_columns(bytes(frame)) == columns


# ---------------------------------------------------------------- postings

Plain = dict[str, dict[int, list[int]]]


def _plain(texts: list[list[str]], first: int = 0) -> Plain:
    plain: Plain = defaultdict(dict)
    for number, text in enumerate(texts, start=first):
        for position, word in enumerate(text):
            plain[word].setdefault(number, []).append(position)
    return dict(plain)


def _inverted(texts: list[list[str]], first: int = 0) -> Inverted:
    terms = list(dict.fromkeys(word for text in texts for word in text))
    rows = [
        (terms.index(word), number, position)
        for number, text in enumerate(texts, start=first)
        for position, word in enumerate(text)
    ]
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return invert(terms, *(as_ints(list(column)) for column in columns))


def _as_plain(inverted: Inverted) -> Plain:
    plain: Plain = defaultdict(dict)
    step = iter(inverted.step.tolist())
    for term, document, count in zip(
        inverted.term.tolist(), inverted.document.tolist(), inverted.count.tolist(), strict=True
    ):
        positions = np.cumsum([next(step) for _ in range(count)]).tolist()
        plain[inverted.terms[term]][document] = positions
    return dict(plain)


@given(_texts)
def test_postings_say_which_word_stands_where(texts: list[list[str]]) -> None:
    assert _as_plain(_inverted(texts)) == _plain(texts)


@given(_texts)
def test_bundles_hold_all_postings(texts: list[list[str]]) -> None:
    plain = _plain(texts)
    (bundle,) = list(bundles_of(_inverted(texts))) or [None]
    if bundle is None:
        assert not plain
        return
    assert _as_plain(read_bundle(bundle.words, bundle.positions)) == plain
    for word, places in plain.items():
        found = find(word, bundle.words, bundle.positions)
        assert found is not None
        assert found.steps is not None
        assert found.documents.tolist() == list(places)
        assert found.counts.tolist() == [len(positions) for positions in places.values()]
    assert find("y", bundle.words, None) is None


def test_many_terms_are_cut_into_bundles_in_order() -> None:
    texts = [[f"word{n * 7919 % 20_011}" for n in range(start, start + 2_000)] for start in
             range(0, 20_000, 2_000)]  # fmt: skip
    bundles = list(bundles_of(_inverted(texts)))
    assert len(bundles) > 5
    assert [b.first for b in bundles] == sorted(b.first for b in bundles)
    together = merged([read_bundle(b.words, b.positions) for b in bundles], as_ints([]))
    assert _as_plain(together) == _plain(texts)


@given(_texts, _texts, st.sets(st.integers(0, 23)))
def test_merging_is_as_if_written_together(
    one: list[list[str]], other: list[list[str]], dropped: set[int]
) -> None:
    parts = [_inverted(one), _inverted(other, first=len(one))]
    expected = {
        word: kept
        for word, places in _plain(one + other).items()
        if (kept := {d: p for d, p in places.items() if d not in dropped})
    }
    assert _as_plain(merged(parts, as_ints(sorted(dropped)))) == expected


# ---------------------------------------------------------------- sightings

_blocks = st.frozensets(
    st.tuples(st.integers(0, 4), st.sampled_from(["title", "topic"]), st.integers(0, 2))
)
_steps = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.booleans(),  # reset
        st.lists(st.tuples(st.sampled_from(["de", "en"]), _blocks), max_size=4),
    ),
    max_size=8,
)
Seen = dict[str, list[tuple[int, str, frozenset[tuple[int, str, int]]]]]


def _seen(sightings: Sightings) -> Seen:
    """Return the versions of each page with their blocks."""
    pages: Seen = {}
    for row, (page, number) in enumerate(
        zip(sightings.url.tolist(), sightings.number.tolist(), strict=True)
    ):
        here = (sightings.first <= row) & (row <= sightings.last)
        columns = (sightings.document, sightings.kind, sightings.media)
        blocks = zip(*(column[here].tolist() for column in columns), strict=True)
        pages.setdefault(sightings.urls[page], []).append(
            (
                number,
                sightings.languages[sightings.language[row]],
                frozenset((document, sightings.kinds[kind], m) for document, kind, m in blocks),
            )
        )
    return pages


def _segments(steps: object) -> tuple[list[Sightings], Seen]:
    """Return one segment for each step, and what is true after all of them."""
    parts, pages = [], defaultdict(list)
    number = 0
    for url, reset, versions in steps:  # type: ignore[attr-defined]
        builder = SegmentBuilder(0)
        builder.begin_page(url, reset=reset)
        if reset:
            pages[url] = []
        for language, blocks in versions:
            number += 1
            builder.add_version(number, float(number), float(number), language, blocks)
            pages[url].append((number, language, blocks))
        parts.append(builder.content().seen)
    return parts, {url: versions for url, versions in pages.items() if versions}


@given(_steps)
def test_what_segments_say_in_turn_is_what_was_seen(steps: object) -> None:
    parts, pages = _segments(steps)
    if parts:
        assert _seen(joined(parts, from_the_first=True)) == pages
        stored = [read_sightings(write_sightings(part)) for part in parts]
        assert _seen(joined(stored, from_the_first=True)) == pages
        assert _seen(joined(resolved(stored), from_the_first=True)) == pages
        assert not any(part.reset.any() for part in resolved(stored))


@given(_steps, st.integers(0, 8), st.integers(0, 8))
def test_neighbours_can_be_joined_first(steps: object, one: int, other: int) -> None:
    parts, pages = _segments(steps)
    start, end = sorted((min(one, len(parts)), min(other, len(parts))))
    if start == end:
        return
    middle = read_sightings(write_sightings(joined(parts[start:end], from_the_first=start == 0)))
    assert _seen(joined([*parts[:start], middle, *parts[end:]], from_the_first=True)) == pages


def test_a_block_that_stays_is_one_run() -> None:
    parts, _ = _segments([("a", False, [("en", {(1, "topic", 0)})] * 3)] * 4)
    seen = joined(parts, from_the_first=True)
    assert (seen.first.tolist(), seen.last.tolist()) == ([0], [11])


def test_how_long_a_version_was_seen_is_told_later() -> None:
    first, second = SegmentBuilder(0), SegmentBuilder(0)
    first.begin_page("a", reset=False)
    first.add_version(1, 10.0, 10.0, "", [])
    second.begin_page("a", reset=False, before=25.0)
    second.add_version(2, 30.0, 30.0, "", [])
    parts = [first.content().seen, second.content().seen]
    assert joined(parts, from_the_first=True).until.tolist() == [25.0, 30.0]
    alone = joined(parts[1:], from_the_first=False)
    assert alone.before.tolist() == [25.0]
    assert joined([parts[0], alone], from_the_first=True).until.tolist() == [25.0, 30.0]
    assert joined(parts, from_the_first=True).before.tolist() == [NONE]


# ---------------------------------------------------------------- segments


def _segment(size: int, positions: int = 10) -> Segment:
    return Segment(
        "s", documents=1, positions=positions, bundles=1, texts=1, bytes=size, sightings=9
    )


def test_eight_segments_of_a_size_are_merged() -> None:
    large, small = _segment(1 << 20), _segment(5_000)
    assert next_merge([large] + [small] * 7) == []
    assert next_merge([large] + [small] * 8) == [small] * 8
    assert next_merge([large] * 8) == [large] * 8


def test_segments_do_not_grow_without_end() -> None:
    assert next_merge([_segment(1 << 24, 2_000_000)] * 9) == []


# ---------------------------------------------------------------- documents


@given(st.lists(st.tuples(st.text(), st.text(max_size=9), st.integers(0, 5_000)), max_size=60))
def test_texts_come_back(rows: list[tuple[str, str, int]]) -> None:
    texts = [Text(topic, (text + "\ud800x") * times) for topic, text, times in rows]
    bundles = list(text_bundles(texts))
    assert [text for _, bundle in bundles for text in read_texts(bundle)] == texts
    for place, bundle in bundles:
        assert read_texts(bundle)[0] == texts[place]


def test_the_text_of_a_block_is_its_lines() -> None:
    block = "<div><h2>Le<b>ver</b>s</h2><p>&Uuml;ber <script>x</script>Stra\xdfen</p></div>"
    assert block_text(block.encode("latin-1"), "iso8859-1") == "Levers\nÜber Straßen"


def test_images_alone_are_told_by_their_topic() -> None:
    body = b'<p><img alt="a lever"></p><p>text<embed src="a.swf"></p>'
    blocks = [
        StoredBlock(start, end, "image", "a lever", 1, "", digest)
        for start, end, digest in ((0, 26, "1a"), (26, 33, "2b"))
    ]
    found = indexed_blocks(body, "utf-8", blocks, {0x2B})
    assert [(block.digest, block.text) for block in found] == [(0x1A, "a lever"), (0x2B, None)]
    assert [block.around for block in found] == [0, 1 << MEDIA.index("animation")]


def test_media_of_a_block_are_resolved_as_on_the_page() -> None:
    block = b'<p><a href="a.mp3">A</a></p>'
    page = b'<html><head><base href="http://media.test/x/"></head>' + block
    (alone,) = media_in(block, "utf-8", "http://h.test/b/c.html")
    (there,) = media_in(block, "utf-8", "http://h.test/b/c.html", page)
    assert (alone.kind, alone.url) == ("audio", "http://h.test/b/a.mp3")
    assert there.url == "http://media.test/x/a.mp3"


def test_what_stands_between_blocks_belongs_to_the_block_before() -> None:
    kinds = ("navigation", "title", "topic")
    ranges = ((10, 20), (25, 30), (30, 40))
    blocks = [
        StoredBlock(start, end, kind, "", 1, "", "")
        for kind, (start, end) in zip(kinds, ranges, strict=True)
    ]
    areas = areas_around(blocks, 50)
    assert areas == [[(20, 25)], [(0, 10), (30, 30)], [(40, 50)]]
    assert areas_around([], 50) == []


def test_a_snippet_shows_where_most_words_are_and_marks_them() -> None:
    text = "lever " + "nothing here " * 60 + "the lever and the pulley of 力學" + " and so on" * 60
    snippet = snippet_of(text, frozenset({"lever", "pulley", "力学"}))
    marked = [snippet.text[start:end] for start, end in snippet.marks]
    assert marked == ["lever", "pulley", "力學"]
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")
    assert len(snippet.text) <= 242


@given(st.text(alphabet="ab 力学\n.", max_size=600), st.sets(st.sampled_from(["ab", "力学", "b"])))
def test_marks_are_in_order_and_inside(text: str, words: set[str]) -> None:
    snippet = snippet_of(text, frozenset(words))
    ends = [place for mark in snippet.marks for place in mark]
    assert ends == sorted(ends)
    assert all(start < end <= len(snippet.text) for start, end in snippet.marks)


def test_a_number_that_is_cut_off_is_noticed() -> None:
    with pytest.raises(StoreError, match="damaged"):
        decoded(b"\x01\x80")
