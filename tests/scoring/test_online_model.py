"""The model that learns one example after another."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.scoring.learned import OnlineLogisticModel


def rows(*features: list[int]) -> np.ndarray:
    width = max(map(len, features))
    return np.array([row + [0] * (width - len(row)) for row in features], dtype=np.uint32)


def model(variance: float = 0.3) -> OnlineLogisticModel:
    return OnlineLogisticModel(8, bias=-2.0, variance=variance)


def test_one_example_moves_weights_as_worked_out_by_hand():
    made = model()
    made.learn(rows([5, 9])[0], True)
    # expected = 1/(1+e²) = 0.11920; information = 0.11920 · 0.88080 = 0.10499
    # gain = 0.3 / (1 + 0.6 · 0.10499) = 0.28222; weight = 0.28222 · 0.88080 = 0.24858
    # variance = 0.3 · (1 − 0.28222 · 0.10499) = 0.29111
    one, both, none = made.predict(rows([5], [5, 9], [7]))
    assert one == pytest.approx(1 / (1 + exp(2 - 0.24858)), abs=1e-5)
    assert both == pytest.approx(1 / (1 + exp(2 - 2 * 0.24858)), abs=1e-5)
    assert none == pytest.approx(1 / (1 + exp(2)), abs=1e-6)
    sure, unsure = made.predict(rows([5], [7]), optimism=1.0)
    assert sure == pytest.approx(1 / (1 + exp(2 - 0.24858 - 0.29111**0.5)), abs=1e-5)
    assert unsure == pytest.approx(1 / (1 + exp(2 - 0.3**0.5)), abs=1e-5)


def test_what_goes_with_an_outcome_is_found_among_what_does_not():
    made, random = model(), np.random.default_rng(1)
    for _ in range(300):
        noise = random.integers(20, 200, 5).tolist()
        good = bool(random.integers(2))
        made.learn(rows([3 if good else 4, *noise])[0], good)
    good, bad = made.predict(rows([3], [4]))
    assert good > 0.5
    assert bad < 0.05


def test_optimism_puts_the_unknown_before_the_known_bad_and_behind_the_known_good():
    made = model()
    for _ in range(10):
        made.learn(rows([1])[0], True)
        made.learn(rows([2])[0], False)
    good, bad, unknown = made.predict(rows([1], [2], [3]), optimism=0.5)
    assert good > unknown > bad


def test_what_is_expected_of_a_feature_is_unlearnt_if_it_proves_wrong():
    made = model()
    made.expect(6, 3.0)
    assert made.predict(rows([6])) == pytest.approx(1 / (1 + exp(-1)), abs=1e-6)
    for _ in range(20):
        made.learn(rows([6])[0], False)
    assert made.predict(rows([6])) < 0.4


def test_a_feature_counts_once_and_padding_not_at_all():
    one, other = model(), model()
    one.learn(np.array([5, 5, 0, 0], dtype=np.uint32), True)
    other.learn(np.array([5], dtype=np.uint32), True)
    assert one.predict(rows([5])) == other.predict(rows([5]))
    assert one.predict(rows([0])) == pytest.approx(1 / (1 + exp(2)))


@given(
    st.lists(st.tuples(st.lists(st.integers(1, 255), min_size=1), st.booleans()), max_size=60),
    st.sampled_from([0.01, 0.3, 10.0]),
)
def test_whatever_comes_predictions_are_probabilities_and_certainty_grows(examples, variance):
    made = model(variance)
    everything = np.arange(1, 256, dtype=np.uint32)[:, None]
    for features, outcome in examples:
        before = made._variance.copy()
        made.learn(np.array(features, dtype=np.uint32), outcome)
        assert (made._variance <= before).all()
        assert (made._variance[1:] > 0).all()
    predicted = made.predict(everything, optimism=2.0)
    assert ((predicted >= 0) & (predicted <= 1)).all()
