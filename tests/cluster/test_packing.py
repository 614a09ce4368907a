"""What workers write is read as it was written, and nothing else is read."""

from __future__ import annotations

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from mmcrawl.cluster import PageElsewhere, Rows, decode_message, encode_message
from mmcrawl.frontier import NewLink
from tests.tables import each

TEXTS = st.text(max_size=8)
PAGES = st.none() | st.builds(
    PageElsewhere,
    TEXTS,
    layer=st.integers(0, 99),
    relevant=st.booleans(),
    topic_score=st.floats(0, 1),
)
LINKS = st.builds(NewLink, url=TEXTS, anchor=TEXTS, request=st.none() | st.binary(max_size=5))
MESSAGES = st.lists(st.tuples(PAGES, st.lists(LINKS, max_size=3).map(tuple)), max_size=4).map(tuple)
HALF = NewLink(url="http://a.test/", anchor="\ud83d")  # of a surrogate pair, as pages have them


@given(message=MESSAGES)
@example(message=((None, (HALF,)),))
def test_it_is_read_as_it_was_written(message):
    assert decode_message(encode_message(message)) == message


@pytest.mark.parametrize("decode", [decode_message, Rows.decode])
@each(
    "data",
    [
        b"",
        b"x",
        *map(zstandard.compress, (b"x", b"{", b"[1]", b"[" * 100_000)),
        encode_message([])[:-2],
        Rows({"host": [[1, 2, "x"]]}).encode()[:-2],
        Rows({"film": [[1]]}, {}).encode(),
    ],
)
def test_what_nobody_wrote_is_refused(decode, data):
    with pytest.raises(ValueError, match=r".+"):
        decode(data)
