"""Which pages a link was found on: a list of numbers for each link, in two arrays and a pool.

The lists grow link by link in any order, most stay short and a few (navigation) become very long.
The list of a link lies in runs of 1, 2, 4, 8… places; a run is preceded by the place of the run
before it. So nothing is ever moved, a list of c numbers is read in about lg c slices, and no link
costs a Python object: 8 bytes for every link, and for its first page 8 more; at most 8 bytes for
each further page, 4 at best.
"""

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np

_Numbers = np.ndarray[Any, np.dtype[Any]]


class InLinks:
    """The pages each link was found on. Links and pages are small non-negative integers."""

    def __init__(self) -> None:
        self._count = array("I")
        self._last = array("I")
        self._pool = array("I")

    def reserve(self, links: int) -> None:
        """Make room for links with numbers below `links`."""
        missing = links - len(self._count)
        if missing > 0:
            self._count.frombytes(bytes(self._count.itemsize * missing))
            self._last.frombytes(bytes(self._last.itemsize * missing))

    def count(self, link: int) -> int:
        """Return on how many pages a link was found."""
        return self._count[link]

    def counts(self, links: _Numbers) -> _Numbers:
        """Return on how many pages each of some links was found."""
        return np.asarray(np.frombuffer(self._count, dtype=np.uint32)[links])

    def add(self, links: Iterable[int], page: int) -> None:
        """Record that each of `links` was found on `page`, where it was not found before."""
        counts, last, pool = self._count, self._last, self._pool
        for link in links:
            count = counts[link] + 1
            counts[link] = count
            if count & (count - 1):
                pool[last[link] + 1 + count - _run(count)] = page
                continue
            start = len(pool)
            pool.append(last[link])
            pool.append(page)
            pool.frombytes(bytes(pool.itemsize * (count - 1)))
            last[link] = start

    def of(self, link: int) -> _Numbers:
        """Return the pages a link was found on, in no order that means anything."""
        count, start, pool = self._count[link], self._last[link], self._pool
        if not count:
            return np.empty(0, dtype=np.uint32)
        places = _run(count)
        runs = [pool[start + 1 : start + 2 + count - places]]
        while places > 1:
            start, places = pool[start], places >> 1
            runs.append(pool[start + 1 : start + 1 + places])
        return np.concatenate([np.frombuffer(run, dtype=np.uint32) for run in runs])


def _run(count: int) -> int:
    """Return how many places the last run of a list of `count` numbers has."""
    return 1 << (count.bit_length() - 1)
