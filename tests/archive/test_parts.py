"""Heads and comparison, each by itself."""

from contextlib import suppress
from dataclasses import replace
from email.utils import formatdate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmcrawl.archive import StoredBlock, Version, digest_of
from mmcrawl.archive.comparing import difference
from mmcrawl.archive.format import About, ArchivedPage, Entry, Facts, packed, read_head
from mmcrawl.errors import StoreError


def test_a_head_with_a_flipped_bit_is_never_read_as_another():
    about = About("h.test", 1, 0, 3, {1: "http://h.test/"})
    entry = Entry(1, 1, 1, 0.0, 200, Facts("OK", headers=(("A", "b" * 99),)), bytes(32), 4)
    frame = packed(about, [entry], [b"body"], 3, 3)[1]
    assert [*read_head(frame).entries()] == [entry]
    for position in range(len(frame)):
        damaged = bytearray(frame)
        damaged[position] ^= 0x08
        with suppress(StoreError):  # a few bits of a frame mean nothing
            assert [*read_head(bytes(damaged)).entries()] == [entry]
    for cut in (0, 3, 20, -1):
        with pytest.raises(StoreError):
            read_head(frame[:cut])


TEXTS = st.text(st.characters(exclude_categories=()), max_size=9)
DATES = st.integers(-(10**9), 10**11).map(lambda seconds: formatdate(seconds, usegmt=True))
HEADERS = st.lists(
    st.tuples(st.sampled_from(["Date", "ETag", "Set-Cookie"]) | TEXTS, DATES | TEXTS), max_size=5
).map(tuple)


ENTRIES = st.builds(
    Entry,
    st.sampled_from([0, 1, 3, 4]),
    st.integers(1, 9),
    st.integers(0, 1 << 24),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 999),
    st.builds(Facts, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, st.integers(0, 9), HEADERS),
).map(lambda one: replace(one, digest=bytes(32), size=4) if one.kind == 1 else one)


def dated(value):
    return Entry(4, 1, 1, 5.0, 200, Facts(headers=(("Date", value),)))


@given(st.lists(ENTRIES, max_size=2) | st.lists(ENTRIES, min_size=9, max_size=20))
@example([dated(formatdate(5, usegmt=True)), dated(""), dated(formatdate(9, usegmt=True))] * 4)
def test_any_entries_come_back_from_a_head(entries):
    about = About("h.test", 1, 0, 3, {number: f"http://h.test/{number}" for number in range(1, 10)})
    bodies = [b"body" if entry.is_version else b"" for entry in entries]
    frame = packed(about, entries, bodies, 3, 3)[1]
    head = read_head(frame)
    assert [*head.entries()] == entries
    assert head.kinds() == [entry.kind for entry in entries]
    assert head.raw == (4 if b"body" in bodies else 0)


# -- comparison


def side(texts, paths=None):
    body, found = b"", []
    for n, words in enumerate(texts):
        content = f"<p>{words}</p>".encode()
        path = paths[n] if paths else f"p[{n + 1}]"
        start = len(body)
        found.append(
            StoredBlock(start, start + len(content), "topic", "", 1, path, digest_of(content))
        )
        body += content
    version = Version("u", 1, 0.0, 200, "", (), "", "", len(body), "", "utf-8", "bwap", 3)
    return ArchivedPage(version, body, found)


def changes(old, new):
    return [change.change for change in difference(old, new).blocks]


def test_what_became_of_blocks():
    assert changes(side("abc"), side("abc")) == ["kept"] * 3
    assert changes(side("abc"), side("ac", ["p[1]", "p[3]"])) == ["kept", "removed", "kept"]
    assert changes(side("ac"), side("abc", ["p[1]", "new", "p[2]"])) == ["kept", "added", "kept"]
    assert changes(side("abcd"), side("dabc")) == ["moved", "kept", "kept", "kept"]
    assert changes(side("abc"), side("axc")) == ["kept", "changed", "kept"]
    assert changes(side(""), side("ab")) == ["added", "added"]
    assert changes(side("ab"), side("")) == ["removed", "removed"]


def test_a_block_that_changed_is_recognised_by_its_words_behind_an_inserted_one():
    old = side(["force is mass times acceleration", "end"], ["p[1]", "p[2]"])
    new = side(["breaking news", "force is mass times speed", "end"], ["x", "y", "p[3]"])
    assert changes(old, new) == ["added", "changed", "kept"]
    words = difference(old, new).blocks[1].words
    assert [(w.change, w.text) for w in words] == [
        ("same", "force is mass times "),
        ("removed", "acceleration"),
        ("added", "speed"),
    ]


def test_chinese_is_compared_by_character():
    words = difference(side(["力学和光学"]), side(["力学和热学"])).blocks[0].words
    assert [(w.change, w.text) for w in words] == [
        ("same", "力学和"),
        ("removed", "光"),
        ("added", "热"),
        ("same", "学"),
    ]
