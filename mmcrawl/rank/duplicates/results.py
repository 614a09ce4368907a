"""Groups of pages that are alike, kept beside the archive, in the store of its ranks.

The head is as that of ranks; its parts are the sorted 64-bit keys of the URLs with the numbers of
their groups. Pages that are like no other are not kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import zstandard

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import RankError, StoreError
from mmcrawl.frontier.urls import url_key
from mmcrawl.rank.results import DUPLICATES, RankStore, open_store

FORMAT = 1


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
    keys = np.fromiter((url_key(0, url) for url in urls), dtype="<i8", count=len(urls))
    order = np.argsort(keys, kind="stable")
    parts = {
        "keys": keys[order].tobytes(),
        "groups": np.array(numbers, dtype="<i8")[order].tobytes(),
        "urls": "\n".join(urls[i] for i in order).encode("utf-8", "surrogatepass"),
    }
    head = {
        "format": FORMAT,
        "computed": found.computed,
        "at": found.at,
        "near": found.near,
        "archive_urls": found.archive_urls,
        "archive_versions": found.archive_versions,
        "pages": found.pages,
        "groups": len(found.groups),
    }
    compress = zstandard.ZstdCompressor().compress
    store = open_store(uri)
    try:
        text = json.dumps(head, sort_keys=True)
        store.replace(DUPLICATES, text, {name: compress(part) for name, part in parts.items()})
    finally:
        store.close()


def open_duplicates(uri: str) -> Duplicates:
    """Return the groups that are kept of an archive.

    Raises:
        RankError: there are none.
        StoreError: they cannot be read.
    """
    store = open_store(uri, read_only=True)
    try:
        head = store.heads().get(DUPLICATES)
        if head is None:
            raise RankError(
                "which pages of the archive are alike is not known; `scrapy archive duplicates`"
                " finds out"
            )
        return Duplicates(store, head)
    finally:
        store.close()


class Duplicates(Mapping[str, int]):
    """The group of each page that is like another one, by URL, in any spelling.

    Attributes:
        near: Share of shingles from which on pages were taken to be alike.
        computed: When, in Unix seconds.
        groups: How many.
    """

    def __init__(self, store: RankStore, head: str) -> None:
        try:
            self._facts = json.loads(head)
        except ValueError as error:
            raise StoreError(f"duplicates in {store.name} are damaged; {_ANEW}") from error
        if self._facts.get("format") != FORMAT:
            raise StoreError(f"duplicates are of another version of mmcrawl; {_ANEW}")
        self.near = float(self._facts["near"])
        self.computed = float(self._facts["computed"])
        self.groups = int(self._facts["groups"])
        self._keys = np.frombuffer(_part(store, head, "keys"), dtype="<i8")
        self._numbers = np.frombuffer(_part(store, head, "groups"), dtype="<i8")
        self._urls = _part(store, head, "urls")

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._urls.decode("utf-8", "surrogatepass").split("\n") if len(self) else ())

    def __getitem__(self, url: str) -> int:
        try:
            key = url_key(0, url)
        except ValueError:
            raise KeyError(url) from None
        place = int(np.searchsorted(self._keys, key))
        if place == len(self._keys) or self._keys[place] != key:
            raise KeyError(url)
        return int(self._numbers[place])

    def is_stale(self, archive: Archive) -> bool:
        """Whether the archive has changed since: it holds more or fewer URLs or versions."""
        counts = archive.counts()
        known = (self._facts["archive_urls"], self._facts["archive_versions"])
        return (counts["urls"], counts["versions"]) != known


_ANEW = "find them anew with `scrapy archive duplicates`"


def _part(store: RankStore, head: str, name: str) -> bytes:
    found = store.part(DUPLICATES, head, name)
    if found is None:
        raise StoreError(f"duplicates in {store.name} were replaced just now; try again")
    try:
        return zstandard.ZstdDecompressor().decompress(found)
    except zstandard.ZstdError as error:
        raise StoreError(f"duplicates in {store.name} are damaged; {_ANEW}") from error
