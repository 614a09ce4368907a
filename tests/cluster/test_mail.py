"""Letters: what was written is read, once or more, and by who has the part."""

from __future__ import annotations

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.cluster import Letter, Mailboxes, Outgoing, decode_letters, encode_letters, mail
from mmcrawl.crawl import PageElsewhere
from mmcrawl.frontier import NewLink
from tests.tables import each

from .memory import memory_store

TEXTS = st.text(max_size=8)  # halves of surrogate pairs among them, as pages have them
PAGES = st.none() | st.builds(
    PageElsewhere,
    TEXTS,
    layer=st.integers(0, 99),
    relevant=st.booleans(),
    topic_score=st.floats(0, 1),
)
LINKS = st.builds(NewLink, url=TEXTS, anchor=TEXTS, request=st.none() | st.binary(max_size=5))
LETTERS = st.lists(st.builds(Letter, PAGES, st.lists(LINKS, max_size=3).map(tuple)), max_size=4)


@given(letters=LETTERS)
def test_letters_are_read_as_they_were_written(letters):
    assert decode_letters(encode_letters(letters)) == tuple(letters)


@each(
    "data",
    [
        b"",
        b"x",
        zstandard.compress(b"{"),
        zstandard.compress(b"[" * 100_000),
        zstandard.compress(b"[1]"),
    ],
)
def test_what_is_no_letter_is_refused(data):
    with pytest.raises(ValueError, match=r".+"):
        decode_letters(data)


def link(number):
    return NewLink(f"http://a.test/{number}")


def test_links_of_one_page_go_in_one_letter(monkeypatch):
    monkeypatch.setattr(mail, "_AT_ONCE", 3)
    outgoing = Outgoing()
    assert not outgoing
    pages = [PageElsewhere(f"http://b.test/{n}", 0) for n in range(3)]
    for number in range(9):
        outgoing.add(7, pages[number % 3], link(number))
    outgoing.add(2, None, link(9))
    assert outgoing
    taken = [(part, decode_letters(data)) for part, data in outgoing.take()]
    assert not outgoing
    assert [(part, [letter.page for letter in letters]) for part, letters in taken] == [
        (7, pages[:2]),
        (7, pages[2:]),
        (2, [None]),
    ]
    assert taken[0][1][0].links == (link(0), link(3), link(6))


def test_mail_lies_there_until_it_is_removed():
    store = memory_store()
    ann, bob = Mailboxes(store, 10), Mailboxes(store, 10)
    assert ann.is_empty(set())
    ann.send([(1, b"a"), (2, b"b")])
    bob.send([(1, b"c")])
    for own in ({1}, {1, 3, 4, 5, 6, 7}):  # a few parts are asked for, or all are read
        received = ann.receive(own)
        assert sorted(received.values()) == [(1, b"a"), (1, b"c")]
        assert ann.receive(own) == {}
        ann.leave(1)
    assert bob.receive({1}) == received
    ann.remove(received)
    assert ann.receive({1}) == {}
    assert not ann.is_empty({1})
    assert ann.is_empty({2})
