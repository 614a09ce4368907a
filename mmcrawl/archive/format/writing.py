"""Stores captures (Song et al. 2008, algorithm 4), many at once.

Storing a version reads the record of the last version, never its body. New versions and visits go
into one segment at the end of a stream, in the order in which they arrived.

A URL stored for the first time goes to the stream of its host, where pages of one template stand
together. A URL that has returned often, also after its segment was closed, gets a stream of its
own, so that its versions stand together.

Pages are cut and decisions made before the store is locked. If another process has stored the same
URLs meanwhile, the decision is made again. A batch is written in the order segments, versions,
visits, and the state of URLs, each kind as a whole. If another process took a number first, the
version is refused and tried again with the visits that wait.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple

from mmcrawl.archive.format.facts import as_version
from mmcrawl.archive.format.head import HEADED, About, Entry, packed
from mmcrawl.archive.format.planning import Cut, Item, New, Round, look_up
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.format.sealing import TAIL_LEVEL, Sealer, is_closed
from mmcrawl.archive.index import Index, Packed, UrlRow, VersionRow, VisitRow, stream_of
from mmcrawl.archive.model import Capture, Stored, Unchanged, why_refused
from mmcrawl.archive.timeline import as_they_stand
from mmcrawl.blocks.partitioners.base import MAX_LEVEL
from mmcrawl.errors import StoreError

LARGEST_BATCH = 4 << 20
"""Bytes that versions share a segment of a tail up to."""

OWN_FROM = 8
"""A URL with so many versions gets a stream of its own: fewer are smaller beside others."""

_ATTEMPTS = 200


class _Placed(NamedTuple):
    """Something a batch adds, with its record and its place."""

    new: New
    entry: Entry
    at: int

    @property
    def body(self) -> bytes:
        visit = self.new.item.visit
        return visit.body if isinstance(visit, Capture) and self.entry.is_version else b""

    @property
    def version(self) -> VersionRow:
        """The row of a version, or of that which a visit found."""
        entry = self.entry
        return VersionRow(entry.url, entry.number, entry.time + 0.0, entry.status, self.at)


class Writer:
    """Stores visits, one thread at a time; `cut` makes the blocks that are kept, None if none."""

    def __init__(self, index: Index, reader: Reader, sealer: Sealer, cut: Cut | None) -> None:
        self._index = index
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
        """Store visits in one commit, in their order; see :meth:`Archive.store_many`."""
        visits = list(visits)
        chosen = levels if levels is not None else [None] * len(visits)
        for level in chosen:
            if level is not None and not 1 <= level <= MAX_LEVEL:
                raise ValueError(f"level must be from 1 to {MAX_LEVEL}, not {level}")
        pairs = enumerate(zip(visits, chosen, strict=True))
        items = [_prepared(n, visit, method, level) for n, (visit, level) in pairs]
        answers: dict[int, Stored] = {}
        grown: Counter[int] = Counter()
        refused = 0
        while items and refused < _ATTEMPTS:
            before = len(answers)
            self._store(items, answers, grown)
            items = [item for item in items if item.index not in answers]
            refused = refused + 1 if len(answers) == before else 0
        if items:
            raise StoreError(
                f"archive {self._index.name} cannot keep {items[0].visit.url}: others write it"
                " all the time"
            )
        self._sealer.grown(grown)
        return [answers[n] for n in range(len(visits))]

    def _store(
        self, items: Sequence[Item], answers: dict[int, Stored], grown: Counter[int]
    ) -> None:
        """Store what can be stored now."""
        standings = look_up(self._index, self._reader, items)
        plan = Round(standings, self._cut)
        for item in items:
            plan.take(item)
        if not plan.new:
            answers.update(plan.answers)
            return
        with self._index.writing():
            rows = self._rows(plan.new)
            if rows is None:
                return
            placed, written = self._placed(plan.new, rows)
            self._index.add_segments(written)
            refused = self._write_rows(placed, rows)
        self._reader.note(written)
        answers.update(plan.answers)
        for one in placed:
            if one.version.key not in refused:
                answers[one.new.item.index] = _stored(one, rows)
        for segment, _, _ in written:
            grown[segment.stream] += segment.raw

    def _rows(self, new: Sequence[New]) -> dict[str, UrlRow] | None:
        """Return the rows of the URLs, made if need be; None if others changed some meanwhile."""
        standings = {one.standing.url.url: one.standing for one in new}
        unknown = [url for url, standing in standings.items() if not standing.url.id]
        rows = self._index.urls_named(url for url in standings if url not in unknown)
        for url, standing in standings.items():
            row = rows.get(url)
            if url not in unknown and row != standing.url and (row is None or not standing.late):
                return None
        if unknown:
            rows |= self._index.add_urls(unknown)
            if any(rows[url].last for url in unknown):
                return None
        return self._with_streams(new, rows)

    def _with_streams(self, new: Sequence[New], rows: dict[str, UrlRow]) -> dict[str, UrlRow]:
        """Return the rows of URLs, some of which get a stream of their own now."""
        again = {
            url: row.at
            for url in dict.fromkeys(n.item.visit.url for n in new if n.entry.is_version)
            if (row := rows[url]).version and row.last >= OWN_FROM and not row.own
        }
        segments = self._reader.segments_of(again.values())
        closed = {url for url, at in again.items() if at in segments and is_closed(segments[at])}
        return rows | {url: replace(rows[url], own=1) for url in closed}

    def _placed(
        self, new: Sequence[New], rows: dict[str, UrlRow]
    ) -> tuple[list[_Placed], list[Packed]]:
        """Return what is new with its place, and the segments that hold it."""
        by_stream: defaultdict[str, list[New]] = defaultdict(list)
        for one in new:
            by_stream[rows[one.item.visit.url].stream].append(one)
        first = self._index.reserve({name: len(some) for name, some in by_stream.items()})
        every: list[_Placed] = []
        written: list[Packed] = []
        for name, some in by_stream.items():
            places = enumerate(some, first[name])
            placed = [_Placed(one, _with_identity(one, rows), at) for at, one in places]
            every += placed
            written += [_packed(name, part) for part in _parts(placed)]
        return every, written

    def _write_rows(self, placed: Sequence[_Placed], rows: dict[str, UrlRow]) -> set[int]:
        """Write versions, visits and how URLs stand; return the keys of versions refused."""
        index = self._index
        versions = [one.version for one in placed if one.entry.is_version]
        refused = index.add_versions(versions) if versions else set()
        visits = [
            VisitRow(e.url, e.time + 0.0, e.number, e.status, one.at, int(e.kind == HEADED))
            for one in placed
            if (e := one.entry).is_visit and one.version.key not in refused
        ]
        if visits:
            index.add_visits(visits)
        doubtful = {one.entry.url for one in placed if one.version.key in refused}
        noted: dict[str, UrlRow] = {}
        for one in placed:
            standing, url = one.new.standing, one.new.item.visit.url
            if standing.late or one.entry.url in doubtful:
                noted[url] = as_they_stand(index, rows[url])
            else:
                noted[url] = _moved_on(noted.get(url, rows[url]), one)
        index.note_urls(list(noted.values()))
        return refused


def _with_identity(new: New, rows: dict[str, UrlRow]) -> Entry:
    """Return the record of something new with the number of its URL, and its own if it is late."""
    row, entry = rows[new.item.visit.url], new.entry
    if entry.is_version and new.standing.late:
        return replace(entry, url=row.id, number=row.last + 1)
    return replace(entry, url=row.id)


def _moved_on(row: UrlRow, one: _Placed) -> UrlRow:
    """Return the state of a URL after a visit that is later than all others."""
    entry = one.entry
    row = replace(row, seen=entry.time + 0.0)
    if entry.is_visit:
        return row
    return replace(row, last=entry.number, version=entry.number, at=one.at)


def _packed(name: str, placed: Sequence[_Placed]) -> Packed:
    urls = {one.entry.url: one.new.item.visit.url for one in placed}
    stream, first = stream_of(placed[0].at), placed[0].at & 0xFFFFFFFF
    about = About(name, stream, first, 0, urls)
    entries = [one.entry for one in placed]
    return packed(about, entries, [one.body for one in placed], TAIL_LEVEL, TAIL_LEVEL)


def _parts(placed: Sequence[_Placed]) -> Iterator[list[_Placed]]:
    """Yield groups that share a segment."""
    part: list[_Placed] = []
    raw = 0
    for one in placed:
        if part and raw + one.entry.size > LARGEST_BATCH:
            yield part
            part, raw = [], 0
        part.append(one)
        raw += one.entry.size
    yield part


def _prepared(
    index: int, visit: Capture | Unchanged, method: str | None, level: int | None
) -> Item:
    if reason := why_refused(visit):
        raise StoreError(f"{visit.url!a} cannot be archived: {reason}")
    if not isinstance(visit, Capture):
        return Item(index, visit)
    return Item(index, visit, sha256(visit.body).digest(), method, level)


def _stored(one: _Placed, rows: dict[str, UrlRow]) -> Stored:
    if not one.entry.is_version:
        return Stored(None)
    return Stored(as_version(one.new.item.visit.url, one.entry), new_bytes=one.entry.size)
