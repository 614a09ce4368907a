"""Groups of pages that are alike, kept beside the archive, in the store of its ranks.

Pages that are like no other are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank.results.kept import Kept, keep, open_kept
from mmcrawl.rank.results.ranks import DUPLICATES

_ANEW = "find them anew with `scrapy archive duplicates`"


@dataclass(frozen=True, slots=True)
class Group:
    """Pages that are alike.

    Attributes:
        urls: As stored, in order of the archive.
        versions: Numbers of the versions.
        exact: Whether all say the same, word for word.
        hosts: How many sites they are on.
    """

    urls: tuple[str, ...]
    versions: tuple[int, ...]
    exact: bool
    hosts: int


@dataclass(frozen=True, slots=True)
class FoundDuplicates:
    """What was found.

    Attributes:
        near: Share of shingles from which on pages are alike; 1 if they must say the same.
        computed: Unix seconds.
        at: The time whose versions were compared; None for the newest.
        archive_urls, archive_versions: How many the archive held when it was read.
        pages: How many with text were compared.
        groups: Of two pages or more, the largest first.
        unreadable: A sentence for each damaged version.
    """

    near: float
    computed: float
    at: float | None
    archive_urls: int
    archive_versions: int
    pages: int
    groups: tuple[Group, ...]
    unreadable: tuple[str, ...] = ()


def save_duplicates(uri: str, found: FoundDuplicates) -> None:
    """Keep what was found beside the archive, in place of what was found before.

    Raises:
        StoreError: it cannot be written.
    """
    urls = [url for group in found.groups for url in group.urls]
    numbers = [number for number, group in enumerate(found.groups) for _ in group.urls]
    said = ("computed", "at", "near", "archive_urls", "archive_versions", "pages")
    facts = {name: getattr(found, name) for name in said} | {"groups": len(found.groups)}
    keep(uri, DUPLICATES, facts, urls, {"groups": np.array(numbers, dtype="<i8")})


def open_duplicates(uri: str) -> Duplicates:
    """Return the groups that are kept of an archive.

    Raises:
        RankError: there are none.
        StoreError: they cannot be read.
    """
    kept = open_kept(uri, lambda _: DUPLICATES, _ANEW)
    if kept is None:
        raise RankError(
            "which pages of the archive are alike is not known; `scrapy archive duplicates`"
            " finds out"
        )
    try:
        return Duplicates(kept)
    finally:
        kept.close()


class Duplicates(Mapping[str, int]):
    """The group of each page that is like another one, by URL, in any spelling.

    Attributes:
        near: Share of shingles from which on pages were taken to be alike.
        computed: When, in Unix seconds.
        groups: How many.
    """

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self.near = float(kept.facts["near"])
        self.computed = float(kept.facts["computed"])
        self.groups = int(kept.facts["groups"])
        self._numbers = kept.column("groups", "<i8")
        self._urls = kept.urls  # read now: the store is closed after this

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[str]:
        return iter(self._urls)

    def __getitem__(self, url: str) -> int:
        (place,) = self._kept.places([url])
        if place < 0:
            raise KeyError(url)
        return int(self._numbers[place])

    def is_stale(self, archive: Archive) -> bool:
        """Whether the archive has changed since: it holds more or fewer URLs or versions."""
        return self._kept.is_stale(archive)
