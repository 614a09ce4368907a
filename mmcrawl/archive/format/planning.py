"""Decides what each visit of a batch becomes: a version, a note that nothing changed, or a visit
that has to wait.

The URLs of a batch are looked up together. What the batch itself adds is kept in memory, so that a
second capture of a page is compared with the first. This works for visits in order: each later than
everything known of its URL.

A visit that is *out of order* (old captures are imported, or the same is stored again) is looked up
alone, by its time; later visits of that URL wait for the next round.

A capture stored out of order that equals its predecessor or successor is recorded as a visit, not a
version.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from mmcrawl.archive.format.blocks import BlockColumns
from mmcrawl.archive.format.columns import NO_FACTS, Facts
from mmcrawl.archive.format.facts import facts_of, is_read_alike, location_of
from mmcrawl.archive.format.head import CUT, HEADED, VERSION, VISIT, Entry
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.index import Index, UrlRow, VersionRow
from mmcrawl.archive.model import Capture, Stored, Unchanged
from mmcrawl.archive.revisits import is_answer
from mmcrawl.archive.timeline import last_seen, next_seen
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD
from mmcrawl.errors import StoreError, UnreachableError

logger = logging.getLogger(__name__)

Cut: TypeAlias = Callable[[Capture, str, str, int], BlockColumns | None]
"""Returns the blocks of a page, given its encoding, method and level; None if it cannot be cut."""


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
