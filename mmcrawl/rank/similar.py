"""Groups of alike texts, from their digests and sketches.

Sketches are cut into bands; texts of which one band is the same are looked at (locality-sensitive
hashing: Leskovec, Rajaraman & Ullman, "Mining of Massive Datasets", section 3.4), and go together
if the sketches as a whole are alike. So no text is compared with all others; kept are 512 bytes a
text that differs from all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mmcrawl.rank.shingles import SKETCH, Sketch

__all__ = ["bands", "groups_of"]

_MISSED = 0.02  # of the pairs that are just alike enough, at most

Ids = NDArray[np.int64]


def bands(near: float) -> tuple[int, int]:
    """Return how many bands of how many rows find all but 2 % of the pairs that are `near` alike.

    >>> bands(0.8)
    (18, 7)
    """
    for rows in range(SKETCH, 1, -1):
        count = SKETCH // rows
        if (1 - near**rows) ** count <= _MISSED:
            return count, rows
    return SKETCH, 1


def groups_of(digests: Sequence[bytes], sketches: Sequence[Sketch | None], near: float) -> Ids:
    """Return the group of each text: the least index of a text in it.

    Texts are of one group if they have one digest, or if a chain of texts leads from the one to the
    other of which each is alike the next.

    Args:
        digests: Of each text; b"" for one that is of no group but its own.
        sketches: Of each text; None for one that is compared by its digest only.
        near: Share of shingles from which on texts are alike, in (0, 1]; 1 for digests only.
    """
    first: dict[bytes, int] = {}
    same = [first.setdefault(found, text) if found else text for text, found in enumerate(digests)]
    group = np.array(same, dtype=np.int64)
    chosen = [(text, found) for text in first.values() if (found := sketches[text]) is not None]
    if near < 1 and chosen:
        matrix = np.stack([found for _, found in chosen])
        texts = np.array([text for text, _ in chosen], dtype=np.int64)
        group = _joined(group, texts, list(_alike(matrix, near)))
    return group


def _alike(matrix: NDArray[np.uint32], near: float) -> Iterator[tuple[Ids, Ids]]:
    """Yield pairs of rows that are alike, enough of them to lead from each such row to all."""
    count, rows = bands(near)
    for band in range(count):
        part = np.ascontiguousarray(matrix[:, band * rows : (band + 1) * rows])
        keys = part.view(np.dtype((np.void, part.shape[1] * part.itemsize))).ravel()
        _, bucket = np.unique(keys, return_inverse=True)
        order = np.argsort(bucket, kind="stable")
        ends = np.flatnonzero(np.diff(bucket[order])) + 1
        for members in np.split(order, ends):
            if len(members) > 1:
                yield from _near_a_first(matrix, members, near)


def _near_a_first(
    matrix: NDArray[np.uint32], members: Ids, near: float
) -> Iterator[tuple[Ids, Ids]]:
    """Yield pairs of the first of a bucket and those alike; again for those that are not."""
    left = members
    while len(left) > 1:
        shares = (matrix[left] == matrix[left[0]]).mean(axis=1)
        close = shares >= near
        close[0] = True
        found = left[close]
        if len(found) > 1:
            yield np.full(len(found) - 1, found[0]), found[1:]
        left = left[~close]


def _joined(group: Ids, chosen: Ids, pairs: list[tuple[Ids, Ids]]) -> Ids:
    if not pairs:
        return group
    source = chosen[np.concatenate([one for one, _ in pairs])]
    target = chosen[np.concatenate([other for _, other in pairs])]
    size = len(group)
    texts = np.arange(size)
    rows, columns = np.concatenate((source, texts)), np.concatenate((target, group))
    ones = np.ones(len(rows), dtype=np.bool_)
    _, labels = connected_components(
        coo_array((ones, (rows, columns)), shape=(size, size)), directed=False
    )
    least = np.full(labels.max() + 1, size, dtype=np.int64)
    np.minimum.at(least, labels, texts)
    joined: Ids = least[labels]
    return joined
