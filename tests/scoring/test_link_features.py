"""What the model sees of a link."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.frontier import KnownLink
from mmcrawl.scoring.link_features import BITS, WIDTH, link_features


def shared(one: KnownLink, other: KnownLink) -> int:
    """Return how many features two links have in common."""
    features = (set(link_features(link, "7").tolist()) - {0} for link in (one, other))
    return len(set.intersection(*features))


def link(url: str, **more: object) -> KnownLink:
    fields = {"content": 0.0, "physical_layer": 2, "parent": 4} | more
    return KnownLink(url, **fields)


NEAR = link("http://h.test/films/lesson12.htm", anchor="Lesson 12: optics")


@pytest.mark.parametrize(
    ("nearer", "farther"),
    [
        (link("http://h.test/films/lesson13.htm"), link("http://h.test/texts/lesson13.htm")),
        (link("http://h.test/films/lesson13.htm"), link("http://h.test/films/about.htm")),
        (link("http://h.test/a.htm"), link("http://other.test/a.htm")),
        (link("http://h.test/x"), link("http://h.test/x", parent=5)),
        (link("http://h.test/x", anchor="Optics"), link("http://h.test/x", anchor="Sports")),
    ],
)
def test_links_that_are_alike_share_features(nearer, farther):
    assert shared(NEAR, nearer) > shared(NEAR, farther)


def test_pages_of_one_script_share_features_though_their_numbers_differ():
    one, other = (link(f"http://h.test/show.asp?id={n}") for n in (3, 45))
    assert shared(one, other) > shared(one, link("http://h.test/list.asp?id=3"))


def test_what_the_page_it_was_found_on_was_is_a_feature():
    assert set(link_features(NEAR, "7")) != set(link_features(NEAR, "8"))


def test_features_are_the_same_in_every_process():
    code = (
        "from mmcrawl.frontier import KnownLink\n"
        "from mmcrawl.scoring.link_features import link_features\n"
        "print(*link_features(KnownLink('http://h.test/a/光.htm', 0.5, 2, 1, 3, '光学', 'x'), '7'))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_address_and_anchor_give_a_row_of_features(tail, anchor):
    features = link_features(link("http://h.test/" + tail.replace("[", ""), anchor=anchor), "")
    assert features.shape == (WIDTH,)
    assert features.dtype == np.uint32
    assert features.max() < 1 << BITS
    count = np.count_nonzero(features)
    assert count > 10
    assert not features[count:].any()
