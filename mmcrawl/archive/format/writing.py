"""Storing captures (Song et al. 2008, algorithm 4), many at once.

The last version is not read to store the next one; only where its body comes again, what is kept
beside it is: most of the headers are the same. A chunk is recognised by its digest, wherever
it was stored before; what is new goes into one pack at the end of a stream, with the entries that
say how the pages are put together.

A URL that is stored for the first time goes to the stream of its host, where pages of one template
stand together. One that comes again after its segment was closed gets a stream of its own, where
its versions stand together.

A batch is written in the order packs, chunks, versions, visits, each kind as a whole. Where another
process took a number first, the version is refused, and tried again with what waits.

A body cut into chunks: runs of elements, the units of storing.

Single blocks are too small to be worth a row in an index, and where they begin depends on how a
page is cut. A chunk is a run of neighbours of some size that begins with an element a block may
begin with, whatever the method and the level. Where it ends is decided by the bytes at its end
alone, so that something that comes or goes changes the chunks around it and no others
(content-defined chunking: Muthitacharoen et al. 2001, LBFS, section 3).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple
from zlib import crc32

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.facts import as_version, facts_of_page, is_page
from mmcrawl.archive.format.manifest import Entry
from mmcrawl.archive.format.packing import Batch
from mmcrawl.archive.format.planning import (
    Blocks,
    Cut,
    Item,
    NewVersion,
    Round,
    look_up,
    read_facts,
)
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.format.sealing import Sealer
from mmcrawl.archive.model import LARGEST_BODY, Capture, Stored, Unchanged
from mmcrawl.archive.rows import CHUNK_DIGEST, UrlRow, VersionRow, is_closed
from mmcrawl.blocks.partitioners.base import MAX_LEVEL
from mmcrawl.errors import StoreError

LEAST = 8_192
MOST = 32_768
_LARGE = 1 << 20  # of bodies that no element cuts
_LOOK = 32  # bytes behind a boundary that decide
_ONE_IN = 2

_ELEMENTS = (
    b"div section article table tbody tr ul ol li dl nav header footer main aside form fieldset p "
    b"h1 h2 h3 h4 h5 h6 figure script style head body svg button picture noscript template iframe "
    b"blockquote pre center hr"
)
_BOUNDARY = re.compile(rb"<(?:" + b"|".join(_ELEMENTS.split()) + rb")(?=[\s>/])", re.IGNORECASE)


def chunks_of(body: bytes) -> list[bytes]:
    """Cut a body; the chunks in order are the body.

    They have at least 8 KB (the last one may have less) and end at the first good boundary behind;
    what has no boundary is cut every 1 MB.

    >>> [len(chunk) for chunk in chunks_of(b"x" * 9_000 + b"<hr>" + b"y" * 40_000 + b"<hr>")]
    [9000, 40004]
    """
    return [
        body[at : min(at + _LARGE, end)]
        for start, end in _ranges(body)
        for at in range(start, end, _LARGE)
    ]


def _ranges(body: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(body):
        end = _end_of_chunk(body, start)
        yield start, end
        start = end


def _end_of_chunk(body: bytes, start: int) -> int:
    for match in _BOUNDARY.finditer(body, start + LEAST):
        at = match.start()
        if at - start >= MOST or crc32(body[at : at + _LOOK]) % _ONE_IN == 0:
            return at
    return len(body)


_ATTEMPTS = 20


class Writer:
    """Stores visits, one thread at a time.

    Args:
        backend, reader, sealer: Of the archive.
        cut: Cuts new versions into the blocks that are kept; None if none are.
    """

    def __init__(self, backend: Backend, reader: Reader, sealer: Sealer, cut: Cut | None) -> None:
        self._backend = backend
        self._reader = reader
        self._sealer = sealer
        self._cut = cut

    def store(
        self,
        visits: Iterable[Capture | Unchanged],
        *,
        method: str | None = None,
        levels: Sequence[int | None] | None = None,
    ) -> list[Stored]:
        """Store visits in one commit.

        Args:
            visits: In the order in which they are to be stored.
            method: How pages are cut; None as the versions before.
            levels: How finely each is cut, None as the version before; as many as visits.

        Raises:
            ValueError: a level is not from 1 to MAX_LEVEL, or there are more or fewer.
        """
        visits = list(visits)
        chosen = levels if levels is not None else [None] * len(visits)
        for level in chosen:
            if level is not None and not 1 <= level <= MAX_LEVEL:
                raise ValueError(f"level must be from 1 to {MAX_LEVEL}, not {level}")
        pairs = enumerate(zip(visits, chosen, strict=True))
        items = [_prepared(n, visit, method, level) for n, (visit, level) in pairs]
        answers: dict[int, Stored] = {}
        grown: Counter[int] = Counter()
        if self._cut is not None and self._backend.others_wait:
            items = _cut_ahead(self._backend, items, self._cut)
        if items:
            with self._backend.writing():
                self._write_all(items, answers, grown)
        self._sealer.grown(grown)
        return [answers[n] for n in range(len(items))]

    def _write_all(
        self, items: list[Item], answers: dict[int, Stored], grown: Counter[int]
    ) -> None:
        refused = 0
        while items and refused < _ATTEMPTS:
            before = len(answers)
            items = self._write(items, answers, grown)
            refused = refused + 1 if len(answers) == before else 0
        if items:
            raise StoreError(
                f"archive {self._backend.name} cannot keep {items[0].visit.url}: others write it"
                " all the time"
            )

    def _write(
        self, items: Sequence[Item], answers: dict[int, Stored], grown: Counter[int]
    ) -> list[Item]:
        """Store what can be stored at once; return what is left, in order."""
        backend = self._backend
        standings = look_up(backend, items)
        read_facts(self._reader, standings, items)
        plan = Round(standings, self._cut)
        for item in items:
            plan.take(item)
        stored, refused = self._write_versions(plan.versions, grown) if plan.versions else ({}, [])
        taken = {(row.url, row.number) for row in refused}
        noted = [(item, v) for item, v in plan.visits if (v.url, v.number) not in taken]
        if noted:
            backend.add_visits([visit for _, visit in noted])
        answers.update(plan.answers)
        answers.update(stored)
        answers.update((item.index, Stored(None)) for item, _ in noted)
        return [item for item in items if item.index not in answers]

    def _write_versions(
        self, versions: Sequence[NewVersion], grown: Counter[int]
    ) -> tuple[dict[int, Stored], list[VersionRow]]:
        """Write packs, chunks, and last the versions; return answers, and what was refused."""
        backend = self._backend
        streams, changed = self._streams(versions)
        batch = Batch(backend, [(version, streams[version.row.url]) for version in versions])
        batch.reserve()
        packs = list(batch.packs())
        backend.add_packs(packs)
        backend.add_chunks(batch.chunks())
        if changed:
            backend.note_urls(changed)
        written = list(batch.versions())
        refused = backend.add_versions([row for _, row, _, _ in written])
        for pack, _, _ in packs:
            grown[pack.stream] += pack.raw
        taken = {(row.url, row.number) for row in refused}
        stored = {
            version.item.index: _stored(version, row, entry, new)
            for version, row, entry, new in written
            if (row.url, row.number) not in taken
        }
        return stored, refused

    def _streams(self, versions: Sequence[NewVersion]) -> tuple[dict[int, int], list[UrlRow]]:
        """Return the streams that versions go to, by URL, and what is to be noted of the URLs."""
        urls = {version.row.url: version.standing for version in versions}
        packed = {
            url: standing.stored.entry
            for url, standing in urls.items()
            if standing.url.stream is None and standing.stored is not None
        }
        packs = self._backend.packs_with_entries(packed.values()) if packed else {}
        own = {url for url, entry in packed.items() if entry in packs and is_closed(packs[entry])}
        names = {
            url: f"#{url}" if url in own else standing.url.host
            for url, standing in urls.items()
            if standing.url.stream is None
        }
        numbers = self._backend.streams_named(set(names.values())) if names else {}
        rows = {
            url: replace(row, stream=numbers[names[url]]) if url in own else row
            for url, row in ((url, standing.changed()) for url, standing in urls.items())
        }
        streams = {
            url: numbers[names[url]] if row.stream is None else row.stream
            for url, row in rows.items()
        }
        return streams, [row for url, row in rows.items() if row != urls[url].url]


def _prepared(
    index: int, visit: Capture | Unchanged, method: str | None, level: int | None
) -> Item:
    """Cut a capture, before anybody has to wait for it."""
    if not isinstance(visit, Capture):
        return Item(index, visit)
    body = visit.body
    if len(body) > LARGEST_BODY:
        raise StoreError(
            f"{visit.url} has {len(body)} bytes; the archive keeps up to {LARGEST_BODY}"
        )
    chunks = tuple((sha256(chunk).digest()[:CHUNK_DIGEST], chunk) for chunk in chunks_of(body))
    return Item(index, visit, sha256(body).digest(), chunks, method, level)


class _Before(NamedTuple):
    """The body that a URL had before, and how it was cut."""

    digest: bytes = b""
    method: str = ""
    level: int = 0


def _cut_ahead(backend: Backend, items: Sequence[Item], cut: Cut) -> list[Item]:
    """Cut the pages that seem to be new, before anybody has to wait for it.

    The store is asked what was there before only if there is a page to cut.
    """
    before = _before(backend, items) if any(map(_is_uncut, items)) else {}
    ready = []
    for item in items:
        known = before.get(item.visit.url, _Before())
        if not isinstance(item.visit, Capture) or item.digest == known.digest:
            ready.append(item)
            continue
        ready.append(_with_blocks(item, item.visit, known, cut))
        blocks = ready[-1].cut
        how = (blocks.method, blocks.level) if blocks is not None else (known.method, known.level)
        before[item.visit.url] = _Before(item.digest, *how)
    return ready


def _is_uncut(item: Item) -> bool:
    visit = item.visit
    return isinstance(visit, Capture) and visit.blocks is None and is_page(visit)


def _before(backend: Backend, items: Sequence[Item]) -> dict[str, _Before]:
    """Return by URL what was seen last before the first visit of a batch."""
    times = {item.visit.url: item.visit.time for item in reversed(items) if item.digest}
    rows = backend.urls_named(times)
    last = backend.last_versions(list(rows.values())) if rows else {}
    before = {}
    for url, row in rows.items():
        version = last.get(row.id)
        if version is not None and version.time > times[url]:
            version = backend.version_at(row.id, times[url])
        if version is not None:
            before[url] = _Before(version.digest, version.method, version.level)
    return before


def _with_blocks(item: Item, capture: Capture, before: _Before, cut: Cut) -> Item:
    page = facts_of_page(capture)
    if not page.is_page:
        return replace(item, page=page)
    method, level = item.cut_by(capture, before.method, before.level)
    columns = cut(capture, page.encoding, method, level)
    return replace(item, page=page, cut=Blocks(method, level, columns))


def _stored(version: NewVersion, row: VersionRow, entry: Entry, new: Sequence[bytes]) -> Stored:
    return Stored(
        as_version(version.capture.url, row, entry),
        chunks=len(version.item.chunks),
        new_chunks=len(new),
        new_bytes=sum(map(len, new)),
    )
