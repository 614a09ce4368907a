"""The level a page is cut at, chosen from its history (Song et al. 2008, sections 2.5 and 3.1).

The first version is cut at the default level, later ones at that of the version before. After every
:data:`REVIEW` versions the last ones are looked at:

* *Merge.* If a cut one level lower would have found hardly more bytes changed, the innermost
  blocks always change together, and the level goes down to the one above them.
* *Split.* If blocks of some size are replaced, in place, by blocks of nearly the same size, little
  can have changed in them, and the level goes up by one to show where. That is of no use in an
  advertisement or a menu: only kinds of blocks count that the page is there for. Whether it helped
  is seen at the next review: if not, the level goes down again, as for any blocks that change
  together.

A review needs versions of one level only, so that a new level stays for :data:`REVIEW` versions at
least; and a page is not split again while one of its last :data:`MEMORY` reviews saw a higher level
than now. Only digests and sizes of blocks are compared, so the choice costs the same however long
the history is, and is the same whenever it is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from mmcrawl.archive.model import StoredBlock, Version, leaves
from mmcrawl.blocks.kinds import KEPT
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL
from mmcrawl.errors import StoreError

if TYPE_CHECKING:
    from mmcrawl.archive.archive import Archive

REVIEW = 5
"""Versions between two reviews, and how many of them a review looks at."""

MEMORY = 8
"""Reviews for which a level that was given up is not tried again."""

LOWEST, HIGHEST = 1, 10

_MOST_CHANGED = 3  # changes of a window that must agree
_HARDLY_MORE = 1.1  # bytes found changed one level lower, to those found now
_SAME_SIZE = 0.1  # difference of two blocks' sizes, to the greater
_LARGE_BLOCK = 1_024
_LARGE_PART = 0.2  # of a page


@dataclass(frozen=True, slots=True)
class LevelChoice:
    """The level for the next version of a URL."""

    level: int  # to cut at, from 1; 0 if it is no page
    before: int  # level of the last version, or the default for a first visit
    reason: str  # why, as a sentence

    @property
    def is_new(self) -> bool:
        """Whether the level differs from the last one."""
        return self.level != self.before


class LevelManager:
    """Chooses levels from the history in an archive."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def choose(self, url: str) -> LevelChoice:
        """Choose the level for the next version of a URL; a StoreError if a block is unreadable."""
        try:
            last = self._archive.get(url)
        except StoreError:
            reason = f"A first version is cut at level {DEFAULT_LEVEL}."
            return LevelChoice(DEFAULT_LEVEL, DEFAULT_LEVEL, reason)
        return self._next(last)

    def _next(self, last: Version) -> LevelChoice:
        level = last.level
        if not last.method:
            return _as_before(level, "its last version is no page.")
        left = -last.number % REVIEW
        if left:
            after = last.number + left
            return _as_before(level, f"it is thought over again after version {after}.")
        window = [last]
        for number in range(last.number - 1, last.number - REVIEW, -1):
            version = self._version(last.url, number)
            if version is None or version.status // 100 != 2:
                return _as_before(level, "too few of its last versions are pages to compare.")
            if (version.method, version.level) != (last.method, level):
                return _as_before(level, "its last versions were not all cut alike.")
            window.append(version)
        pages = [self._archive.blocks_of(version) for version in reversed(window)]
        return self._review(last, pages)

    def _review(self, last: Version, pages: Sequence[Sequence[StoredBlock]]) -> LevelChoice:
        level = last.level
        cut = min(level, max((block.level for page in pages for block in page), default=LOWEST))
        together = _bytes_if_merged(pages, cut) if cut > LOWEST else None
        if together is not None:
            finer, coarser = together
            return LevelChoice(
                cut - 1,
                level,
                f"Level {cut - 1} instead of {level}: blocks change together; of the last"
                f" {len(pages)} versions {coarser:,} bytes would have been found changed, {finer:,}"
                " now.",
            )
        parts = [_replaced_in_place(old, new, level) for old, new in pairwise(pages)]
        large = [part for part in parts if part >= _LARGE_PART]
        if len(large) < _MOST_CHANGED or level >= HIGHEST:
            return _as_before(level, f"the last {len(pages)} versions give no reason for another.")
        if self._was_higher(last):
            return _as_before(level, f"level {level + 1} was tried not long ago and did not help.")
        return LevelChoice(
            level + 1,
            level,
            f"Level {level + 1} instead of {level}: blocks that make up"
            f" {sum(large) / len(large):.0%} of the page change again and again and keep their"
            " size; smaller ones show what changes in them.",
        )

    def _was_higher(self, last: Version) -> bool:
        numbers = range(last.number - REVIEW, 0, -REVIEW)[:MEMORY]
        versions = (self._version(last.url, number) for number in numbers)
        return any(version is not None and version.level > last.level for version in versions)

    def _version(self, url: str, number: int) -> Version | None:
        """Return a version; None for one that was purged."""
        if number < 1:
            return None
        try:
            return self._archive.version(url, number)
        except StoreError:
            return None


def _as_before(level: int, why: str) -> LevelChoice:
    return LevelChoice(level, level, f"Level {level} as before: {why}")


def _cut_at(blocks: Sequence[StoredBlock], level: int) -> list[StoredBlock]:
    """Return the innermost blocks as if the page had been cut at a level."""
    return leaves([block for block in blocks if block.level <= level])


def _bytes_if_merged(pages: Sequence[Sequence[StoredBlock]], level: int) -> tuple[int, int] | None:
    """Return the bytes found changed at a level and at the one below; None if merging costs."""
    fine = [_cut_at(page, level) for page in pages]
    coarse = [_cut_at(page, level - 1) for page in pages]
    if all(len(a) == len(b) for a, b in zip(fine, coarse, strict=True)):
        return None
    pairs = zip(pairwise(fine), pairwise(coarse), strict=True)
    changed = [(_new_bytes(*a), _new_bytes(*b)) for a, b in pairs]
    if sum(finer > 0 for finer, _ in changed) < _MOST_CHANGED:
        return None
    finer, coarser = sum(a for a, _ in changed), sum(b for _, b in changed)
    return (finer, coarser) if coarser <= _HARDLY_MORE * finer else None


def _new_bytes(old: Sequence[StoredBlock], new: Sequence[StoredBlock]) -> int:
    """Return the bytes of the blocks that an older version does not have."""
    left = Counter(block.digest for block in old)
    total = 0
    for block in new:
        if left[block.digest]:
            left[block.digest] -= 1
        else:
            total += _size(block)
    return total


def _replaced_in_place(old: Sequence[StoredBlock], new: Sequence[StoredBlock], level: int) -> float:
    """Return the part of a page in large blocks that changed without moving or growing.

    Only blocks of the deepest level count, others would not be cut again at a higher one, and of
    these what the page is there for.
    """
    before = {block.path: block for block in leaves(old)}
    innermost = leaves(new)
    replaced = 0
    for block in innermost:
        other = before.get(block.path)
        if block.level < level or _size(block) < _LARGE_BLOCK or block.kind not in KEPT:
            continue
        if other is None or other.digest == block.digest:
            continue
        sizes = _size(block), _size(other)
        if max(sizes) - min(sizes) <= _SAME_SIZE * max(sizes):
            replaced += sizes[0]
    return replaced / max(1, sum(map(_size, innermost)))


def _size(block: StoredBlock) -> int:
    return block.end - block.start
