"""Messages: what was written is read, and nothing else is."""

from __future__ import annotations

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.cluster import PageElsewhere, decode_message, encode_message
from mmcrawl.frontier import NewLink
from tests.tables import each

TEXTS = st.text(max_size=8)  # halves of surrogate pairs among them, as pages have them
PAGES = st.none() | st.builds(
    PageElsewhere,
    TEXTS,
    layer=st.integers(0, 99),
    relevant=st.booleans(),
    topic_score=st.floats(0, 1),
)
LINKS = st.builds(NewLink, url=TEXTS, anchor=TEXTS, request=st.none() | st.binary(max_size=5))
MESSAGES = st.lists(st.tuples(PAGES, st.lists(LINKS, max_size=3).map(tuple)), max_size=4)


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
