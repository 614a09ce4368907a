"""Searching an archive, and keeping its index."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Self

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.search.finding import Counts, Order, Runs, find, runs_of
from mmcrawl.archive.search.hits import (
    ArchivedHit,
    Hit,
    content_first,
    hits_of,
    read_hit,
    still_there,
)
from mmcrawl.archive.search.index import DamagedError, Index
from mmcrawl.archive.search.query import Query, parse_query
from mmcrawl.archive.search.updating import Tell, Updated, Updater
from mmcrawl.errors import SearchError, StoreError
from mmcrawl.store.uris import file_of, is_server, shown

logger = logging.getLogger(__name__)

_QUERIES = 4  # whose matches are kept
_MOST_KEPT = 500_000  # matches of a query that are kept, at 32 bytes each


@dataclass(frozen=True, slots=True)
class Results:
    """What was found."""

    total: int  # pages
    hits: tuple[Hit, ...]  # those of them that are shown, each by its best block
    counts: Counts  # of all that were found
    beside: int = 0  # further pages, which have the words in their menus only


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Numbers of the index: what it covers, and the bytes it takes."""

    pages: int
    versions: int
    blocks: int
    stored_bytes: int


def open_search(uri: str, archive: Archive, *, read_only: bool = False) -> Search:
    """Open the search index of an archive.

    That of ``sqlite:///crawl.db`` is the file ``crawl.db-search``; that of a MongoDB database is a
    file on this machine, in the folder ``mmcrawl`` of ``$XDG_CACHE_HOME`` (``~/.cache``).

    Raises:
        StoreError: it cannot be opened.
    """
    path = index_path(uri)
    if is_server(uri) and not read_only:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"the search index cannot be kept in {path.parent} ({error.strerror}); set"
                " XDG_CACHE_HOME to a folder that can be written"
            ) from error
    return Search(archive, path, read_only=read_only)


def index_path(uri: str) -> Path:
    """Return the file of the search index of an archive."""
    if path := file_of(uri):
        return Path(path + "-search")
    if not is_server(uri):
        raise StoreError(f"archive {uri!r} is not understood; use sqlite:///FILE or mongodb://…")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return caches / "mmcrawl" / f"{sha256(shown(uri).encode()).hexdigest()[:16]}.db-search"


class Search:
    """Searches an archive. Use it ``with`` or :meth:`close` it; any thread may call any method.

    While one thread updates the index, others find what it has so far.
    """

    def __init__(self, archive: Archive, path: Path, *, read_only: bool = False) -> None:
        self._archive = archive
        self._path = path
        self._read_only = read_only
        self._index = Index(path, read_only=read_only)
        self._updating = threading.Lock()
        self._runs: dict[tuple[sqlite3.Connection, int, Query], Runs] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def update(self, *, processes: int = 1, progress: Tell | None = None) -> Updated:
        """Bring the index up to date; it can be interrupted at any point, and continues later.

        An index that turns out to be damaged is rebuilt.

        Args:
            processes: How many read pages when there are many. More than one need a main module
                that can be imported (``if __name__ == "__main__":``).
            progress: Called with the versions read, and their total.

        Raises:
            StoreError: the archive or the index fails.
        """
        with self._updating, closing(self._writable()) as index:
            updater = Updater(self._archive, index, processes=processes, tell=progress)
            try:
                return updater.update()
            except DamagedError as error:
                logger.warning("%s: it is rebuilt now", error)
                index.clear()
                return updater.update()

    def rebuild(self, *, processes: int = 1, progress: Tell | None = None) -> Updated:
        """Rebuild the index; the arguments are those of :meth:`update`."""
        with self._updating, closing(self._writable()) as index:
            index.clear()
            return Updater(self._archive, index, processes=processes, tell=progress).update()

    def _writable(self) -> Index:
        if self._read_only:
            raise StoreError(f"search index {self._index.name} was opened for reading only")
        return Index(self._path)

    def stats(self) -> IndexStats:
        """Return numbers of the index."""
        with self._index.reading() as db:
            pages, versions, blocks = db.execute(
                "SELECT (SELECT count(*) FROM page), (SELECT count(*) FROM version),"
                " (SELECT count(*) FROM document)"
            ).fetchone()
        return IndexStats(pages, versions, blocks, self._index.size())

    def search(
        self,
        query: str,
        *,
        order: Order = "relevance",
        collapse: Mapping[str, object] | None = None,
        limit: int = 20,
        offset: int = 0,
        everywhere: bool = False,
    ) -> Results:
        """Find pages by their blocks.

        Args:
            query: As :mod:`mmcrawl.archive.search.query` describes.
            order: ``relevance``, ``newest`` or ``oldest``, or the scores of pages by URL.
            collapse: Of pages with one group here, by URL, only the first is found; pages that are
                not here are of no group. See :mod:`mmcrawl.rank.results`.
            limit, offset: How many pages to show, and how many to skip. What was purged since the
                last update is left out.
            everywhere: Look for words in menus too; else only if nothing else has them.

        Raises:
            SearchError: the query, or the order, is not understood.
            StoreError: the archive or the index fails.
        """
        if limit < 0 or offset < 0:
            raise SearchError("limit and offset must not be negative")
        parsed = parse_query(query)
        with self._index.reading() as db:
            runs, most = self._runs_of(db, parsed), offset + limit
            found = find(db, runs, parsed, order, collapse, most=most, everywhere=everywhere)
            shown = found.pages[offset : offset + limit]
            hits = hits_of(db, (*parsed.words, *parsed.topics), found, shown)
        there = still_there(self._archive, hits)
        if parsed.words and not (parsed.kind or parsed.media):  # else what is asked for is a block
            there = map(content_first, there)
        return Results(found.total, tuple(there), found.counts, found.beside)

    def _runs_of(self, db: sqlite3.Connection, query: Query) -> Runs:
        """Return the matches of a query, kept for its next pages until the index changes.

        The index is updated by another connection; only one thread at a time reads it by this one.
        """
        key = db, int(db.execute("PRAGMA data_version").fetchone()[0]), query
        runs = self._runs.pop(key, None) or runs_of(db, query)
        if len(runs[0]) <= _MOST_KEPT:
            self._runs[key] = runs
            while len(self._runs) > _QUERIES:
                del self._runs[next(iter(self._runs))]
        return runs

    def read(self, hit: Hit) -> ArchivedHit:
        """Return where a hit is in the archived page, and its media with their addresses.

        It takes as long as cutting the page into blocks, if it was not cut yet.
        """
        return read_hit(self._archive.page(self._archive.version(hit.url, hit.version)), hit)
