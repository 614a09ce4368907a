"""Search over the blocks of an archive.

What a block says, of what kind it is, which media it has, on which pages it was and when: the
index is made from the archive, kept beside it, and can be thrown away. See
:mod:`mmcrawl.archive.search_query` for what can be asked, and
:mod:`mmcrawl.archive.search_ranking` for the order of what is found.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.search_documents import Snippet
from mmcrawl.archive.search_hits import Hit, HitReader
from mmcrawl.archive.search_index import IndexStore
from mmcrawl.archive.search_matching import matching
from mmcrawl.archive.search_query import Query, SearchError, parse_query
from mmcrawl.archive.search_ranking import ORDERS, Order, Ranking, ranked
from mmcrawl.archive.search_sqlite import SqliteIndex
from mmcrawl.archive.search_updating import Updated, Updater
from mmcrawl.archive.search_view import Current, GoneError, View
from mmcrawl.errors import StoreError

__all__ = [
    "Hit",
    "IndexStats",
    "Results",
    "Search",
    "SearchError",
    "Snippet",
    "Updated",
    "open_search",
]

_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Results:
    """What was found: `total` pages, of which `hits` are shown, each by its best block."""

    total: int
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Numbers of the index: what it covers, and the bytes it takes."""

    pages: int
    versions: int
    blocks: int
    segments: int
    stored_bytes: int


def open_search(uri: str, archive: Archive, *, read_only: bool = False) -> Search:
    """Open the search index of an archive.

    Args:
        uri: Of the archive. The index of ``sqlite:///crawl.db`` is the file ``crawl.db-search``;
            that of a MongoDB database are its collections ``search_head`` and ``search_objects``.
        archive: Opened.
        read_only: Search only.

    Raises:
        StoreError: the index cannot be opened.
    """
    if uri.startswith("sqlite:///"):
        path = Path(uri.removeprefix("sqlite:///") + "-search")
        return Search(archive, SqliteIndex(path, read_only=read_only))
    if uri.startswith(("mongodb://", "mongodb+srv://")):
        from mmcrawl.archive.search_mongodb import MongoIndex

        return Search(archive, MongoIndex(uri))
    raise StoreError(f"archive {uri!r} is not understood; use sqlite:///FILE or mongodb://…")


class Search:
    """Searches an archive. Use it ``with`` or :meth:`close` it; any thread may call any method.

    Args:
        archive: What is searched; it stays open.
        store: Where the index is.
        orders: By name; further ones may be given.
    """

    def __init__(
        self, archive: Archive, store: IndexStore, *, orders: Mapping[str, Order] = ORDERS
    ) -> None:
        self._archive = archive
        self._store = store
        self._orders = orders
        self._current = Current(store)
        self._lock = threading.Lock()
        self._updating = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        self._store.close()

    def update(self, urls: Iterable[str] | None = None) -> Updated:
        """Bring the index up to date; interrupted at any point, it is right, and goes on later.

        Args:
            urls: Look at these only, as stored, for instance those just stored. All by default,
                which takes a look at each URL of the archive.

        Raises:
            StoreError: the archive or the index fails.
        """
        with self._updating:
            return Updater(self._archive, self._store, Current(self._store)).update(urls)

    def rebuild(self) -> Updated:
        """Make the index anew."""
        with self._updating:
            self._store.clear()
            return Updater(self._archive, self._store, Current(self._store)).update()

    def stats(self) -> IndexStats:
        """Return numbers of the index."""
        view = self._view()
        return IndexStats(
            pages=len(view.seen.urls),
            versions=len(view.seen.url),
            blocks=int(view.alive.sum()),
            segments=len(view.head.segments),
            stored_bytes=self._store.size(),
        )

    def search(
        self, query: str, *, order: str = "relevance", limit: int = 20, offset: int = 0
    ) -> Results:
        """Find pages by their blocks.

        Args:
            query: As :mod:`mmcrawl.archive.search_query` describes.
            order: ``relevance``, ``newest`` or ``oldest``.
            limit, offset: How many pages to show, and how many to skip; not negative. What was
                purged since the last update is left out.

        Raises:
            SearchError: the query, or the order, is not understood.
            StoreError: the archive or the index fails.
        """
        if order not in self._orders:
            raise SearchError(f"there is no order {order!r}; use {', '.join(self._orders)}")
        if limit < 0 or offset < 0:
            raise SearchError("limit and offset must not be negative")
        parsed = parse_query(query)
        ranking = self._ranking(parsed, self._orders[order])
        reader = HitReader(self._archive, ranking, frozenset((*parsed.words, *parsed.topics)))
        shown = ranking.pages[offset : offset + limit].tolist()
        hits = (reader.page(match) for match in shown)
        return Results(len(ranking.pages), tuple(hit for hit in hits if hit is not None))

    def _ranking(self, query: Query, order: Order) -> Ranking:
        for _ in range(_ATTEMPTS):
            try:
                return ranked(matching(query, self._view()), order)
            except GoneError:
                continue
        raise StoreError(f"search index {self._store.name} changes all the time; try again")

    def _view(self) -> View:
        with self._lock:
            for _ in range(_ATTEMPTS):
                try:
                    return self._current.view()
                except GoneError:
                    continue
        raise StoreError(
            f"search index {self._store.name} has lost a part; rebuild it from the archive"
        )
