"""Bringing the search index up to date with the archive.

The archive is asked which versions a page has; what the index does not have of them is read. A
version that comes behind all others continues the page; if one was purged, or came in between, the
page is *reset* and told anew. Documents that are on no page any more are taken out of the postings
before an update ends: the words of what was purged are gone with it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.search_building import SegmentBuilder
from mmcrawl.archive.search_documents import IndexedBlock
from mmcrawl.archive.search_index import Head, IndexStore, Segment, objects_of
from mmcrawl.archive.search_merging import cleaned, next_merge, written_together
from mmcrawl.archive.search_reading import ReadVersion, Wanted, read_versions
from mmcrawl.archive.search_sightings import NONE
from mmcrawl.archive.search_view import Current, GoneError, View
from mmcrawl.errors import StoreError

__all__ = ["Progress", "Updated", "Updater"]

logger = logging.getLogger(__name__)

_POSITIONS = 1_000_000  # of a segment before it is written
_RUNS = 500_000
_PAGES = 20_000
_ATTEMPTS = 20

Progress = Callable[[int, int], None]
"""Is told how many versions were read, and how many there are to be read in this update."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update did.

    Attributes:
        versions: That were taken in.
        blocks: Of them, distinct ones that were new to the index.
        reset: Pages that were told anew or forgotten, since versions were purged or came between.
        failed: (URL, number) of versions that could not be read: they are not looked at again
            until the index is rebuilt.
    """

    versions: int = 0
    blocks: int = 0
    reset: int = 0
    failed: tuple[tuple[str, int], ...] = ()


class _Row(NamedTuple):
    """A version, as the index knows it."""

    number: int
    time: float
    until: float


@dataclass(frozen=True, slots=True)
class _Change:
    """What is to be told of a page.

    Attributes:
        url: Of it.
        new: Versions that are not in the index.
        reset: Whether what the index says of the page is void.
        before: Until when the last version that the index has was seen; NONE if there is none.
    """

    url: str
    new: Sequence[_Row]
    reset: bool
    before: float


class _LostError(Exception):
    """Another process changed the index in the meantime."""


class Updater:
    """Updates one index from one archive.

    Args:
        archive, store, current: Of them.
        processes: How many read pages, at most.
        progress: Is called before the first version and after each.
    """

    def __init__(
        self,
        archive: Archive,
        store: IndexStore,
        current: Current,
        *,
        processes: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self._archive = archive
        self._store = store
        self._current = current
        self._processes = processes
        self._progress = progress
        self._view: View = current.view()
        self._builder = SegmentBuilder(0)
        self._done = Updated()
        self._pending = Updated()

    @property
    def pages(self) -> int:
        """How many pages the index had."""
        return len(self._view.seen.urls)

    def update(self, urls: Iterable[str] | None = None, *, only_purged: bool = False) -> Updated:
        """Take in what is new; each segment that is written is durable.

        Args:
            urls: Look at these only.
            only_purged: Look only at pages of which something that is in the index is gone.
        """
        named = list(dict.fromkeys(urls)) if urls is not None else None
        for _ in range(_ATTEMPTS):
            self._begin()
            try:
                self._take_in(list(self._changes(named, only_purged=only_purged)))
                self._flush()
                self._clean()
                self._merge()
            except (_LostError, GoneError):
                continue
            self._store.sweep([segment.name for segment in self._view.head.segments])
            return self._done
        raise StoreError(
            f"search index {self._store.name} is written by others all the time; try again"
        )

    # ---------------------------------------------------------------- comparing with the archive

    def _begin(self) -> None:
        self._view = self._current.view()
        self._builder = SegmentBuilder(self._view.head.next)
        self._pending = Updated()

    def _changes(self, named: Sequence[str] | None, *, only_purged: bool) -> Iterator[_Change]:
        """Yield what differs between the index and the archive."""
        view = self._view
        pages = {url: page for page, url in enumerate(view.seen.urls)}
        there = self._there(named)
        for url in named if named is not None else sorted(there.union(pages)):
            if only_purged and url not in pages:
                continue
            indexed = _rows(view, pages[url]) if url in pages else []
            archived = self._archived(url) if url in there else []
            if archived == indexed:
                continue
            continued = _is_continued(indexed, archived)
            if continued and only_purged:
                continue
            known = len(indexed) if continued else 0
            before = archived[known - 1].until if known else NONE
            yield _Change(url, archived[known:], not continued, before)

    def _there(self, named: Sequence[str] | None) -> set[str]:
        """Return which of some URLs, or of all, the archive has in exactly this spelling.

        Asked for the visits of one that it does not have, it answers for another spelling of it.
        """
        if named is None:
            return set(self._archive.urls())
        return {url for url in named if next(self._archive.urls(prefix=url), None) == url}

    def _archived(self, url: str) -> list[_Row]:
        """Return the versions of a URL, as the archive has them."""
        rows: dict[int, _Row] = {}
        for visit in self._archive.visits(url):
            if visit.version is None:
                continue
            known = rows.get(visit.version)
            if visit.changed:  # its time names it; visits before that found it are no part of it
                rows[visit.version] = _Row(visit.version, visit.time, visit.time)
            elif known is not None:
                rows[visit.version] = known._replace(until=max(known.until, visit.time))
        return sorted(rows.values(), key=lambda row: (row.time, row.number))

    # ---------------------------------------------------------------- reading the archive

    def _take_in(self, changes: Sequence[_Change]) -> None:
        total = sum(len(change.new) for change in changes)
        if self._progress and total:
            self._progress(0, total)
        wanted = self._wanted(changes)
        done = 0
        with closing(read_versions(self._archive, wanted, total, self._processes)) as versions:
            for change in changes:
                self._builder.begin_page(change.url, reset=change.reset, before=change.before)
                self._note(reset=int(change.reset))
                for row in change.new:
                    if self._is_full():
                        self._flush()
                        self._builder.begin_page(change.url, reset=False)
                    self._take_in_version(change.url, row, next(versions))
                    done += 1
                    if self._progress:
                        self._progress(done, total)

    def _wanted(self, changes: Sequence[_Change]) -> Iterator[Wanted]:
        for change in changes:
            known = self._view.digests_of(change.url)
            for row in change.new:
                yield Wanted(change.url, row.number, known)

    def _take_in_version(self, url: str, row: _Row, version: ReadVersion) -> None:
        if version.problem:
            logger.warning(
                "Version %s of %s is not searchable: %s", row.number, url, version.problem
            )
            self._note(failed=((url, row.number),))
        blocks = [self._placed(version.encoding, block) for block in version.blocks]
        self._builder.add_version(*row, version.language, blocks)
        self._note(versions=int(not version.problem))

    def _placed(self, encoding: str, block: IndexedBlock) -> tuple[int, str, int]:
        """Return id, kind and media of a block, made a document if it is new."""
        document, inside = self._view.document_of(block.digest, encoding)
        if document < 0:
            known = self._builder.known(block.digest, encoding)
            inside = block.inside
            if known is not None:
                document = known
            elif block.text is None:  # the index had it when this update began
                raise _LostError
            else:
                self._note(blocks=1)
                document = self._builder.add_document(block, block.text, encoding)
        return document, block.kind, inside | block.around

    # ---------------------------------------------------------------- writing the index

    def _is_full(self) -> bool:
        builder = self._builder
        return builder.positions >= _POSITIONS or builder.runs >= _RUNS or builder.pages >= _PAGES

    def _flush(self) -> None:
        """Write a segment of what was gathered."""
        builder = self._builder
        if builder.pages:
            new, objects = objects_of(builder.content())
            self._commit((*self._view.head.segments, new), objects, next_=builder.next)
            self._done = _sum(self._done, self._pending)
        self._begin()

    def _clean(self) -> None:
        """Take out what is void: documents on no page, and what was said of pages that are reset.

        It is seen in the index itself, so that an update which was interrupted before this is
        finished by the next one.
        """
        dead = self._view.documents.id[~self._view.alive]
        if len(dead) or self._view.has_resets:
            segments = self._view.head.segments
            for old, new, objects in cleaned(self._store, segments, dead):
                self._replace([old], new, objects)

    def _merge(self) -> None:
        while parts := next_merge(self._view.head.segments):
            from_the_first = parts[0] == self._view.head.segments[0]
            self._replace(
                parts, *written_together(self._store, parts, from_the_first=from_the_first)
            )

    def _replace(self, old: Sequence[Segment], new: Segment, objects: dict[str, bytes]) -> None:
        segments = list(self._view.head.segments)
        at = segments.index(old[0])
        segments[at : at + len(old)] = [new]
        self._commit(tuple(segments), objects, removed=[segment.name for segment in old])
        self._view = self._current.view()

    def _commit(
        self,
        segments: tuple[Segment, ...],
        objects: dict[str, bytes],
        *,
        next_: int | None = None,
        removed: Sequence[str] = (),
    ) -> None:
        head = self._view.head
        new = Head(head.generation + 1, head.next if next_ is None else next_, segments)
        if not self._store.commit(head.generation, new.written(), objects, removed):
            raise _LostError

    def _note(self, **what: object) -> None:
        self._pending = _sum(self._pending, Updated(**what))  # type: ignore[arg-type]


def _rows(view: View, page: int) -> list[_Row]:
    seen, of = view.seen, view.versions_of(page)
    columns = (seen.number[of], seen.time[of], seen.until[of])
    return list(map(_Row, *(column.tolist() for column in columns)))


def _is_continued(indexed: Sequence[_Row], archived: Sequence[_Row]) -> bool:
    """Return whether all that is indexed is still so; the last version may be seen for longer."""
    if not indexed:
        return True
    known = len(indexed)
    if len(archived) < known or list(archived[: known - 1]) != list(indexed[:-1]):
        return False
    last, now = indexed[-1], archived[known - 1]
    return (last.number, last.time) == (now.number, now.time) and now.until >= last.until


def _sum(one: Updated, other: Updated) -> Updated:
    return Updated(
        one.versions + other.versions,
        one.blocks + other.blocks,
        one.reset + other.reset,
        one.failed + other.failed,
    )
