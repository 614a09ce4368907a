"""Bringing the search index up to date with the archive.

The archive is asked which versions a page has; what the index does not have of them is read. A
version that comes behind all others continues the page; if one was purged, or came in between, the
page is *reset* and told anew. Documents that are on no page any more are taken out of the postings
before an update ends: the words of what was purged are gone with it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import StoredBlock, Version, leaves
from mmcrawl.archive.search_building import SegmentBuilder
from mmcrawl.archive.search_documents import areas_around, block_text, media_in, media_mask
from mmcrawl.archive.search_index import Head, IndexStore, Segment, objects_of
from mmcrawl.archive.search_merging import cleaned, next_merge, written_together
from mmcrawl.archive.search_sightings import NONE
from mmcrawl.archive.search_view import Current, GoneError, View
from mmcrawl.errors import StoreError

__all__ = ["Updated", "Updater"]

logger = logging.getLogger(__name__)

_POSITIONS = 1_000_000  # of a segment before it is written
_RUNS = 500_000
_PAGES = 20_000
_ATTEMPTS = 20
_MASKS = 200_000  # parts of pages whose media are kept in mind
_ELEMENT = re.compile(rb"<[a-zA-Z]")


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


class _LostError(Exception):
    """Another process changed the index in the meantime."""


class Updater:
    """Updates one index from one archive."""

    def __init__(self, archive: Archive, store: IndexStore, current: Current) -> None:
        self._archive = archive
        self._store = store
        self._current = current
        self._view: View = current.view()
        self._builder = SegmentBuilder(0)
        self._masks: dict[bytes, int] = {}
        self._done = Updated()
        self._pending = Updated()

    def update(self, urls: Iterable[str] | None = None) -> Updated:
        """Take in what is new; each segment that is written is durable."""
        named = list(dict.fromkeys(urls)) if urls is not None else None
        for _ in range(_ATTEMPTS):
            self._begin()
            try:
                self._take_in(named)
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

    # ---------------------------------------------------------------- reading the archive

    def _begin(self) -> None:
        self._view = self._current.view()
        self._builder = SegmentBuilder(self._view.head.next)
        self._pending = Updated()

    def _take_in(self, named: Sequence[str] | None) -> None:
        before = self._view  # writing a segment puts another in its place
        pages = {url: page for page, url in enumerate(before.seen.urls)}
        left = set(pages) if named is None else set()
        for url in self._archive.urls() if named is None else named:
            left.discard(url)
            indexed = _rows(before, pages[url]) if url in pages else []
            self._take_in_page(url, indexed, self._archived(url, sure=named is None))
        for url in sorted(left):
            self._take_in_page(url, _rows(before, pages[url]), [])

    def _archived(self, url: str, *, sure: bool) -> list[_Row]:
        """Return the versions of exactly this URL, as the archive has them."""
        # Asked for a URL that it does not have, the archive answers for another spelling of it.
        if not sure and next(self._archive.urls(prefix=url), None) != url:
            return []
        rows: dict[int, _Row] = {}
        for visit in self._archive.visits(url):
            if visit.version is None:
                continue
            known = rows.get(visit.version)
            if known is None:
                rows[visit.version] = _Row(visit.version, visit.time, visit.time)
            else:
                rows[visit.version] = known._replace(until=max(known.until, visit.time))
        return sorted(rows.values(), key=lambda row: (row.time, row.number))

    def _take_in_page(self, url: str, indexed: Sequence[_Row], archived: Sequence[_Row]) -> None:
        if list(archived) == list(indexed):
            return
        continued = _is_continued(indexed, archived)
        new = archived[len(indexed) :] if continued else archived
        before = archived[len(indexed) - 1].until if continued and indexed else NONE
        self._builder.begin_page(url, reset=not continued, before=before)
        self._note(reset=int(not continued))
        for row in new:
            if self._is_full():
                self._flush()
                self._builder.begin_page(url, reset=False)
            self._take_in_version(url, row)

    def _take_in_version(self, url: str, row: _Row) -> None:
        try:
            version = self._archive.version(url, row.number)
            blocks = self._documents_of(version) if version.encoding else []
        except StoreError as error:
            self._archive.visits(url)  # if the store fails altogether, so does this
            logger.warning("Version %s of %s is not searchable: %s", row.number, url, error)
            self._builder.add_version(*row, "", ())
            self._note(failed=((url, row.number),))
            return
        self._builder.add_version(*row, version.language, blocks)
        self._note(versions=1)

    def _documents_of(self, version: Version) -> list[tuple[int, str, int]]:
        """Return id, kind and media of the blocks of a version, new ones made documents."""
        blocks = leaves(self._archive.blocks_of(version))
        body = self._archive.rebuild(version).body
        digests = [int(block.digest, 16) for block in blocks]
        ids = self._view.ids_of(digests, version.encoding)
        media = np.zeros(len(blocks), dtype=np.int64)
        media[ids >= 0] = self._view.documents.media[self._view.rows_of(ids[ids >= 0])]
        found = []
        rows = zip(blocks, digests, ids.tolist(), media.tolist(), strict=True)
        for (block, digest, known, inside), areas in zip(
            rows, areas_around(blocks, len(body)), strict=True
        ):
            document, mask = known, inside
            if known < 0:
                content = body[block.start : block.end]
                document, mask = self._document(version, block, digest, content)
            for start, end in areas:
                mask |= self._mask(version, body[start:end])
            found.append((document, block.kind, mask))
        return found

    def _document(
        self, version: Version, block: StoredBlock, digest: int, content: bytes
    ) -> tuple[int, int]:
        """Return the id and media of a block that the view does not have."""
        mask = self._mask(version, content)
        document = self._builder.known(digest, version.encoding)
        if document is None:
            self._note(blocks=1)
            document = self._builder.add_document(
                digest,
                version.encoding,
                text=block_text(content, version.encoding, block.topic),
                topic=block.topic,
                media=mask,
            )
        return document, mask

    def _mask(self, version: Version, content: bytes) -> int:
        """Return the kinds of media in a part of a page; most parts recur in every version."""
        if _ELEMENT.search(content) is None:
            return 0
        key = sha256(content).digest()[:16]
        mask = self._masks.get(key)
        if mask is None:
            mask = media_mask(media_in(content, version.encoding, version.url))
            if len(self._masks) >= _MASKS:
                self._masks.clear()
            self._masks[key] = mask
        return mask

    # ---------------------------------------------------------------- writing the index

    def _is_full(self) -> bool:
        builder = self._builder
        return builder.positions >= _POSITIONS or builder.runs >= _RUNS or builder.pages >= _PAGES

    def _flush(self) -> None:
        """Write a segment of what was gathered."""
        builder = self._builder
        if builder.pages:
            new, objects = objects_of(builder.inverted(), builder.documents(), builder.sightings())
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
