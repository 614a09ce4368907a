"""A Reed-Solomon code for erasures, over the field of 256 elements.

Parity is the product of a Cauchy matrix with the data (Blömer et al., "An XOR-based
erasure-resilient coding scheme", 1995): each square part of such a matrix can be inverted, so that
any `n` lost rows are found again from any `n` rows of parity.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 128
"""Rows of data at most, and of parity."""

Bytes = NDArray[np.uint8]

_POLYNOMIAL = 0x11D  # x^8 + x^4 + x^3 + x^2 + 1, of which 2 generates all elements but 0


@cache
def products() -> Bytes:
    """Return the product of each two elements."""
    powers, value = [], 1
    for _ in range(255):
        powers.append(value)
        value <<= 1
        if value & 0x100:
            value ^= _POLYNOMIAL
    logarithm = np.zeros(256, np.int64)
    logarithm[powers] = np.arange(255)
    table: Bytes = np.array(powers, np.uint8)[(logarithm[:, None] + logarithm[None, :]) % 255]
    table[0, :] = table[:, 0] = 0
    return table


def _inverse(element: int) -> int:
    return int(np.flatnonzero(products()[element] == 1)[0])


@cache
def coefficients() -> Bytes:
    """Return the Cauchy matrix: a row of it for each row of parity, a column for each of data."""
    every = range(MOST_ROWS)
    rows = [[_inverse((MOST_ROWS + row) ^ column) for column in every] for row in every]
    return np.array(rows, np.uint8)


def add_row(parity: Bytes, rows: list[int], column: int, data: Bytes) -> None:
    """Add to rows of parity what a row of data adds to each.

    Args:
        parity: Changed in place, shape (rows, bytes).
        rows: Which rows of parity these are.
        column: Which row of data it is.
        data: It, shape (bytes,).
    """
    table, factors = products(), coefficients()
    for place, row in enumerate(rows):
        parity[place] ^= table[factors[row, column]][data]


def lost_rows(syndromes: Bytes, rows: list[int], columns: list[int]) -> Bytes:
    """Return rows of data that were lost.

    Args:
        syndromes: Rows of parity, to which all rows of data that are there were added.
        rows: Which rows of parity these are, as many as are lost.
        columns: Which rows of data are lost.
    """
    table = products()
    left = coefficients()[np.ix_(rows, columns)].copy()
    right = syndromes.copy()
    for place in range(len(columns)):  # no pivot is 0: neither is any part's determinant
        factor = _inverse(int(left[place, place]))
        left[place], right[place] = table[factor][left[place]], table[factor][right[place]]
        for other in range(len(columns)):
            if other != place and (factor := int(left[other, place])):
                left[other] ^= table[factor][left[place]]
                right[other] ^= table[factor][right[place]]
    return right
