"""The texts of the runs of a page: one string, measured as a whole and not one by one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LAST_SPACE = 0x3000


class Ink(NamedTuple):
    """The characters of some texts that are no white space.

    Attributes:
        points: Their code points.
        places: Where they stand in all the texts, which a character parts.
        runs: The text each stands in.
    """

    points: NDArray[np.uint32]
    places: NDArray[np.int32]
    runs: NDArray[np.int32]


class RunTexts:
    """The texts of the runs of a page.

    Args:
        joined: The texts, parted by NUL, which is in none of them.
        count: How many there are.
    """

    def __init__(self, joined: str, count: int) -> None:
        self._joined = joined
        points = _points(joined)
        starts = np.zeros(count + 1, dtype=np.int32)
        starts[1:count] = np.flatnonzero(points == 0) + 1
        starts[count] = len(points) + 1
        self.starts = starts
        """Where each text begins among all, and what is behind the last."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, run: int) -> str:
        return self._joined[self.starts[run] : self.starts[run + 1] - 1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._joined.split("\0") if len(self) else ())

    def ink(self) -> Ink:
        """Return the characters that are no white space."""
        points = _points(self._joined)
        places = np.flatnonzero(~is_space(points) & (points != 0)).astype(np.int32)
        runs = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))
        return Ink(points[places], places, runs[places])

    def spaces(self) -> NDArray[np.bool_]:
        """Return of each character of all the texts whether it is white space."""
        return is_space(_points(self._joined))

    def lengths(self) -> NDArray[np.int64]:
        """Return how many characters each text has, white space collapsed."""
        _, places, runs = self.ink()
        parted = (np.diff(places) > 1) & (runs[1:] == runs[:-1])
        inked = np.bincount(runs, minlength=len(self))
        return inked + np.bincount(runs[1:][parted], minlength=len(self))


def is_space(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return of each code point whether it is white space, as :meth:`str.split` has it."""
    return _spaces()[np.minimum(points, _LAST_SPACE + 1)]


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


@cache
def _spaces() -> NDArray[np.bool_]:
    return np.array([chr(code).isspace() for code in range(_LAST_SPACE + 2)], dtype=np.bool_)
