"""Search over the blocks of an archive.

What a block says, of what kind it is, which media it has, on which pages it was and when: the
index is made from the archive, kept beside it, and can be thrown away. See
:mod:`mmcrawl.archive.search_query` for what can be asked, and
:mod:`mmcrawl.archive.search_ranking` for the order of what is found.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.search_codec import DamagedError
from mmcrawl.archive.search_hits import ArchivedHit, Hit, hits_of, read_hit
from mmcrawl.archive.search_index import IndexStore
from mmcrawl.archive.search_matching import matching
from mmcrawl.archive.search_query import parse_query
from mmcrawl.archive.search_ranking import Counts, Order, collapsed, counts_of, ranked
from mmcrawl.archive.search_sqlite import SqliteIndex
from mmcrawl.archive.search_updating import Progress, Updated, Updater
from mmcrawl.archive.search_view import Current, GoneError, View
from mmcrawl.errors import SearchError, StoreError

__all__ = ["IndexStats", "Results", "Search", "open_search"]

logger = logging.getLogger(__name__)

_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Results:
    """What was found.

    Attributes:
        total: Pages.
        hits: Those of them that are shown, each by its best block.
        counts: Of all that were found.
    """

    total: int
    hits: tuple[Hit, ...]
    counts: Counts


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
    """

    def __init__(self, archive: Archive, store: IndexStore) -> None:
        self._archive = archive
        self._store = store
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

    def update(
        self,
        urls: Iterable[str] | None = None,
        *,
        processes: int = 1,
        progress: Progress | None = None,
    ) -> Updated:
        """Bring the index up to date; interrupted at any point, it is right, and goes on later.

        An index that is seen to be damaged is made anew.

        Args:
            urls: Look at these only, as stored, for instance those just stored. All by default,
                which takes a look at each URL of the archive.
            processes: How many read pages when there are many. More than one need a main module
                that can be imported (``if __name__ == "__main__":``).
            progress: Is told how many versions were read, and how many there are.

        Raises:
            StoreError: the archive or the index fails.
        """
        with self._updating:
            try:
                return self._updater(processes, progress).update(urls)
            except DamagedError as error:
                logger.warning("%s: %s; it is made anew now", self._store.name, error)
                self._store.clear()
                return self._updater(processes, progress).update()

    def forget_purged(self) -> Updated:
        """Take out what was purged from the archive, and nothing else: new versions wait.

        Raises:
            StoreError: the archive or the index fails.
        """
        with self._updating:
            with suppress(DamagedError):
                updater = self._updater(1, None)
                if updater.pages:
                    return updater.update(only_purged=True)
            self._store.clear()  # of another format, or damaged: it may hold what was purged
            return Updated()

    def rebuild(self, *, processes: int = 1, progress: Progress | None = None) -> Updated:
        """Make the index anew; the arguments are those of :meth:`update`."""
        with self._updating:
            self._store.clear()
            return self._updater(processes, progress).update()

    def _updater(self, processes: int, progress: Progress | None) -> Updater:
        current = Current(self._store)
        return Updater(self._archive, self._store, current, processes=processes, progress=progress)

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
        self,
        query: str,
        *,
        order: Order = "relevance",
        collapse: Mapping[str, object] | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> Results:
        """Find pages by their blocks.

        Args:
            query: As :mod:`mmcrawl.archive.search_query` describes.
            order: ``relevance``, ``newest`` or ``oldest``, or the scores of pages by URL.
            collapse: Of pages with one group here, by URL, only the first is found; pages that are
                not here are of no group. See :mod:`mmcrawl.rank.duplicate_results`.
            limit, offset: How many pages to show, and how many to skip; not negative. What was
                purged since the last update is left out.

        Raises:
            SearchError: the query, or the order, is not understood.
            StoreError: the archive or the index fails.
        """
        if limit < 0 or offset < 0:
            raise SearchError("limit and offset must not be negative")
        parsed = parse_query(query)
        words = frozenset((*parsed.words, *parsed.topics))
        for _ in range(_ATTEMPTS):
            try:
                found = matching(parsed, self._view())
                ranking = ranked(found, order)
                if collapse is not None:
                    ranking = collapsed(ranking, collapse)
                shown = ranking.pages[offset : offset + limit].tolist()
                hits = hits_of(self._archive, ranking, shown, words)
            except GoneError:
                continue
            return Results(len(ranking.pages), tuple(hits), counts_of(found))
        raise StoreError(f"search index {self._store.name} changes all the time; try again")

    def read(self, hit: Hit) -> ArchivedHit:
        """Return where a hit stands in the archived page, and its media with their addresses.

        It takes as long as cutting the page into blocks, if it was not cut yet.

        Raises:
            StoreError: the version was purged since, or the archive fails.
        """
        return read_hit(self._archive, hit)

    def _view(self) -> View:
        with self._lock:
            for _ in range(_ATTEMPTS):
                try:
                    return self._current.view()
                except GoneError:
                    continue
        raise DamagedError(f"{self._store.name} has lost a part")
