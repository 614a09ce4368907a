"""The model that learns, one example after another, what was wrong with what was expected."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.scoring import OnlineLogisticModel


def rows(*features: list[int]) -> np.ndarray:
    width = max(map(len, features))
    return np.array([row + [0] * (width - len(row)) for row in features], dtype=np.uint32)


def model(variance: float = 0.3) -> OnlineLogisticModel:
    return OnlineLogisticModel(8, variance=variance)


def test_one_example_moves_weights_as_worked_out_by_hand():
    made = model()
    made.learn(rows([5, 9])[0], -2.0, True)
    # probability = 1/(1+e²) = 0.11920; information = 0.11920 · 0.88080 = 0.10499
    # gain = 0.3 / (1 + 0.6 · 0.10499) = 0.28222; weight = 0.28222 · 0.88080 = 0.24858
    # variance = 0.3 · (1 − 0.28222 · 0.10499) = 0.29111
    assert made.log_odds(rows([5], [5, 9], [7])) == pytest.approx([0.24858, 0.49715, 0], abs=1e-5)
    # A second one of 5 alone: probability = 1/(1+e^(2−0.24858)) = 0.14787;
    # information = 0.12600; gain = 0.29111 / (1 + 0.29111 · 0.12600) = 0.28081
    made.learn(rows([5])[0], -2.0, False)
    now = 0.24858 - 0.28081 * 0.14787
    assert made.log_odds(rows([5], [9])) == pytest.approx([now, 0.24858], abs=1e-5)


def test_what_is_expected_of_a_feature_is_unlearnt_if_it_proves_wrong():
    made = model()
    made.expect(6, 3.0)
    assert made.log_odds(rows([6], [6, 7])) == pytest.approx([3.0, 3.0])
    for _ in range(20):
        made.learn(rows([6])[0], -2.0, False)
    assert made.log_odds(rows([6]))[0] < 1.6


def test_a_feature_counts_once_and_padding_not_at_all():
    one, other = model(), model()
    one.learn(np.array([5, 5, 0, 0], dtype=np.uint32), -2.0, True)
    other.learn(np.array([5], dtype=np.uint32), -2.0, True)
    assert one.log_odds(rows([5])) == other.log_odds(rows([5])) != 0
    assert one.log_odds(rows([0])) == 0


examples = st.tuples(st.lists(st.integers(1, 255), min_size=1), st.floats(-1e6, 1e6), st.booleans())


@given(st.lists(examples, max_size=60), st.sampled_from([0.01, 0.3, 10.0]))
def test_whatever_comes_weights_are_finite_and_certainty_grows(examples, variance):
    made = model(variance)
    everything = np.arange(1, 256, dtype=np.uint32)[:, None]
    for features, expected, outcome in examples:
        row = np.array(features, dtype=np.uint32)
        before, variance_before = made.log_odds(row[:, None]), made._variance.copy()
        made.learn(row, expected, outcome)
        after = made.log_odds(row[:, None])
        assert (after >= before).all() if outcome else (after <= before).all()
        assert (made._variance <= variance_before).all()
    assert np.isfinite(made.log_odds(everything)).all()
