"""Stores captures (Song et al. 2008, algorithm 4), many at once.

Each visit of a batch becomes a version, a note that nothing changed, or a visit that has to wait.
The URLs of a batch are looked up together, and the record of the last version is read, never its
body. What the batch itself adds is kept in memory, so that a second capture of a page is compared
with the first. A visit *out of order* (old captures are imported, or the same is stored again) is
looked up alone, by its time; later visits of that URL wait for the next round. If it equals its
predecessor or successor it is recorded as a visit, not a version.

New versions and visits go into one segment at the end of a stream, in the order in which they
arrived. A URL stored for the first time goes to the stream of its host, where pages of one template
stand together. A URL that has returned often, also after its segment was closed, gets a stream of
its own, so that its versions stand together.

Pages are cut and decisions made before the store is locked. If another process has stored the same
URLs meanwhile, the decision is made again. A batch is written in the order segments, versions,
visits, and the state of URLs, each kind as a whole. If another process took a number first, the
version is refused and tried again with the visits that wait.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf
from typing import NamedTuple, TypeAlias

from mmcrawl.archive.format.blocks import BlockColumns
from mmcrawl.archive.format.columns import NO_FACTS, Facts
from mmcrawl.archive.format.cutting import as_version, facts_of, is_read_alike, location_of
from mmcrawl.archive.format.head import CUT, HEADED, VERSION, VISIT, About, Entry, packed
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.format.sealing import TAIL_LEVEL, Sealer, is_closed
from mmcrawl.archive.index import Index, Packed, UrlRow, VersionRow, VisitRow, stream_of
from mmcrawl.archive.lookup import as_they_stand, last_seen, next_seen
from mmcrawl.archive.model import Capture, Stored, Unchanged, why_refused
from mmcrawl.archive.revisits import is_answer
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD, MAX_LEVEL
from mmcrawl.errors import StoreError, UnreachableError

logger = logging.getLogger(__name__)

Cut: TypeAlias = Callable[[Capture, str, str, int], BlockColumns | None]
"""Returns the blocks of a page, given its encoding, method and level; None if it cannot be cut."""

LARGEST_BATCH = 4 << 20
"""Bytes that versions share a segment of a tail up to."""

OWN_FROM = 8
"""A URL with so many versions gets a stream of its own: fewer are smaller beside others."""

_ATTEMPTS = 200


@dataclass(frozen=True, slots=True)
class Item:
    """A visit to store."""

    index: int  # its number in the batch
    visit: Capture | Unchanged  # what was found
    digest: bytes = b""  # SHA-256 of the body; b"" if there is none
    method: str | None = None  # how the page is to be cut; None as the version before
    level: int | None = None

    def cut_by(self, capture: Capture, before: Facts) -> tuple[str, int]:
        """Return how to cut the page: as requested, as before, as already cut, else by default."""
        given = capture.blocks
        return (
            self.method or before.method or (given.method if given else DEFAULT_METHOD),
            self.level or before.level or (given.level if given else DEFAULT_LEVEL),
        )


@dataclass(slots=True)
class Standing:
    """The state of a URL, including what the batch adds to it.

    Attributes:
        last: The version to compare with, as stored before or added by the batch; one without a
            digest if it cannot be read, or no capture is to be compared with it.
        seen: When something was seen last, if that may be the very time of what comes.
    """

    url: UrlRow  # its row; without a number if it is not known yet
    last: Entry | None = None
    next: Entry | None = None  # the version that was seen next, if the visit is late
    number: int = 0  # the greatest number that a version has
    time: float = -inf  # Of the last event; what comes must be later. Not asked of what is late
    seen: float | None = None
    late: bool = False  # whether the next visit was looked up by itself
    full: bool = False  # whether what comes must wait for the next round


@dataclass(frozen=True, slots=True)
class New:
    """What a batch adds: the record of a version or a visit; its place is not known yet."""

    item: Item
    standing: Standing
    entry: Entry


def look_up(index: Index, reader: Reader, items: Sequence[Item]) -> dict[str, Standing]:
    """Return the state of each URL of a batch that is known or has a capture; reads records."""
    first: dict[str, float] = {}
    earliest: dict[str, float] = {}
    captured: set[str] = set()
    for item in items:
        url, time = item.visit.url, item.visit.time
        first.setdefault(url, time)
        earliest[url] = min(time, earliest.get(url, inf))
        if isinstance(item.visit, Capture):
            captured.add(url)
    rows = index.urls_named(first)
    reader.fetch(row.at for url, row in rows.items() if row.version and url in captured)
    standings = {}
    for url, time in first.items():
        if (row := rows.get(url)) is None:
            if url in captured:
                standings[url] = Standing(UrlRow.new(url, 0))
        elif earliest[url] <= row.seen:
            standings[url] = _late(index, reader, row, time)
        else:
            standings[url] = Standing(row, number=row.last, time=row.seen)
            if row.version:
                last = VersionRow(row.id, row.version, row.seen, 0, row.at)
                known = _known(reader, row, last) if url in captured else _unknown(last)
                standings[url].last = known
    return standings


def _late(index: Index, reader: Reader, row: UrlRow, time: float) -> Standing:
    """Return the state of a URL at the time of one visit."""
    seen, behind = last_seen(index, row.id, time), next_seen(index, row.id, time)
    standing = Standing(row, number=row.last, late=True)
    if seen is not None:
        standing.last, standing.seen = _known(reader, row, seen.version), seen.time
    if behind is not None:
        standing.next = _known(reader, row, behind.version)
    return standing


def _known(reader: Reader, url: UrlRow, row: VersionRow) -> Entry:
    try:
        return reader.entry(row)
    except UnreachableError:
        raise
    except StoreError as error:
        logger.warning(
            "Version %d of %s cannot be read (%s); what was found now is kept as another",
            row.number,
            url.url,
            error,
        )
        return _unknown(row)


def _unknown(row: VersionRow) -> Entry:
    """Return the record of a version that no capture is equal to."""
    return Entry(VERSION, row.url, row.number, row.time, row.status)


class Round:
    """Decides on the visits of a batch, one after the other.

    Attributes:
        new: What is to be stored.
        answers: Of the items that need nothing to be written, by number. Those that are neither
            here nor there wait for the next round.
    """

    def __init__(self, standings: Mapping[str, Standing], cut: Cut | None) -> None:
        self._standings = standings
        self._cut = cut
        self.new: list[New] = []
        self.answers: dict[int, Stored] = {}

    def take(self, item: Item) -> None:
        """Decide on a visit."""
        visit = item.visit
        standing = self._standings.get(visit.url)
        if standing is not None and (standing.full or visit.time <= standing.time):
            standing.full = True  # visits of a URL are stored in the order given
        elif isinstance(visit, Capture) and standing is not None:
            found = _found_again(standing, item, visit)
            if found is not None:
                head = Facts(visit.reason, visit.content_type, headers=visit.headers)
                self._note(item, standing, found, head)
            else:
                self._store(item, standing, visit)
        elif standing is not None and standing.last is not None:
            self._note(item, standing, standing.last, None)
        else:
            self.answers[item.index] = Stored(None, noted=False)
            if standing is not None:
                standing.full = standing.late  # it was looked up for the time of this visit alone

    def _note(self, item: Item, standing: Standing, found: Entry, head: Facts | None) -> None:
        visit = item.visit
        if standing.seen == visit.time and not _adds(found, visit, head):
            self.answers[item.index] = Stored(None)  # just this was noted before
        else:
            kind = VISIT if head is None else HEADED
            what = 0, found.number, visit.time, visit.status, head or NO_FACTS
            self.new.append(New(item, standing, Entry(kind, *what)))
        _move_on(standing, visit.time)

    def _store(self, item: Item, standing: Standing, capture: Capture) -> None:
        facts, columns = facts_of(capture), None
        if facts.encoding:
            before = standing.last.facts if standing.last is not None else NO_FACTS
            method, level = item.cut_by(capture, before)
            facts = facts._replace(method=method, level=level)
            if self._cut is not None:
                columns = self._cut(capture, facts.encoding, method, level)
        standing.number += 1
        standing.last = Entry(
            VERSION if columns is None else CUT,
            0,
            standing.number,
            capture.time,
            capture.status,
            facts,
            item.digest,
            len(capture.body),
            columns,
        )
        self.new.append(New(item, standing, standing.last))
        _move_on(standing, capture.time)


def _adds(found: Entry, visit: Capture | Unchanged, head: Facts | None) -> bool:
    """Return whether a visit says more than what was seen at its time: headers, or a failure."""
    if found.time == visit.time:
        return head is None and not is_answer(visit.status)
    return head is not None


def _move_on(standing: Standing, time: float) -> None:
    standing.time, standing.full = time, standing.late


def _found_again(standing: Standing, item: Item, capture: Capture) -> Entry | None:
    """Return the version that a capture found again; of its very time, only the last counts."""
    answer = item.digest, capture.status, location_of(capture.status, capture.headers)
    behind = standing.next if standing.seen != capture.time else None
    for entry in filter(None, (standing.last, behind)):
        known = entry.digest, entry.status, location_of(entry.status, entry.facts.headers)
        if known == answer and is_read_alike(capture, entry.facts):
            return entry
    return None


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
