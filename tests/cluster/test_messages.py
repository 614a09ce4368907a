"""Messages: what was written is read, once or more, and by who has the partition."""

from __future__ import annotations

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.cluster import (
    LinksOfPage,
    Messages,
    Outbox,
    PageElsewhere,
    decode_message,
    encode_message,
    messages,
)
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
MESSAGES = st.lists(
    st.builds(LinksOfPage, PAGES, st.lists(LINKS, max_size=3).map(tuple)), max_size=4
)


@given(links=MESSAGES)
def test_links_are_read_as_they_were_written(links):
    assert decode_message(encode_message(links)) == tuple(links)


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
def test_what_is_no_message_is_refused(data):
    with pytest.raises(ValueError, match=r".+"):
        decode_message(data)


def link(number):
    return NewLink(f"http://a.test/{number}")


def test_links_of_one_page_go_in_one_message(monkeypatch):
    monkeypatch.setattr(messages, "_LINKS_AT_ONCE", 3)
    outbox = Outbox()
    assert not outbox
    pages = [PageElsewhere(f"http://b.test/{n}", 0) for n in range(3)]
    for number in range(9):
        outbox.add(7, pages[number % 3], link(number))
    outbox.add(2, None, link(9))
    assert outbox
    taken = [(part, decode_message(data)) for part, data in outbox.take()]
    assert not outbox
    assert [(part, [message.page for message in links]) for part, links in taken] == [
        (7, pages[:2]),
        (7, pages[2:]),
        (2, [None]),
    ]
    assert taken[0][1][0].links == (link(0), link(3), link(6))


def test_messages_lie_there_until_they_are_removed():
    store = memory_store()
    ann, bob = Messages(store), Messages(store)
    one, two, three = (encode_message([LinksOfPage(None, (link(n),))]) for n in range(3))
    ann.send([(1, one), (2, two)])
    bob.send([(1, three)])
    store.insert("message", [store.row_of(1, "eve/0", bytes=b"torn")])
    received = ann.receive({1})
    assert sorted(received.values(), key=repr) == [(1, decode_message(d)) for d in (one, three)]
    assert store.names("quarantine") == ["message/0001/eve/0"]
    assert ann.receive({1}) == bob.receive({1, 4}) == received
    ann.remove(received)
    assert ann.receive({1}) == {}
    assert ann.wait({1, 2})
    assert not ann.wait({1})
