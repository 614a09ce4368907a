"""The texts of the runs of a page: one string, measured as a whole instead of one by one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LAST_SPACE = 0x3000
_SLICE = 1 << 18  # characters that are looked at at once
_SMALL = 1 << 17  # of all the texts of a page


class Ink(NamedTuple):
    """The characters of some texts that are no white space.

    Attributes:
        points: Their code points.
        places: Where they are in all the texts, which a character parts.
        runs: The text each is in.
        blank: Of each character of the texts, whether it is white space to :meth:`str.split`.
    """

    points: NDArray[np.uint32]
    places: NDArray[np.int32]
    runs: NDArray[np.int32]
    blank: NDArray[np.bool_]


class RunTexts:
    """The texts of the runs of a page.

    Args:
        joined: The texts, separated by NUL, which is in none of them.
        count: How many there are.
    """

    def __init__(self, joined: str, count: int) -> None:
        self._joined = joined
        self._count = count
        self._ink: Ink | None = None

    @cached_property
    def starts(self) -> NDArray[np.int32]:
        """The position of each text in the string, and the end of the last."""
        starts = np.zeros(self._count + 1, dtype=np.int32)
        if self._count:
            points = _points(self._joined)
            starts[1:-1] = np.flatnonzero(points == 0) + 1
            starts[-1] = len(points) + 1
        return starts

    @cached_property
    def _bounds(self) -> memoryview:  # quicker to be read one by one
        return self.starts.data

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, run: int) -> str:
        return self._joined[self._bounds[run] : self._bounds[run + 1] - 1]

    def joined(self, first: int, after: int, most: int) -> str:
        """Return the texts from one to another, a space between two, cut after some characters."""
        start = self.starts[first]
        text = self._joined[start : min(self.starts[after] - 1, start + most)]
        return text.replace("\0", " ")

    def __iter__(self) -> Iterator[str]:
        return iter(self._joined.split("\0") if len(self) else ())

    def ink(self, runs: range) -> Ink:
        """Return the characters of some texts, in a row, that are no white space."""
        if len(self._joined) < _SMALL:  # looked at more than once
            if self._ink is None:
                self._ink = self._find_ink(range(len(self)))
            return self._ink
        return self._find_ink(runs)

    def _find_ink(self, runs: range) -> Ink:
        begin, end = self.starts[runs.start], self.starts[runs.stop]
        points = _points(self._joined[begin:end])
        blank = _spaces()[np.minimum(points, _LAST_SPACE + 1)]
        places = np.flatnonzero(~(blank | (points == 0))).astype(np.int32)
        sizes = np.diff(self.starts[runs.start : runs.stop + 1])
        numbers = np.repeat(np.arange(runs.start, runs.stop, dtype=np.int32), sizes)
        return Ink(points[places], places, numbers[places], blank)

    def slices(self, bounds: NDArray[np.integer] | None = None) -> Iterator[range]:
        """Yield ranges of texts, each of about so many characters as are looked at at once.

        Args:
            bounds: Where they may be separated, if not between any two texts.
        """
        first = 0
        while first < len(self):
            after = int(np.searchsorted(self.starts, self.starts[first] + _SLICE, side="right")) - 1
            after = max(after, first + 1)
            if bounds is not None:
                place = np.searchsorted(bounds, after)
                after = int(bounds[place]) if place < len(bounds) else len(self)
            after = min(after, len(self))
            yield range(first, after)
            first = after

    def lengths(self) -> NDArray[np.int64]:
        """Return how many characters each text has, white space collapsed."""
        lengths = np.zeros(len(self), dtype=np.int64)
        for these in self.slices():
            _, places, runs, _ = self.ink(these)
            runs = runs - these.start
            separated = (np.diff(places) > 1) & (runs[1:] == runs[:-1])
            lengths[these.start : these.stop] = np.bincount(
                runs, minlength=len(these)
            ) + np.bincount(runs[1:][separated], minlength=len(these))
        return lengths


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


@cache
def _spaces() -> NDArray[np.bool_]:
    return np.array([chr(code).isspace() for code in range(_LAST_SPACE + 2)], dtype=np.bool_)
