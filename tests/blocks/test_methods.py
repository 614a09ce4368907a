"""A method of cutting pages is named with its options."""

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.blocks import partition
from mmcrawl.blocks.partitioners import make_method, make_partitioner
from mmcrawl.errors import BlockError
from tests.tables import each

PAGE = b"<body><div><h1>Levers</h1><b>2010-08-01</b><p>A lever moves the world.</p></div></body>"


def test_a_pattern_may_hold_what_parts_options():
    page = b"<body><div>2010; x</div><div>A lever moves the world.</div></body>"
    method = r"quark:custom_text=\d{4}; x;min_text=50"
    assert next(block.text for block in partition(page, method=method).blocks) == "2010; x"
    assert make_partitioner(method).min_text == 50


@each(
    "method, named",
    [
        ("bwap:min_size", "min_size"),
        ("bwap:min_size=x", "min_size"),
        ("bwap:least=1", "least"),
        ("bwap:theta=0", "theta"),
        ("bwap:distinct=perhaps", "distinct"),
        ("sieve:theta=3", "sieve"),
    ],
)
def test_what_is_wrong_with_a_method_is_named(method: str, named: str):
    with pytest.raises(BlockError, match=named):
        make_method(method)


def test_an_archive_cuts_a_page_again_as_it_was_told(tmp_path):
    method = "quark:custom_tags=h1 b;theta=2"
    with open_archive(f"sqlite:///{tmp_path}/a.db") as archive:
        headers = (("Content-Type", "text/html"),)
        archive.store_many([Capture("http://h.test/", PAGE, 1.0, headers=headers)], method=method)
        version = archive.version("http://h.test/", 1)
        assert version.method == method
        topics = [block.topic for block in archive.blocks_of(version)]
        with pytest.raises(BlockError, match="sieve"):
            archive.store_many([], method="sieve")
    assert topics == ["Levers", "2010 08", "lever moves"]
