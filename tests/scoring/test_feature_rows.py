"""Rows of links that lie in a file are those that were put there, as if all were in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.errors import StoreError
from mmcrawl.scoring import FeatureRows

WIDTH, LINKS = 3, 120


@given(
    st.lists(st.tuples(st.integers(0, LINKS), st.integers(0, 2**32 - 1)), min_size=1),
    st.integers(0, 9),
    st.data(),
)
def test_rows_are_those_put_last(puts, in_memory, data):
    rows, known = FeatureRows(WIDTH, in_memory), {}
    for link, value in puts:
        known[link] = [value, link, 7]
        rows.put(link, np.array(known[link], dtype=np.uint32))
    asked = data.draw(st.lists(st.sampled_from(sorted(known))))
    found = rows.rows(np.array(asked, dtype=np.int64))
    assert found.shape == (len(asked), WIDTH)
    assert found.tolist() == [known[link] for link in asked]
    assert all(rows.rows(np.array([link])).tolist() == [known[link]] for link in known)


def test_no_room_for_a_temporary_file_ends_the_crawl_with_a_sentence(monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(StoreError, match=r"temporary file.*No space left.*TMPDIR"):
        FeatureRows(WIDTH, 0).put(0, np.zeros(WIDTH, dtype=np.uint32))
