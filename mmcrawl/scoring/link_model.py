"""What search by prospects learns apart from single links.

The partitions of one crawl that a process works on learn into one `LinkModel`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import exp

import numpy as np
from numpy.typing import NDArray

from mmcrawl.scoring.evidence import Evidence, Rows
from mmcrawl.scoring.link_features import BITS, fit_features

# -- An online model of logistic regression whose weights know how sure they are ------------------

Values = NDArray[np.float64]


class OnlineLogisticModel:
    """Learns how far the log-odds of an outcome differ from what was expected, by features.

    Every weight is a normal variable of its own, with a mean and a variance; an example moves the
    weights of its features, the uncertain ones most, and makes them surer. There is no step size.

    Args:
        bits: features are numbers in [1, 2**bits); 0 stands for no feature.
        variance: of a weight nothing is known of, > 0.

    Notes:
        The update is that of an extended Kalman filter with diagonal covariance for the logistic
        likelihood, close to the Bayesian probit of Graepel et al. (2010) and the diagonal Laplace
        approximation of Chapelle & Li (2011). An example costs time in the number of its features.
    """

    def __init__(self, bits: int, *, variance: float) -> None:
        self._mean = np.zeros(1 << bits, dtype=np.float32)
        self._variance = np.full(1 << bits, variance, dtype=np.float32)
        self._variance[0] = 0.0

    def expect(self, feature: int, weight: float) -> None:
        """Set what the weight of a feature is held to be before anything is learnt."""
        self._mean[feature] = weight

    def log_odds(self, rows: Rows) -> Values:
        """Return what the features add to the log-odds of each row, shape (n, width) → (n,).

        Args:
            rows: features, padded with 0.
        """
        added: Values = self._mean.take(rows).sum(axis=-1, dtype=np.float64)
        return added

    def learn(self, row: Rows, expected: float, outcome: bool) -> None:
        """Learn from a thing what it was.

        Args:
            row: its features, shape (width,).
            expected: its log-odds by what else is known of it.
            outcome: what it was.
        """
        row = np.array(sorted(set(row.tolist()) - {0}), dtype=np.uint32)
        variance = self._variance[row].astype(np.float64)
        total = float(variance.sum())
        logit = expected + float(self._mean[row].sum(dtype=np.float64))
        probability = 1 / (1 + exp(-max(min(logit, 30.0), -30.0)))
        information = probability * (1 - probability)
        gain = variance / (1 + total * information)
        self._mean[row] += gain * (outcome - probability)
        self._variance[row] = variance * (1 - gain * information)


# -- What search by prospects learns beyond single links ------------------------------------------


class LinkModel:
    """Evidence by unit, and the online model that corrects it.

    Args:
        fit: what a perfect fit of a link's words to the topic adds to the log-odds, until learnt.
        variance: of a weight of the online model before anything was learnt, above 0.
        in_memory: links of a crawl whose features are in memory, the first ones.

    Attributes:
        is_learning: whether outcomes are learnt; false during a history it has learnt from.
    """

    def __init__(self, *, fit: float, variance: float, in_memory: int) -> None:
        self.evidence = Evidence()
        self.model = OnlineLogisticModel(BITS, variance=variance)
        for number, share in fit_features().items():
            self.model.expect(number, fit * share)
        self.in_memory = in_memory
        self.is_learning = True

    @contextmanager
    def without_learning(self) -> Iterator[None]:
        """Learn nothing meanwhile."""
        before, self.is_learning = self.is_learning, False
        try:
            yield
        finally:
            self.is_learning = before
