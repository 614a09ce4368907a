"""Search over the blocks of an archive.

What a block says, of what kind it is, which media it has, on which pages it was and when: the
index is made from the archive, kept beside it, and can be thrown away. See
:mod:`mmcrawl.archive.search_query` for what can be asked, and
:mod:`mmcrawl.archive.search_ranking` for the order of what is found.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import StoredBlock, leaves
from mmcrawl.archive.search_documents import Snippet, areas_around, block_text, media_in, snippet_of
from mmcrawl.archive.search_index import IndexStore
from mmcrawl.archive.search_matching import matching
from mmcrawl.archive.search_query import Query, SearchError, parse_query
from mmcrawl.archive.search_ranking import ORDERS, Order, Ranking, ranked
from mmcrawl.archive.search_sqlite import SqliteIndex
from mmcrawl.archive.search_updating import Updated, Updater
from mmcrawl.archive.search_view import Current, GoneError, View
from mmcrawl.errors import StoreError
from mmcrawl.page import MediaResource

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

_MORE = 3
_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Hit:
    """A block that matches, on one page.

    Attributes:
        url: Of the page.
        version, time: Number and time of the last version with the block, within the time asked
            for.
        first_version, first_time: Of the first version with it.
        block: The block in that version.
        snippet: Of its text, with the words that match.
        media: In the block, or right behind it.
        score: Greater for a better match.
        blocks: How many blocks of the page match; 1 for those in `more`.
        more: The next best of them.
    """

    url: str
    version: int
    time: float
    first_version: int
    first_time: float
    block: StoredBlock
    snippet: Snippet
    media: tuple[MediaResource, ...]
    score: float
    blocks: int = 1
    more: tuple[Hit, ...] = ()


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
        reader = _HitReader(self._archive, ranking, frozenset((*parsed.words, *parsed.topics)))
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


class _HitReader:
    """Reads from the archive what hits show, what several of them show once."""

    def __init__(self, archive: Archive, ranking: Ranking, words: frozenset[str]) -> None:
        self._archive = archive
        self._ranking = ranking
        self._words = words
        self._versions: dict[tuple[str, int], _Read | None] = {}
        self._snippets: dict[int, Snippet] = {}

    def page(self, match: int) -> Hit | None:
        """Return the hit of a page, None if it was purged."""
        self._versions.clear()
        matches = self._ranking.of_page(int(self._ranking.matches.page[match])).tolist()
        found = [hit for one in matches[: 1 + _MORE] if (hit := self._hit(one)) is not None]
        if not found:
            return None
        return replace(found[0], blocks=len(matches), more=tuple(found[1:]))

    def _hit(self, match: int) -> Hit | None:
        found = self._ranking.matches
        seen, row, first = found.view.seen, int(found.version[match]), int(found.first[match])
        url, number = seen.urls[found.page[match]], int(seen.number[row])
        read = self._version(url, number)
        document = int(found.document[match])
        digest = f"{int(found.view.documents.digest[document]):016x}"
        kind = seen.kinds[found.kind[match]]
        place = read.place_of(digest, kind) if read is not None else None
        if read is None or place is None:
            return None
        return Hit(
            url=url,
            version=number,
            time=float(seen.time[row]),
            first_version=int(seen.number[first]),
            first_time=float(seen.time[first]),
            block=replace(read.blocks[place], kind=kind),
            snippet=self._snippet(document, read, read.blocks[place]),
            media=read.media_of(url, place) if found.media[match] else (),
            score=float(found.score[match]),
        )

    def _snippet(self, document: int, read: _Read, block: StoredBlock) -> Snippet:
        snippet = self._snippets.get(document)
        if snippet is None:
            text = block_text(read.body[block.start : block.end], read.encoding, block.topic)
            snippet = self._snippets[document] = snippet_of(text, self._words)
        return snippet

    def _version(self, url: str, number: int) -> _Read | None:
        key = (url, number)
        if key not in self._versions:
            try:
                version = self._archive.version(url, number)
                blocks = leaves(self._archive.blocks_of(version))
                body = self._archive.rebuild(version).body
                self._versions[key] = _Read(body, blocks, version.encoding)
            except StoreError:
                self._archive.visits(url)  # if the store fails altogether, so does the search
                self._versions[key] = None
        return self._versions[key]


@dataclass(frozen=True, slots=True)
class _Read:
    """A version, read to show its blocks."""

    body: bytes
    blocks: list[StoredBlock]
    encoding: str

    def place_of(self, digest: str, kind: str) -> int | None:
        """Return which block it is: of several alike, the first of the kind."""
        alike = [n for n, block in enumerate(self.blocks) if block.digest == digest]
        return next((n for n in alike if self.blocks[n].kind == kind), next(iter(alike), None))

    def media_of(self, url: str, place: int) -> tuple[MediaResource, ...]:
        """Return the media in a block and of it, each once."""
        block = self.blocks[place]
        areas = [(block.start, block.end), *areas_around(self.blocks, len(self.body))[place]]
        parts = (self.body[start:end] for start, end in areas)
        found = (one for part in parts for one in media_in(part, self.encoding, url, self.body))
        return tuple({one.url: one for one in found}.values())
