"""What becomes of the visits of a batch: a version, a note that nothing has changed, or to wait.

A URL is looked up together with the others of its batch; what the batch itself adds is kept in
memory, so that a second capture of a page sees the first. This goes as far as the visits of a URL
are in order: each later than all that is known of it, so that it is compared with the last version.

One that is not (a collection of old captures is taken in, or the same is stored again) is *late*:
what was seen up to its time is asked for by itself, and what comes after it in the batch waits for
the next round.

What is stored late may be equal to what was seen before it or to what was seen next. Either way it
is a visit, no version.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple, TypeAlias

from mmcrawl.archive.format.blocks import BlockColumns
from mmcrawl.archive.format.facts import (
    cut_by,
    facts_of_page,
    is_read_alike,
    location_of,
    target_of,
    written_facts,
    written_head,
)
from mmcrawl.archive.format.head import CUT, HEADED, VERSION, VISIT, Entry
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.index import Index, UrlRow, VersionRow
from mmcrawl.archive.model import Capture, Stored, Unchanged
from mmcrawl.archive.revisits import is_answer
from mmcrawl.archive.timeline import last_seen, next_seen
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD
from mmcrawl.errors import StoreError

logger = logging.getLogger(__name__)

Cut: TypeAlias = Callable[[Capture, str, str, int], BlockColumns | None]
"""Returns the blocks of a page, given its encoding, method and level; None if it cannot be cut."""


@dataclass(frozen=True, slots=True)
class Item:
    """A visit that is to be stored."""

    index: int  # its number in the batch
    visit: Capture | Unchanged  # what was found
    digest: bytes = b""  # SHA-256 of the body; b"" if there is none
    method: str | None = None  # how the page is to be cut; None as the version before
    level: int | None = None

    def cut_by(self, capture: Capture, method: str, level: int) -> tuple[str, int]:
        """Return how the page is to be cut: as wished, as before, as it was, else as usual.

        Args:
            capture: What was found.
            method, level: Of the version before; "" and 0 for none.
        """
        given = capture.blocks
        return (
            self.method or method or (given.method if given else DEFAULT_METHOD),
            self.level or level or (given.level if given else DEFAULT_LEVEL),
        )


class Known(NamedTuple):
    """A version to compare with."""

    number: int  # of the version
    time: float
    status: int
    digest: bytes  # of its body
    location: str  # where it leads, if it is a redirect
    method: str  # how it is cut; "" and 0 if it is no page
    level: int
    at: int = -1  # place of its record; -1 if the batch adds it


@dataclass(slots=True)
class Standing:
    """How a URL stands, with what the batch adds to it.

    Attributes:
        url: Its row; without a number if it is not known yet.
        last: The version to compare with, as stored before or added by the batch.
        next: The version that was seen next, if the visit is late.
        facts: Of versions by number: those that the batch may have found again.
        number: The greatest number that a version has.
        time: Of the last event; what comes must be later. Not asked of what is late.
        seen: When something was seen last, if that may be the very time of what comes.
        late: Whether the next visit was looked up by itself.
        full: Whether what comes must wait for the next round.
    """

    url: UrlRow
    last: Known | None = None
    next: Known | None = None
    facts: dict[int, bytes] = field(default_factory=dict)
    number: int = 0
    time: float = -inf
    seen: float | None = None
    late: bool = False
    full: bool = False


@dataclass(frozen=True, slots=True)
class New:
    """What a batch adds: the record of a version or a visit; its place is not known yet."""

    item: Item
    standing: Standing
    entry: Entry
    known: Known
    """The version, or that which the visit found."""


def look_up(index: Index, reader: Reader, items: Sequence[Item]) -> dict[str, Standing]:
    """Return how the URLs of a batch stand, of those that are known or that there is a capture of.

    The records of versions that may be met again are read.
    """
    first: dict[str, float] = {}
    earliest: dict[str, float] = {}
    for item in items:
        url, time = item.visit.url, item.visit.time
        first.setdefault(url, time)
        earliest[url] = min(time, earliest.get(url, inf))
    rows = index.urls_named(first)
    standings = {}
    for item in items:
        url = item.visit.url
        if url in rows and url not in standings:
            row = rows[url]
            late = earliest[url] <= row.seen
            standings[url] = _late(index, reader, row, first[url]) if late else _in_order(row)
        elif url not in rows and isinstance(item.visit, Capture):
            standings.setdefault(url, Standing(UrlRow.new(url, 0)))
    _read_facts(reader, standings, items)
    return standings


def _in_order(row: UrlRow) -> Standing:
    known = None
    if row.version:
        how = row.digest, row.location, row.method, row.level
        known = Known(row.version, row.seen, row.status, *how, row.at)
    return Standing(row, known, number=row.last, time=row.seen)


def _late(index: Index, reader: Reader, row: UrlRow, time: float) -> Standing:
    """Return how a URL stands at the time of one visit."""
    seen, behind = last_seen(index, row.id, time), next_seen(index, row.id, time)
    standing = Standing(row, number=row.last, late=True)
    if seen is not None:
        standing.last = _as_known(reader, seen.version, standing)
        standing.seen = seen.time
    if behind is not None:
        standing.next = _as_known(reader, behind.version, standing)
    return standing


def _as_known(reader: Reader, row: VersionRow, standing: Standing) -> Known:
    identity = row.number, row.time, row.status
    try:
        entry = reader.entry(row)
        standing.facts[row.number] = entry.facts
        return Known(*identity, entry.digest, target_of(entry), *cut_by(entry), row.at)
    except StoreError as error:
        _warn(standing, row.number, error)
        return Known(*identity, b"", "", "", 0, row.at)


def _warn(standing: Standing, number: int, error: StoreError) -> None:
    logger.warning(
        "Version %d of %s cannot be read (%s); what was found now is kept as another",
        number,
        standing.url.url,
        error,
    )


def _read_facts(reader: Reader, standings: Mapping[str, Standing], items: Sequence[Item]) -> None:
    """Read what is kept of the versions whose bodies are met again."""
    met = {
        standing.url.id: (standing, standing.last)
        for item in items
        if isinstance(item.visit, Capture)
        and (standing := standings[item.visit.url]).last is not None
        and not standing.late
        and _has_body_of(standing.last, item, item.visit)
    }
    reader.fetch(known.at for _, known in met.values())
    for standing, known in met.values():
        row = VersionRow(standing.url.id, known.number, known.time, known.status, known.at)
        try:
            standing.facts[known.number] = reader.entry(row).facts
        except StoreError as error:
            _warn(standing, known.number, error)


class Round:
    """Decides on the visits of a batch, one after the other.

    Args:
        standings: Of their URLs.
        cut: Cuts versions into the blocks that are kept; None if none are.

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
                head = written_head(visit, standing.facts[found.number])
                self._note(item, standing, found, head)
            else:
                self._store(item, standing, visit)
        elif standing is not None and standing.last is not None:
            self._note(item, standing, standing.last, None)
        else:
            self.answers[item.index] = Stored(None, noted=False)
            if standing is not None:
                standing.full = standing.late  # it was looked up for the time of this visit alone

    def _note(self, item: Item, standing: Standing, found: Known, head: bytes | None) -> None:
        visit = item.visit
        if standing.seen == visit.time and not _adds(found, visit, head):
            self.answers[item.index] = Stored(None)  # just this was noted before
        else:
            kind = VISIT if head is None else HEADED
            entry = Entry(kind, 0, found.number, visit.time, visit.status, head or b"")
            self.new.append(New(item, standing, entry, found))
        _move_on(standing, visit.time)

    def _store(self, item: Item, standing: Standing, capture: Capture) -> None:
        last = standing.last
        page = facts_of_page(capture)
        method, level, columns = "", 0, None
        if page.is_page:
            method, level = item.cut_by(capture, *(last[5:7] if last is not None else ("", 0)))
            if self._cut is not None:
                columns = self._cut(capture, page.encoding, method, level)
        known = Known(
            standing.number + 1,
            capture.time,
            capture.status,
            item.digest,
            location_of(capture),
            method,
            level,
        )
        facts = written_facts(capture, page, method, level)
        kind = VERSION if columns is None else CUT
        size = len(capture.body)
        entry = Entry(kind, 0, *known[:3], facts, item.digest, size, columns)
        self.new.append(New(item, standing, entry, known))
        standing.number, standing.last = known.number, known
        standing.facts[known.number] = facts
        _move_on(standing, capture.time)


def _adds(found: Known, visit: Capture | Unchanged, head: bytes | None) -> bool:
    """Return whether a visit tells more than what was seen at its very time.

    Headers do if a visit without any saw it, a failure does beside a capture.
    """
    if found.time == visit.time:
        return head is None and not is_answer(visit.status)
    return head is not None


def _move_on(standing: Standing, time: float) -> None:
    standing.time, standing.full = time, standing.late


def _found_again(standing: Standing, item: Item, capture: Capture) -> Known | None:
    """Return the version that a capture found again, if any.

    Of what was seen at its very time, only the last counts: a visit would stand behind that.
    """
    behind = standing.next if standing.seen != capture.time else None
    for row in (standing.last, behind):
        if row is not None and _has_body_of(row, item, capture):
            facts = standing.facts.get(row.number)
            if facts is not None and is_read_alike(capture, facts):
                return row
    return None


def _has_body_of(version: Known, item: Item, capture: Capture) -> bool:
    return (version.digest, version.status, version.location) == (
        item.digest,
        capture.status,
        location_of(capture),
    )
