"""Groups of alike texts, from their digests and sketches.

A text is taken as tokens: words, and each Chinese or Japanese character by itself, so that no
dictionary decides. Texts with one digest say the same. Runs of four tokens are its *shingles*
(Broder 1997, "On the resemblance and containment of documents"); the share of shingles that two
texts have in common, |A ∩ B| / |A ∪ B|, is told from their MinHash sketches (datasketch) within
about 0.04.

Sketches are cut into bands; texts of which one band is the same are looked at (locality-sensitive
hashing: Leskovec, Rajaraman & Ullman, "Mining of Massive Datasets", section 3.4), and go together
if the sketches as a whole are alike. So no text is compared with all others; kept are 512 bytes a
text that differs from all others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from datasketch import MinHash
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

SKETCH = 128
"""Numbers of a sketch: they tell a share s to a standard deviation of √(s(1 - s)/128)."""

LEAST_TOKENS = 24
"""Texts with fewer have no sketch: one word more or less would make them strangers."""

_SHINGLE = 4
_HAN = r"[぀-ヿ㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff]"
_TOKEN = re.compile(rf"{_HAN}|(?:(?!{_HAN})[^\W_])+")
_MIX = np.uint64(0x9E3779B97F4A7C15)

_MISSED = 0.02  # of the pairs that are just alike enough, at most

Sketch = NDArray[np.uint32]
Ids = NDArray[np.int64]


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text; width and case of letters, and punctuation, do not count.

    >>> tokens_of("Levers, ＆ 杠杆")
    ['levers', '杠', '杆']
    """
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def digest(tokens: Sequence[str]) -> bytes:
    """Return 16 bytes that texts with the same tokens have in common, and no others."""
    return blake2b(" ".join(tokens).encode("utf-8", "replace"), digest_size=16).digest()


def sketch(tokens: Sequence[str]) -> Sketch:
    """Return the MinHash sketch of a text's shingles.

    Args:
        tokens: At least :data:`LEAST_TOKENS`.
    """
    minhash = MinHash(num_perm=SKETCH, hashfunc=int)
    minhash.update_batch(_shingles(tokens).tolist())
    return np.asarray(minhash.hashvalues).astype(np.uint32)


def _shingles(tokens: Sequence[str]) -> NDArray[Any]:
    """Return 32-bit hashes of the shingles, each once."""
    numbers = np.fromiter(map(_number, tokens), dtype=np.uint64, count=len(tokens))
    windows = np.lib.stride_tricks.sliding_window_view(numbers, _SHINGLE)
    mixed = np.zeros(len(windows), dtype=np.uint64)
    for place in range(_SHINGLE):
        mixed = (mixed ^ windows[:, place]) * _MIX
        mixed ^= mixed >> np.uint64(29)
    return np.unique(mixed >> np.uint64(32))


@lru_cache(maxsize=1 << 16)
def _number(token: str) -> int:
    raw = token.encode("utf-8", "replace")
    return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little")


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
