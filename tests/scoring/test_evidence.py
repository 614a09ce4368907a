"""What pages fetched so far say of links that share something with them."""

import json
from importlib.resources import files
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.scoring import COLUMNS, FLAGS, UNITS, WIDTH, Evidence, prior_of, shipped_prior

NO_FLAGS = np.zeros(1, dtype=np.uint8)
NEVER = np.zeros(1, dtype=np.float32)


def row(host: int, directory: int, *, other: int = 1) -> np.ndarray:
    """Return features of a link of which only host and directory are of interest."""
    made = np.zeros(WIDTH, dtype=np.uint32)
    made[: len(UNITS)] = np.arange(len(UNITS)) + 1000 * other
    made[:2] = host, directory
    return made


def columns(
    evidence: Evidence, one: np.ndarray, flags: int = 0, linked: int = 0
) -> dict[str, float]:
    made = evidence.columns(one[None], NO_FLAGS + np.uint8(flags), NEVER + np.float32(linked))
    assert made.shape == (1, len(COLUMNS))
    return dict(zip(COLUMNS, made[0].tolist(), strict=True))


def logit(share: float) -> float:
    return log(share / (1 - share))


def test_columns_are_as_worked_out_by_hand():
    evidence = Evidence()
    # Host 1: three pages in directory 11, two of them relevant, and a barren one in directory 12.
    evidence.fetched(row(1, 11, other=2), True)
    evidence.fetched(row(1, 11, other=3), True)
    evidence.fetched(row(1, 11, other=4), False)
    evidence.fetched(row(1, 12, other=5), False)
    evidence.led(row(1, 12, other=5))  # to one of those in directory 11
    # Host 2: a relevant page.
    evidence.fetched(row(2, 21, other=6), True)

    # Of 5 pages 3 were relevant and 1 led to such: the rates elsewhere are 3.5/10 and 1.5/10,
    # which count as 5 pages of each host.
    rate, lead = (2 + 5 * 0.35) / (4 + 5), (1 + 5 * 0.15) / (4 + 5)
    told = columns(evidence, row(1, 11, other=7), flags=0b000101, linked=7)
    assert told["always"] == 1
    assert {name for name in FLAGS if told[name]} == {FLAGS[0], FLAGS[2]}
    assert told["linked"] == pytest.approx(log(1 + 7))
    assert told["rate"] == pytest.approx(logit(rate), abs=1e-5)
    assert told["yield"] == pytest.approx(logit(lead), abs=1e-5)
    assert told["directory: rate"] == pytest.approx(
        logit((2 + rate) / (3 + 1)) - logit(rate), abs=1e-5
    )
    assert told["directory: new"] == pytest.approx(1 / sqrt(1 + 3))
    assert told["directory: yield"] == pytest.approx(
        logit((0 + lead) / (3 + 1)) - logit(lead), abs=1e-5
    )

    told = columns(evidence, row(1, 12, other=7))
    assert told["directory: rate"] == pytest.approx(
        logit((0 + rate) / (1 + 1)) - logit(rate), abs=1e-5
    )
    assert told["directory: new"] == pytest.approx(1 / sqrt(2))
    assert told["directory: yield"] == pytest.approx(
        logit((1 + lead) / (1 + 1)) - logit(lead), abs=1e-5
    )

    told = columns(evidence, row(2, 11, other=7))
    assert told["rate"] == pytest.approx(logit((1 + 5 * 0.35) / (1 + 5)), abs=1e-5)
    assert [told[f"{unit}: rate"] for unit in UNITS[2:]] == pytest.approx([0] * 13, abs=1e-5)
    assert [told[f"{unit}: new"] for unit in UNITS[2:]] == [1] * 13  # never seen
    assert told["yield"] == pytest.approx(logit((0 + 5 * 0.15) / (1 + 5)), abs=1e-5)


def test_each_kind_of_unit_has_columns_of_its_own():
    evidence = Evidence()
    one = row(1, 11, other=2)
    evidence.fetched(one, True)
    for number, unit in enumerate(UNITS[1:], start=1):
        other = row(1, 12, other=3)
        other[number] = one[number]
        told = columns(evidence, other)
        assert {name for name in UNITS[1:] if told[f"{name}: rate"] > 0.1} == {unit}
        assert {name for name in UNITS[1:] if told[f"{name}: new"] < 1} == {unit}


steps = st.lists(
    st.tuples(st.integers(1, 3), st.integers(11, 16), st.booleans(), st.booleans()), max_size=30
)


@given(steps)
def test_what_is_taken_back_was_never_relevant(steps):
    """A relevant page taken back is as one that was fetched in vain."""
    revised, never = Evidence(), Evidence()
    for number, (host, directory, relevant, is_revised) in enumerate(steps):
        one = row(host, directory, other=2 + number)
        parent = row(host, 10, other=100) if number else None  # the first is a seed
        revised.fetched(one, relevant)
        never.fetched(one, relevant and not is_revised)
        if relevant and parent is not None:
            revised.led(parent)
        if relevant and is_revised:
            revised.take_back(one, parent)
        elif relevant and parent is not None:
            never.led(parent)
    rows = np.array([row(host, directory) for host in range(1, 5) for directory in range(10, 18)])
    more = np.zeros(len(rows), dtype=np.uint8), np.zeros(len(rows), dtype=np.float32)
    told = revised.columns(rows, *more)
    assert np.isfinite(told).all()
    assert (told == never.columns(rows, *more)).all()


def test_every_shipped_weight_is_of_a_column_there_is():
    text = (files("mmcrawl.scoring") / "learned_prior.json").read_text(encoding="utf-8")
    weights = json.loads(text)
    assert weights, "the weights were never trained"
    relevance, leads = prior_of({"paging": (0.5, 0.25), "found on: yield": (-1.0, 2.0)})
    at = [COLUMNS.index("paging"), len(COLUMNS) - 1]
    assert (*relevance[at], *leads[at]) == (0.5, -1.0, 0.25, 2.0)
    assert np.count_nonzero(relevance) == np.count_nonzero(leads) == 2
    relevance, leads = shipped_prior()
    assert np.isfinite(relevance).all()
    assert np.isfinite(leads).all()
    assert np.count_nonzero(relevance) > 5
    assert np.count_nonzero(leads) > 5
