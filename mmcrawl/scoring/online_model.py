"""Logistic regression over hashed features, learnt from one example after another."""

from math import exp

import numpy as np
from numpy.typing import NDArray

__all__ = ["OnlineLogisticModel"]

Rows = NDArray[np.uint32]
Values = NDArray[np.float64]


class OnlineLogisticModel:
    """Predicts a probability from the features of a thing, and tells how sure it is.

    Every weight is a normal variable of its own, with a mean and a variance; an example moves the
    weights of its features, the uncertain ones most, and makes them surer. There is no step size.

    Args:
        bits: features are numbers in [1, 2**bits); 0 stands for no feature.
        bias: log-odds of a thing nothing is known of.
        variance: of a weight nothing is known of, > 0.

    Notes:
        The update is that of an extended Kalman filter with diagonal covariance for the logistic
        likelihood, close to the Bayesian probit of Graepel et al. (2010) and the diagonal Laplace
        approximation of Chapelle & Li (2011). An example costs time in the number of its features.
    """

    def __init__(self, bits: int, *, bias: float, variance: float) -> None:
        self._bias = bias
        self._mean = np.zeros(1 << bits, dtype=np.float32)
        self._variance = np.full(1 << bits, variance, dtype=np.float32)
        self._variance[0] = 0.0

    def expect(self, feature: int, weight: float) -> None:
        """Set what the weight of a feature is held to be before anything is learnt."""
        self._mean[feature] = weight

    def predict(self, rows: Rows, *, optimism: float = 0.0) -> Values:
        """Return the probability for each row of features, shape (n, width) → (n,).

        Args:
            rows: features, padded with 0.
            optimism: how many standard deviations are added to the log-odds; above 0 the unknown
                looks better than it is expected to be.
        """
        logit = self._bias + self._mean[rows].sum(axis=-1, dtype=np.float64)
        if optimism:
            logit += optimism * np.sqrt(self._variance[rows].sum(axis=-1, dtype=np.float64))
        probability: Values = 1 / (1 + np.exp(-logit))
        return probability

    def learn(self, row: Rows, outcome: bool) -> None:
        """Learn from a thing with the features `row`, shape (width,), and what it was."""
        row = np.unique(row[row > 0])
        variance = self._variance[row].astype(np.float64)
        total = float(variance.sum())
        logit = self._bias + float(self._mean[row].sum(dtype=np.float64))
        expected = 1 / (1 + exp(-max(min(logit, 30.0), -30.0)))
        information = expected * (1 - expected)
        gain = variance / (1 + total * information)
        self._mean[row] += gain * (outcome - expected)
        self._variance[row] = variance * (1 - gain * information)
