"""Random choices that come out alike on every machine and in every Python version."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Choices drawn from `Random.random` alone.

    Python promises that its sequence stays the same for a seed; how `choice` or `sample` use it
    has changed before. Whatever is generated gets dice of its own, keyed by what it is, so that
    one page does not depend on which pages were made before it.
    """

    def __init__(self, *key: object) -> None:
        self._random = Random("\n".join(map(str, key)))  # noqa: S311

    def chance(self, share: float) -> bool:
        """True in `share` (0..1) of all throws."""
        return self._random.random() < share

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, values: Sequence[T]) -> T:
        return values[self.number(0, len(values) - 1)]

    def sample(self, values: Sequence[T], count: int) -> list[T]:
        """`count` different values in random order; all of them when there are no more."""
        left = list(values)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(min(count, len(left)))]
