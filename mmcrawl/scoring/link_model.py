"""What search by prospects learns apart from single links; several crawls can share it.

The partitions of one crawl that a process works on learn into one `LinkModel`. Each process
publishes what it has added, its *contribution*: the counts of the evidence for every feature, and
for each weight its precision and the product of precision and mean. Contributions add up in any
order: for independent normal variables the product of several likelihoods is a sum of such numbers.
So a link model is the prior plus the sum of all contributions.
"""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp
from typing import Any

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

    def natural(self, features: NDArray[np.uint32] | slice = slice(None)) -> NDArray[np.float32]:
        """Return precision, and precision times mean, of some weights or all, shape (n, 2)."""
        variance = self._variance[features]
        precision = np.divide(1, variance, out=np.zeros_like(variance), where=variance > 0)
        return np.stack([precision, precision * self._mean[features]], axis=1)

    def add(self, features: NDArray[np.uint32], change: NDArray[Any]) -> None:
        """Add to precision, and precision times mean, of some weights, shape (n, 2)."""
        features, change = features[features > 0], change[features > 0]  # 0 is no feature
        precision = 1 / self._variance[features] + change[:, 0]
        product = self._mean[features] / self._variance[features] + change[:, 1]
        self._variance[features] = 1 / precision
        self._mean[features] = product / precision


# -- What search by prospects learns beyond single links, as several crawls can have in common ----

_COLUMNS = 5  # fetched, relevant, led; precision, precision times mean
_MODEL = 3

Sums = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one process.

    Attributes:
        features: numbers of features, ascending, shape (n,).
        sums: what was added to the columns of each, shape (n, 5).
    """

    features: NDArray[np.uint32]
    sums: Sums

    @classmethod
    def none(cls) -> "Contribution":
        """Return that of a process that learnt nothing."""
        return cls(np.zeros(0, dtype=np.uint32), np.zeros((0, _COLUMNS), dtype=np.float32))

    def encode(self) -> bytes:
        """Return it as bytes."""
        columns = (self.features, *(self.sums[:, column] for column in range(_COLUMNS)))
        return zlib.compress(b"".join(np.ascontiguousarray(one).tobytes() for one in columns), 1)

    @classmethod
    def decode(cls, data: bytes) -> "Contribution":
        """Return what `encode` wrote.

        Raises:
            ValueError: it did not write this.
        """
        try:
            numbers = np.frombuffer(zlib.decompress(data), dtype=np.uint32)
        except zlib.error as error:
            raise ValueError(f"what a worker learnt is damaged: {error}") from error
        rows = numbers.reshape(_COLUMNS + 1, -1)
        sums = rows[1:].view(np.float32).T
        if len(rows[0]) and not (rows[0].max() < 1 << BITS and np.isfinite(sums).all()):
            raise ValueError("what a worker learnt is damaged: it is of no features")
        return cls(rows[0], np.ascontiguousarray(sums))


class LinkModel:
    """Evidence by unit, and the online model that corrects it.

    Args:
        fit: what a perfect fit of a link's words to the topic adds to the log-odds, until learnt.
        variance: of a weight of the online model before anything was learnt, above 0.
        in_memory: links of a crawl whose features are in memory, the first ones.

    Attributes:
        is_learning: whether outcomes are learnt; false during a history that others learnt from.
    """

    def __init__(self, *, fit: float, variance: float, in_memory: int) -> None:
        self.evidence = Evidence()
        self.model = OnlineLogisticModel(BITS, variance=variance)
        for number, share in fit_features().items():
            self.model.expect(number, fit * share)
        self.in_memory = in_memory
        self.is_learning = True
        self._others: dict[str, Contribution] = {}
        self._base: Sums = np.zeros((0, _COLUMNS), dtype=np.float32)

    def begin_sharing(self, siblings: int) -> None:
        """Hold fast what is known now, as no contribution of this process.

        Args:
            siblings: among so many parts of a crawl memory is divided.
        """
        self.in_memory //= siblings
        self._base = self._columns()

    @contextmanager
    def without_learning(self) -> Iterator[None]:
        """Learn nothing meanwhile."""
        before, self.is_learning = self.is_learning, False
        try:
            yield
        finally:
            self.is_learning = before

    def contribution(self) -> Contribution:
        """Return what this process learnt since `begin_sharing`."""
        added = self._columns() - self._base
        features = np.flatnonzero(added.any(axis=1)).astype(np.uint32)
        return Contribution(features, added[features])

    def hear(self, contributions: Mapping[str, Contribution]) -> None:
        """Replace the contributions of others, by their names, with their latest ones."""
        for name, new in contributions.items():
            old = self._others.get(name)
            self._add(new, 1)
            if old is not None:
                self._add(old, -1)
            self._others[name] = new

    def merge(self, one: Contribution) -> None:
        """Add the contribution of another process as if it had been learnt here."""
        self.evidence.add(one.features, one.sums[:, :_MODEL])
        self.model.add(one.features, one.sums[:, _MODEL:])

    def _columns(self, features: NDArray[np.uint32] | slice = slice(None)) -> Sums:
        counts = self.evidence.counts[features]
        return np.concatenate([counts, self.model.natural(features)], axis=1)

    def _add(self, one: Contribution, sign: int) -> None:
        own = self._columns(one.features) - self._base[one.features]
        self.merge(Contribution(one.features, sign * one.sums))
        # So that rounding does not make what others learnt a contribution of this process.
        self._base[one.features] = self._columns(one.features) - own
