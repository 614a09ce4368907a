"""What search by prospects learns beyond single links, as several crawls can have in common.

The parts of one crawl that a process works on learn into one `Knowledge`. Processes tell each other
what each has added to it, its *contribution*: of every feature the counts of the evidence, and the
precision of its weight and the product of precision and mean. These add up, whoever found them, in
whatever order: for normal variables of their own the product of several likelihoods is a sum of
such numbers. So knowledge is the prior, and the sum of all contributions.
"""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmcrawl.scoring.evidence import Evidence
from mmcrawl.scoring.link_features import BITS, fit_features
from mmcrawl.scoring.online_model import OnlineLogisticModel

_COLUMNS = 5  # fetched, relevant, led; precision, precision times mean
_MODEL = 3

Sums = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one process added.

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


class Knowledge:
    """Evidence by unit, and the online model that corrects it.

    Args:
        fit: what a perfect fit of a link's words to the topic adds to the log-odds, until learnt.
        variance: of a weight of the online model before anything was learnt, above 0.
        in_memory: links of a crawl whose features are in memory, the first ones.

    Attributes:
        teaching: whether outcomes are learnt. They are not while a history is told that others have
            learnt from.
    """

    def __init__(self, *, fit: float, variance: float, in_memory: int) -> None:
        self.evidence = Evidence()
        self.model = OnlineLogisticModel(BITS, variance=variance)
        for number, share in fit_features().items():
            self.model.expect(number, fit * share)
        self.in_memory = in_memory
        self.teaching = True
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
    def untaught(self) -> Iterator[None]:
        """Learn nothing meanwhile."""
        before, self.teaching = self.teaching, False
        try:
            yield
        finally:
            self.teaching = before

    def contribution(self) -> Contribution:
        """Return what was learnt here since `begin_sharing`."""
        added = self._columns() - self._base
        features = np.flatnonzero(added.any(axis=1)).astype(np.uint32)
        return Contribution(features, added[features])

    def hear(self, contributions: Mapping[str, Contribution]) -> None:
        """Take over what others contributed, by their names; in place of what each told before."""
        for name, new in contributions.items():
            old = self._others.get(name)
            self._add(new, 1)
            if old is not None:
                self._add(old, -1)
            self._others[name] = new

    def absorb(self, one: Contribution) -> None:
        """Take over what another one contributed as if it had been learnt here."""
        self.evidence.add(one.features, one.sums[:, :_MODEL])
        self.model.add(one.features, one.sums[:, _MODEL:])

    def _columns(self, features: NDArray[np.uint32] | slice = slice(None)) -> Sums:
        counts = self.evidence.counts[features]
        return np.concatenate([counts, self.model.natural(features)], axis=1)

    def _add(self, one: Contribution, sign: int) -> None:
        own = self._columns(one.features) - self._base[one.features]
        self.absorb(Contribution(one.features, sign * one.sums))
        # So that rounding does not make what others learnt a contribution of this process.
        self._base[one.features] = self._columns(one.features) - own
