"""What workers write is read as it was written, and nothing else is read."""

from __future__ import annotations

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from mmcrawl.cluster import Learnt, PageElsewhere, Rows, decode_message, encode_message
from mmcrawl.frontier import NewLink, PatternRecord
from tests.tables import each

TEXTS = st.text(max_size=8)
COUNTS = st.integers(0, 1 << 40)
PAGES = st.none() | st.builds(
    PageElsewhere,
    TEXTS,
    layer=st.integers(0, 99),
    relevant=st.booleans(),
    topic_score=st.floats(0, 1),
)
LINKS = st.builds(NewLink, url=TEXTS, anchor=TEXTS, request=st.none() | st.binary(max_size=5))
MESSAGES = st.lists(st.tuples(PAGES, st.lists(LINKS, max_size=3).map(tuple)), max_size=4).map(tuple)
LEARNT = st.builds(
    Learnt,
    pages=COUNTS,
    words=st.dictionaries(TEXTS, COUNTS),
    largest=st.lists(st.floats(0, 9), max_size=3).map(tuple),
    learnt_links=st.lists(st.tuples(st.integers(0, 1_023), COUNTS), max_size=3).map(tuple),
    merged=st.lists(TEXTS, max_size=2).map(tuple),
    patterns=st.lists(
        st.builds(PatternRecord, TEXTS, TEXTS, COUNTS, COUNTS, COUNTS), max_size=2
    ).map(tuple),
)

HALF = NewLink(url="http://a.test/", anchor="\ud83d")  # of a surrogate pair, as pages have them


@given(message=MESSAGES, learnt=LEARNT)
@example(message=((None, (HALF,)),), learnt=Learnt())
def test_it_is_read_as_it_was_written(message, learnt):
    assert decode_message(encode_message(message)) == message
    assert Learnt.decode(learnt.encode()) == learnt


@pytest.mark.parametrize("decode", [decode_message, Learnt.decode, Rows.decode])
@each(
    "data",
    [
        b"",
        b"x",
        *map(zstandard.compress, (b"x", b"{", b"[1]", b"[" * 100_000)),
        encode_message([])[:-2],
        Learnt(3).encode()[:-3],
        Learnt(3, link_model=b"x").encode(),
        Rows({"host": [[1, 2, "x"]]}).encode()[:-2],
        Rows({"film": [[1]]}, {}).encode(),
    ],
)
def test_what_nobody_wrote_is_refused(decode, data):
    with pytest.raises(ValueError, match=r".+"):
        decode(data)
