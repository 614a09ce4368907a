"""Stores results about an archive's pages beside the archive, and finds them by URL."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import zstandard
from numpy.typing import NDArray

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import MissingStoreError, RankError, StoreError
from mmcrawl.frontier.urls import url_key
from mmcrawl.rank.graph import Numbers
from mmcrawl.store.documents import (
    BLOB,
    KEY,
    Contents,
    Document,
    Store,
    Table,
    get_blob,
    open_documents,
    put_blob,
)
from mmcrawl.store.uris import file_of, is_server

_T = TypeVar("_T", int, float)
_K = TypeVar("_K", "Ranks", "Duplicates")
_LEVEL = 3  # of zstandard
_CONTENTS = Contents(
    noun="table of ranks",
    mark="mmrk",
    version=1,
    prefix="rank_",
    tables=(Table("result", {"written": int, "facts": dict}), Table("part", BLOB)),
    missing="`scrapy rank` computes it",
    instead="another archive, or move it away",
    damaged="compute the ranks again with `scrapy rank`",
)


def open_results(uri: str, *, create: bool = False) -> Store:
    """Open the results of an archive.

    Args:
        uri: Of the archive. Results of ``sqlite:///crawl.db`` are in the file ``crawl.db-rank``,
            those of a MongoDB database in its collections ``rank_result`` and ``rank_part``.
        create: Whether to create them if there are none.
    """
    path = file_of(uri)
    if not path and not is_server(uri):
        raise StoreError(f"archive {uri!r} is not understood; use sqlite:///FILE or mongodb://…")
    return open_documents(_CONTENTS, uri, Path(path + "-rank") if path else None, create=create)


def keep(
    uri: str,
    name: str,
    facts: Mapping[str, Any],
    urls: Sequence[str],
    columns: Mapping[str, NDArray[Any]],
) -> None:
    """Save a result beside its archive, replacing the one of the same name."""
    keys = _keys(urls)
    order = np.argsort(keys, kind="stable")
    parts = {"keys": keys[order].tobytes()}
    parts |= {column: values[order].tobytes() for column, values in columns.items()}
    parts["urls"] = "\n".join(urls[i] for i in order).encode("utf-8", "surrogatepass")
    compress = zstandard.ZstdCompressor(level=_LEVEL).compress
    with closing(open_results(uri, create=True)) as store:
        before = store.get("result", [name]).get(name)
        written = max(time.time_ns(), before["written"] + 1 if before else 0)
        for part, content in parts.items():
            put_blob(store, "part", f"{name}/{written}/{part}", compress(content))
        result = {"written": written, "facts": dict(facts)}
        if before:
            same = (KEY, "=", name), ("written", "=", before["written"])
            is_kept = store.change("result", [(same, result)]) == 1
        else:
            is_kept = not store.insert_new("result", {name: result})
        if not is_kept:
            raise StoreError(
                f"{name} in {store.name} was computed by another process at the same time, whose"
                " result is kept; compute it again if it is of an older archive"
            )
        store.delete("part", (KEY, ">=", f"{name}/"), (KEY, "<", f"{name}/{written}"))


class Kept(Mapping[str, _T]):
    """A number for each of some pages, by URL in any spelling; use it ``with`` or :meth:`close` it.

    Iterating yields the URLs in no particular order.

    Attributes:
        facts: What else is known of the result.
    """

    column: ClassVar[tuple[str, str]]  # its name, and the kind of its numbers as numpy names it
    anew: ClassVar[str]  # what to do if it cannot be read

    def __init__(self, store: Store, name: str, document: Document) -> None:
        self._store, self.name, self._written = store, name, document["written"]
        self.facts: dict[str, Any] = document["facts"]
        self._keys = np.frombuffer(self._part("keys"), "<i8")
        self._numbers = np.frombuffer(self._part(self.column[0]), self.column[1])
        self.computed = float(self.facts["computed"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._urls)

    def __getitem__(self, url: str) -> _T:
        (place,) = self._places([url])
        if place < 0:
            raise KeyError(url)
        number: _T = self._numbers[place].item()
        return number

    def is_stale(self, archive: Archive) -> bool:
        """Whether the archive has changed since: it holds more or fewer URLs or versions."""
        counts = archive.counts()
        known = (self.facts["archive_urls"], self.facts["archive_versions"])
        return (counts["urls"], counts["versions"]) != known

    @cached_property
    def _urls(self) -> list[str]:
        return self._part("urls").decode("utf-8", "surrogatepass").split("\n") if len(self) else []

    def _places(self, urls: Iterable[str]) -> NDArray[np.int64]:
        """Return the places of pages among the numbers, -1 for those that are not in it."""
        keys = _keys(urls)
        if not len(self):
            return np.full(len(keys), -1)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self) - 1)
        return np.where(self._keys[places] == keys, places, -1)

    def _part(self, part: str) -> bytes:
        what = f"{self.name} in {self._store.name}"
        found = get_blob(self._store, "part", f"{self.name}/{self._written}/{part}")
        now = self._store.get("result", [self.name]).get(self.name)
        if now is None or now["written"] != self._written:
            raise StoreError(f"{what} was recomputed while it was read; read it again")
        try:
            return zstandard.ZstdDecompressor().decompress(found or b"")
        except zstandard.ZstdError as error:
            raise StoreError(f"{what} is damaged ({error}); {self.anew}") from error


def _open_kept(uri: str, kind: type[_K], choose: Callable[[dict[str, Document]], str]) -> _K | None:
    """Return a stored result for an archive, None if there is none."""
    try:
        store = open_results(uri)
    except MissingStoreError:
        return None
    with ExitStack() as stack:
        stack.callback(store.close)
        found = dict(store.range("result"))
        name = choose({name: one["facts"] for name, one in found.items()})
        if name not in found:
            return None
        kept = kind(store, name, found[name])
        stack.pop_all()
        return kept


def _keys(urls: Iterable[str]) -> NDArray[np.int64]:
    return np.fromiter(map(_key, urls), dtype="<i8")


def _key(url: str) -> int:
    try:
        return url_key(0, url)
    except ValueError:  # no URL: of no page
        return 0


DUPLICATES = "duplicates"
"""Name under which :mod:`mmcrawl.rank.results` keeps groups in the same store."""


@dataclass(frozen=True, eq=False)
class RankedPages:
    """The pages of an archive and their ranks, in parallel.

    Attributes:
        archive_urls, archive_versions: How many the archive held when it was read.
    """

    method: str
    computed: float
    at: float | None  # the time whose versions were ranked, Unix seconds; None for the newest
    topic: str
    archive_urls: int
    archive_versions: int
    urls: list[str]
    versions: NDArray[np.int64]
    scores: Numbers  # they sum to 1


def save_ranks(uri: str, pages: RankedPages) -> None:
    """Save ranks beside their archive, replacing those of the same method."""
    said = ("computed", "at", "topic", "archive_urls", "archive_versions")
    facts = {name: getattr(pages, name) for name in said} | {"pages": len(pages.urls)}
    keep(uri, pages.method, facts, pages.urls, {"scores": pages.scores.astype("<f8")})


def open_ranks(uri: str, method: str | None = None) -> Ranks:
    """Return the ranks that are kept of an archive: of a method, or those computed last."""
    kept = _open_kept(uri, Ranks, _latest if method is None else lambda _: method)
    if kept is not None:
        return kept
    which, how = (f" by {method}", f" --method {method}") if method else ("", "")
    raise RankError(f"the archive has no ranks{which}; `scrapy rank{how}` computes them")


class Ranks(Kept[float]):
    """The scores of pages; a page that was not ranked is not in it."""

    column = "scores", "<f8"
    anew = "compute the ranks again with `scrapy rank`"

    @property
    def method(self) -> str:
        return self.name

    @property
    def at(self) -> float | None:
        """The time whose versions were ranked, Unix seconds; None for the newest."""
        at: float | None = self.facts["at"]
        return at

    @property
    def topic(self) -> str:
        return str(self.facts["topic"])

    def scores(self, urls: Iterable[str]) -> Numbers:
        """Return the scores of many pages at once, 0 for those that were not ranked."""
        places = self._places(urls)
        return (
            np.where(places >= 0, self._numbers[places], 0.0)
            if len(self)
            else np.zeros(len(places))
        )


def _latest(results: Mapping[str, Document]) -> str:
    times = {method: facts["computed"] for method, facts in results.items()}
    times.pop(DUPLICATES, None)
    return max(times, key=lambda method: (times[method], method), default="")


@dataclass(frozen=True, slots=True)
class Group:
    """Pages that are alike."""

    urls: tuple[str, ...]
    versions: tuple[int, ...]
    exact: bool  # whether all say the same, word for word
    hosts: int  # how many sites they are on


@dataclass(frozen=True, slots=True)
class FoundDuplicates:
    """Pages that say the same.

    Attributes:
        archive_urls, archive_versions: How many the archive held when it was read.
    """

    near: float  # share of shingles from which on pages are alike; 1 if they must say the same
    computed: float
    at: float | None
    archive_urls: int
    archive_versions: int
    pages: int  # how many with text were compared
    groups: tuple[Group, ...]  # of two pages or more, the largest first
    unreadable: tuple[str, ...] = ()  # a sentence for each damaged version


def save_duplicates(uri: str, found: FoundDuplicates) -> None:
    """Save the result beside the archive, replacing the last one."""
    urls = [url for group in found.groups for url in group.urls]
    numbers = [number for number, group in enumerate(found.groups) for _ in group.urls]
    said = ("computed", "at", "near", "archive_urls", "archive_versions", "pages")
    facts = {name: getattr(found, name) for name in said} | {"groups": len(found.groups)}
    keep(uri, DUPLICATES, facts, urls, {"groups": np.array(numbers, dtype="<i8")})


def open_duplicates(uri: str) -> Duplicates:
    """Return the groups that are kept of an archive."""
    kept = _open_kept(uri, Duplicates, lambda _: DUPLICATES)
    if kept is None:
        raise RankError(
            "which pages of the archive are alike is not known; `scrapy archive duplicates`"
            " finds out"
        )
    with kept:
        kept._urls  # noqa: B018 - read now: the store is closed after this
        return kept


class Duplicates(Kept[int]):
    """The number of the group of each page that is like another one."""

    column = "groups", "<i8"
    anew = "find them again with `scrapy archive duplicates`"

    @property
    def near(self) -> float:
        """Share of shingles from which on pages were taken to be alike."""
        return float(self.facts["near"])

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.facts["groups"])
