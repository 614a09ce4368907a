"""Chunks, frames, manifests and comparison, each by itself."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.archive import StoredBlock, Version, digest_of
from mmcrawl.archive.comparing import difference
from mmcrawl.archive.format import (
    LEAST,
    ArchivedPage,
    Entry,
    chunks_of,
    pack_manifest,
    read_manifest,
)
from mmcrawl.errors import StoreError


def page(parts):
    return b"".join(b"<div><p>" + part + b"</p></div>" for part in parts)


def parts(count, seed=0):
    chance = random.Random(seed)
    return [chance.randbytes(chance.randrange(200, 1_200)).hex().encode() for _ in range(count)]


# -- chunks


@given(st.binary(max_size=2_000).map(lambda body: body * 20))
def test_chunks_put_together_are_the_body(body):
    assert b"".join(chunks_of(body)) == body


def test_something_inserted_changes_the_chunks_around_it_only():
    before = parts(300)
    after = [*before[:20], b"inserted" * 100, *before[20:]]
    known = set(chunks_of(page(before)))
    chunks = chunks_of(page(after))
    assert len(known) > 20
    assert sum(chunk not in known for chunk in chunks) <= 4
    assert all(len(chunk) >= LEAST for chunk in chunks[:-1])


# -- frames


# -- manifests

text = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=8)
blocks = st.lists(
    st.builds(
        lambda gap, size, kind, topic, level, path: (gap, size, kind, topic, level, path),
        st.integers(0, 300),
        st.integers(1, 300),
        st.sampled_from(["topic", "navigation"]),
        text,
        st.integers(1, 9),
        st.lists(st.sampled_from(["html", "div[2]", "p"]), max_size=4).map("/".join),
    ),
    max_size=6,
)


def test_a_manifest_with_a_flipped_bit_is_not_read():
    frame = pack_manifest([Entry(1, 1, 0.0, 200, b"[]" * 50, ((0, 4),))], [1, 2, 3, 4], 3)
    for position in range(len(frame)):
        damaged = bytearray(frame)
        damaged[position] ^= 0x08
        with pytest.raises(StoreError):
            assert read_manifest(bytes(damaged)).entries() is None


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
