"""Dice that are made in a microsecond, for webs of which every link needs some."""

from hashlib import blake2b

from mmcrawl.replay.demo.dice import Dice

MASK = 2**64 - 1


class QuickDice(Dice):
    """Dice as those of the demo web, drawn from SplitMix64 in place of a Mersenne twister.

    Making the latter costs ten times what is drawn from it here: each title on a list page has dice
    of its own. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014.
    """

    def __init__(self, *key: object) -> None:
        self._random = _SplitMix(key)  # type: ignore[assignment]

    def share(self) -> float:
        """A number from 0 to less than 1."""
        return self._random.random()


class _SplitMix:
    __slots__ = ("_state",)

    def __init__(self, key: tuple[object, ...]) -> None:
        digest = blake2b("\n".join(map(str, key)).encode(), digest_size=8).digest()
        self._state = int.from_bytes(digest, "big")

    def random(self) -> float:
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return ((mixed ^ (mixed >> 31)) >> 11) / 2**53
