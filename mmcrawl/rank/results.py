"""Ranks that were computed, kept beside the archive they are of.

For each method one result is kept, the last. It is written in *parts* (bytes), and a *head* (a
short JSON text) that tells what they are; the head is written last. Parts are the sorted 64-bit
keys of the URLs with score and version, and the URLs themselves, which are read only when asked
for: ten million scores are found by URL in 200 MB.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import zstandard
from numpy.typing import NDArray

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import RankError, StoreError
from mmcrawl.frontier.urls import url_key
from mmcrawl.rank.graph import Numbers
from mmcrawl.stores.uris import file_of, is_server

FORMAT = 1
DUPLICATES = "duplicates"
"""Name under which :mod:`mmcrawl.rank.duplicates.results` keeps what it keeps in the same store."""
_LEVEL = 3


@dataclass(frozen=True, eq=False)
class RankedPages:
    """The pages of an archive and their ranks, in parallel.

    Attributes:
        method: Name of the method.
        computed: Unix seconds.
        at: The time whose versions were ranked, Unix seconds; None for the newest.
        topic: Name of the topic, "" for none.
        archive_urls, archive_versions: How many the archive held when it was read.
        urls: Of the pages, as stored, by id.
        versions: Numbers of the versions that were ranked.
        scores: They sum to 1.
    """

    method: str
    computed: float
    at: float | None
    topic: str
    archive_urls: int
    archive_versions: int
    urls: list[str]
    versions: NDArray[np.int64]
    scores: Numbers

    def order(self) -> NDArray[np.int64]:
        """Return the ids from the highest rank to the lowest; of equal ones in order of URL."""
        return np.argsort(-self.scores, kind="stable").astype(np.int64)


class RankStore(Protocol):
    """Where results are kept; methods raise StoreError when it fails."""

    name: str

    def heads(self) -> dict[str, str]:
        """Return what is kept: the head of each result, by method."""
        ...

    def part(self, method: str, head: str, part: str) -> bytes | None:
        """Return a part of the result with this head; None if another took its place."""
        ...

    def replace(self, method: str, head: str, parts: Mapping[str, bytes]) -> None:
        """Keep a result in place of the one before; readers see the one or the other."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


def open_store(uri: str, *, read_only: bool = False) -> RankStore:
    """Open the results of an archive.

    Args:
        uri: Of the archive. Results of ``sqlite:///crawl.db`` are in the file ``crawl.db-rank``,
            those of a MongoDB database in its collections ``rank_head`` and ``rank_part``.
        read_only: Do not make the file.

    Raises:
        StoreError: it cannot be opened.
    """
    if path := file_of(uri):
        from mmcrawl.rank.results_stores import SqliteRanks

        return SqliteRanks(path + "-rank", read_only=read_only)
    if is_server(uri):
        from mmcrawl.rank.results_stores import MongoRanks

        return MongoRanks(uri)
    raise StoreError(f"archive {uri!r} is not understood; use sqlite:///FILE or mongodb://…")


def save_ranks(uri: str, pages: RankedPages) -> None:
    """Keep ranks beside their archive, in place of those of the same method.

    Raises:
        StoreError: they cannot be written.
    """
    keys = _keys(pages.urls)
    order = np.argsort(keys, kind="stable")
    head = {
        "format": FORMAT,
        "computed": pages.computed,
        "at": pages.at,
        "topic": pages.topic,
        "archive_urls": pages.archive_urls,
        "archive_versions": pages.archive_versions,
        "pages": len(pages.urls),
    }
    parts = {
        "keys": keys[order].astype("<i8").tobytes(),
        "scores": pages.scores[order].astype("<f8").tobytes(),
        "versions": pages.versions[order].astype("<i8").tobytes(),
        "urls": "\n".join(pages.urls[i] for i in order).encode("utf-8", "surrogatepass"),
    }
    compress = zstandard.ZstdCompressor(level=_LEVEL).compress
    store = open_store(uri)
    try:
        text = json.dumps(head, sort_keys=True)
        store.replace(pages.method, text, {name: compress(part) for name, part in parts.items()})
    finally:
        store.close()


