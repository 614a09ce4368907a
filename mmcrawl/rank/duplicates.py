"""Finds pages with the same or nearly the same text."""

import re
import time
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from datasketch import MinHash
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_unix_time
from mmcrawl.blocks.content.content import page_content
from mmcrawl.errors import RankError
from mmcrawl.frontier.urls import host_of
from mmcrawl.rank.reading import Progress, Reading, over_bodies
from mmcrawl.rank.records import Body
from mmcrawl.rank.results import FoundDuplicates, Group

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
_LEAST_EXACT = 4  # tokens; "page not found" is no content


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
    """Return the MinHash sketch of a text's shingles."""
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


class Compared(NamedTuple):
    digest: bytes
    sketch: Sketch | None


def compared_by(body: Body) -> Compared:
    """Return the features by which a page is compared: none, if it has no text."""
    content = page_content(body.body, url=body.url, encoding=body.encoding or None)
    tokens = tokens_of(content.text)
    if len(tokens) < _LEAST_EXACT:
        return Compared(b"", None)
    return Compared(digest(tokens), sketch(tokens) if len(tokens) >= LEAST_TOKENS else None)


def find_duplicates(
    archive: Archive,
    *,
    near: float = 0.8,
    at: datetime | float | None = None,
    progress: Progress | None = None,
) -> FoundDuplicates:
    """Compare the pages of an archive with each other.

    Args:
        near: Share of runs of four words (or Chinese characters) that two pages have in common,
            above 0, from which on they are alike; 1 for those that say the same.
        at: The archive as of then, in Unix seconds; by default the newest versions.
    """
    if not 0 < near <= 1:
        raise RankError(f"near must be above 0 and at most 1, not {near:g}")
    counts, started = archive.counts(), time.time()
    reading = Reading(archive, at=at, topics=False, progress=progress)
    urls: list[str] = []
    versions: list[int] = []
    digests: list[bytes] = []
    sketches: list[Sketch | None] = []
    for url, number, page in over_bodies(compared_by, archive, reading):
        if page.digest:
            urls.append(url)
            versions.append(number)
            digests.append(page.digest)
            sketches.append(page.sketch)
    groups = groups_of(digests, sketches, near)
    return FoundDuplicates(
        near=near,
        computed=started,
        at=as_unix_time(at) if at is not None else None,
        archive_urls=counts["urls"],
        archive_versions=counts["versions"],
        pages=len(urls),
        groups=tuple(_groups(urls, versions, digests, groups)),
        unreadable=tuple(reading.unreadable),
    )


def _groups(
    urls: Sequence[str], versions: Sequence[int], digests: Sequence[bytes], group: Ids
) -> Iterator[Group]:
    """Yield the groups of two or more, the largest first, of equal ones in order of the archive."""
    order = np.argsort(group, kind="stable")
    ends = np.flatnonzero(np.diff(group[order])) + 1
    found = [members.tolist() for members in np.split(order, ends) if len(members) > 1]
    for members in sorted(found, key=lambda members: (-len(members), members[0])):
        yield Group(
            urls=tuple(urls[page] for page in members),
            versions=tuple(versions[page] for page in members),
            exact=len({digests[page] for page in members}) == 1,
            hosts=len({host_of(urls[page]) for page in members}),
        )
