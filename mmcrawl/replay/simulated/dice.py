"""Random choices that come out alike on every machine and in every Python version."""

from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from typing import TypeVar

T = TypeVar("T")
MASK = 2**64 - 1


class Dice:
    """Choices drawn from `Random.random` alone.

    Python promises that its sequence stays the same for a seed; how `choice` or `sample` use it
    has changed before. Whatever is generated gets dice of its own, keyed by what it is, so that
    one page does not depend on which pages were made before it.
    """

    def __init__(self, *key: object) -> None:
        self.share = Random("\n".join(map(str, key))).random  # noqa: S311

    def chance(self, share: float) -> bool:
        """True in `share` (0..1) of all throws."""
        return self.share() < share

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.share() * (high - low + 1))

    def pick(self, values: Sequence[T]) -> T:
        return values[self.number(0, len(values) - 1)]

    def sample(self, values: Sequence[T], count: int) -> list[T]:
        """`count` different values in random order; all of them when there are no more."""
        left = list(values)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(min(count, len(left)))]


class QuickDice(Dice):
    """Dice drawn from SplitMix64 in place of a Mersenne twister.

    Making the latter costs ten times what is drawn from it here: each title on a list page has dice
    of its own. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014.
    """

    def __init__(self, *key: object) -> None:
        digest = blake2b("\n".join(map(str, key)).encode(), digest_size=8).digest()
        self._state = int.from_bytes(digest, "big")

    def share(self) -> float:
        """A number from 0 to less than 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return ((mixed ^ (mixed >> 31)) >> 11) / 2**53