def open_ranks(uri: str, method: str | None = None) -> Ranks:
    """Return the ranks that are kept of an archive.

    Args:
        uri: Of the archive.
        method: Which; by default those computed last.

    Raises:
        RankError: there are none.
        StoreError: they cannot be read.
    """
    store = open_store(uri, read_only=True)
    try:
        heads = {name: head for name, head in store.heads().items() if name != DUPLICATES}
        chosen = method if method is not None else _latest(heads)
        if chosen in heads:
            return Ranks(store, chosen, heads[chosen])
    except BaseException:
        store.close()
        raise
    store.close()
    which, how = (f" by {method}", f" --method {method}") if method else ("", "")
    raise RankError(f"the archive has no ranks{which}; `scrapy rank{how}` computes them")


class Ranks(Mapping[str, float]):
    """The scores of pages by URL, in any spelling; use it ``with`` or :meth:`close` it.

    A page that was not ranked is not in it: :meth:`scores` gives 0 for those. Iterating yields the
    URLs in no particular order.

    Attributes:
        method: Name of the method.
        computed: When, in Unix seconds.
        at: The time whose versions were ranked; None for the newest.
        topic: Name of the topic, "" for none.
    """

    def __init__(self, store: RankStore, method: str, head: str) -> None:
        self._store = store
        self._text = head
        self._head = _read_head(head)
        self.method = method
        self.computed = float(self._head["computed"])
        self.at: float | None = self._head["at"]
        self.topic = str(self._head["topic"])
        self._keys = np.frombuffer(self._part("keys"), dtype="<i8")
        self._scores = np.frombuffer(self._part("scores"), dtype="<f8")

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, url: str) -> float:
        place = self._place(url)
        if place is None:
            raise KeyError(url)
        return float(self._scores[place])

    def __iter__(self) -> Iterator[str]:
        return iter(self._urls)

    def scores(self, urls: Iterable[str]) -> Numbers:
        """Return the scores of many pages at once, 0 for those that were not ranked."""
        keys = _keys(urls)
        if not len(self._keys):
            return np.zeros(len(keys))
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._scores[places], 0.0)

    def version_of(self, url: str) -> int | None:
        """Return the number of the version that was ranked; None if none was."""
        place = self._place(url)
        return None if place is None else int(self._versions[place])

    def is_stale(self, archive: Archive) -> bool:
        """Whether the archive has changed since: it holds more or fewer URLs or versions.

        That a page itself is another now, :meth:`version_of` tells.
        """
        counts = archive.counts()
        known = (self._head["archive_urls"], self._head["archive_versions"])
        return (counts["urls"], counts["versions"]) != known

    def _place(self, url: str) -> int | None:
        key = _keys([url])[0]
        place = int(np.searchsorted(self._keys, key))
        return place if place < len(self._keys) and self._keys[place] == key else None

    @cached_property
    def _versions(self) -> NDArray[np.int64]:
        return np.frombuffer(self._part("versions"), dtype="<i8")

    @cached_property
    def _urls(self) -> list[str]:
        text = self._part("urls").decode("utf-8", "surrogatepass")
        return text.split("\n") if len(self) else []

    def _part(self, name: str) -> bytes:
        found = self._store.part(self.method, self._text, name)
        if found is None:
            raise StoreError(
                f"the ranks in {self._store.name} were computed anew while they were read; read"
                " them again"
            )
        try:
            return zstandard.ZstdDecompressor().decompress(found)
        except zstandard.ZstdError as error:
            raise StoreError(
                f"the ranks in {self._store.name} are damaged ({error}); compute them anew"
            ) from error


def _latest(heads: Mapping[str, str]) -> str:
    times = {method: _read_head(head)["computed"] for method, head in heads.items()}
    return max(times, key=lambda method: (times[method], method), default="")


def _read_head(text: str) -> dict[str, Any]:
    try:
        head: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise StoreError(f"ranks are damaged ({error}); compute them anew") from error
    if head.get("format") != FORMAT:
        raise StoreError("the ranks are of another version of mmcrawl; compute them anew")
    return head


def _keys(urls: Iterable[str]) -> NDArray[np.int64]:
    return np.fromiter(map(_key, urls), dtype=np.int64)


def _key(url: str) -> int:
    try:
        return url_key(0, url)
    except ValueError:
        return 0
