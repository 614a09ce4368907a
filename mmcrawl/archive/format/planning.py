"""What becomes of the visits of a batch: a version, a note that nothing has changed, or to wait.

A URL is looked up together with the others of its batch; what the batch itself adds is kept in
memory, so that a second capture of a page sees the first. This goes as far as the visits of a URL
are in order: each later than all that is known of it, so that it is compared with the last version.

One that is not (a collection of old captures is taken in, or the same is stored again) is *late*:
what was seen up to its time is asked for by itself, and what comes after it in the batch waits for
the next round. Once a version was stored late, that URL is marked, and asked for by itself always.

What is stored late may be equal to what was seen before it or to what was seen next. Either way it
is a visit, no version.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple, TypeAlias

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.blocks import BlockColumns
from mmcrawl.archive.format.facts import (
    BodyFacts,
    facts_of_page,
    is_read_alike,
    location_of,
    written_facts,
    written_head,
)
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.model import Capture, Stored, Unchanged
from mmcrawl.archive.revisits import is_answer
from mmcrawl.archive.rows import UrlRow, VersionRow, VisitRow
from mmcrawl.archive.timeline import last_seen, next_seen
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD
from mmcrawl.errors import StoreError
from mmcrawl.frontier.addresses import host_of
from mmcrawl.frontier.urls import url_key

logger = logging.getLogger(__name__)

Cut: TypeAlias = Callable[[Capture, str, str, int], BlockColumns | None]
"""Returns the blocks of a page, given its encoding, method and level; None if it cannot be cut."""

_NOTED_EVERY = 8  # versions of a URL: as often it is noted how many it has


@dataclass(frozen=True, slots=True)
class Item:
    """A visit that is to be stored.

    Attributes:
        index: Its number in the batch.
        visit: What was found.
        digest: SHA-256 of the body; b"" if there is none.
        chunks: The body by digests, in order.
        method, level: How the page is to be cut; None as the version before.
        page: What was found out about the body; None if that was not asked yet.
        cut: Its blocks, if it was cut ahead.
    """

    index: int
    visit: Capture | Unchanged
    digest: bytes = b""
    chunks: tuple[tuple[bytes, bytes], ...] = ()
    method: str | None = None
    level: int | None = None
    page: BodyFacts | None = None
    cut: Blocks | None = None

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


class Blocks(NamedTuple):
    """The blocks of a page that was cut ahead, and how; None if it could not be cut."""

    method: str
    level: int
    columns: BlockColumns | None


@dataclass(slots=True)
class Standing:
    """How a URL stands, with what the batch adds to it.

    Attributes:
        url: Its row.
        stored: The version to compare with, as stored before the batch.
        last: The same, or one that the batch adds.
        next: The version that was seen next, if the visit is late.
        facts: Of versions by number: those that the batch may have found again.
        number: The greatest number that a version has.
        time: Of the last event; what comes must be later. Not asked of what is late.
        seen: When something was seen last, if that may be the very time of what comes.
        late: Whether the next visit was looked up by itself.
        full: Whether what comes must wait for the next round.
    """

    url: UrlRow
    stored: VersionRow | None = None
    last: VersionRow | None = None
    next: VersionRow | None = None
    facts: dict[int, bytes] = field(default_factory=dict)
    number: int = 0
    time: float = -inf
    seen: float | None = None
    late: bool = False
    full: bool = False

    def changed(self) -> UrlRow:
        """Return the row as it is to be kept."""
        last, late = self.url.last, self.url.late or self.late
        if self.stored is not None and self.stored.number >= last + _NOTED_EVERY:
            last = self.stored.number
        return replace(self.url, last=last, late=late)


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version that a batch adds; the place of its entry is not known yet."""

    item: Item
    capture: Capture
    standing: Standing
    row: VersionRow
    facts: bytes
    columns: BlockColumns | None = None


def look_up(backend: Backend, items: Sequence[Item]) -> dict[str, Standing]:
    """Return how the URLs of a batch stand; an unknown one is made if there is a capture of it."""
    times: dict[str, list[float]] = {}
    for item in items:
        times.setdefault(item.visit.url, []).append(item.visit.time)
    rows = backend.urls_named(times)
    new = {
        item.visit.url: (url_key(0, item.visit.url), host_of(item.visit.url))
        for item in items
        if isinstance(item.visit, Capture) and item.visit.url not in rows
    }
    standings = {url: Standing(row) for url, row in (backend.add_urls(new) if new else {}).items()}
    ordered = [row for row in rows.values() if not row.late]
    versions = backend.last_versions(ordered) if ordered else {}
    since = {row.id: min(times[row.url]) for row in ordered}
    visited = backend.visited_since(since) if since else set()
    for url, row in rows.items():
        last = versions.get(row.id)
        if row.late or row.id in visited or (last.time >= since[row.id] if last else row.last):
            standings[url] = _late(backend, row, times[url][0])
        elif last is None:
            standings[url] = Standing(row)
        else:
            standings[url] = Standing(row, last, last, number=last.number, time=last.time)
    return standings


def read_facts(reader: Reader, standings: Mapping[str, Standing], items: Sequence[Item]) -> None:
    """Read what is kept of the versions whose bodies are met again."""
    met = {
        row: standing
        for item in items
        if isinstance(item.visit, Capture)
        and (standing := standings.get(item.visit.url)) is not None
        for row in (standing.last, standing.next)
        if row is not None and _has_body_of(row, item, item.visit)
    }
    packs = reader.fetch(met)
    for row, standing in met.items():
        try:
            standing.facts[row.number] = reader.entry(row, packs.get(row.entry)).facts
        except StoreError as error:
            logger.warning(
                "Version %d of %s cannot be read (%s); what was found now is kept as another",
                row.number,
                standing.url.url,
                error,
            )


def _late(backend: Backend, url: UrlRow, time: float) -> Standing:
    """Return how a URL stands at the time of one visit."""
    seen = last_seen(backend, url.id, time)
    behind = next_seen(backend, url.id, time)
    last = seen.version if seen is not None else None
    return Standing(
        url,
        last,
        last,
        behind.version if behind is not None else None,
        number=backend.last_number(url.id),
        seen=seen.time if seen is not None else None,
        late=True,
    )


class Round:
    """Decides on the visits of a batch, one after the other.

    Args:
        standings: Of their URLs.
        cut: Cuts versions into the blocks that are kept; None if none are.

    Attributes:
        versions: What is to be stored.
        visits: What is to be noted, with the item.
        waiting: Items for the next round.
        answers: Of the items that need nothing to be written, by number.
    """

    def __init__(self, standings: Mapping[str, Standing], cut: Cut | None) -> None:
        self._standings = standings
        self._cut = cut
        self.versions: list[NewVersion] = []
        self.visits: list[tuple[Item, VisitRow]] = []
        self.waiting: list[Item] = []
        self.answers: dict[int, Stored] = {}

    def take(self, item: Item) -> None:
        """Decide on a visit."""
        visit = item.visit
        standing = self._standings.get(visit.url)
        if standing is not None and (standing.full or visit.time <= standing.time):
            standing.full = True  # visits of a URL are stored in the order given
            self.waiting.append(item)
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

    def _note(self, item: Item, standing: Standing, found: VersionRow, head: bytes | None) -> None:
        visit = item.visit
        if standing.seen == visit.time and not _adds(found, visit, head):
            self.answers[item.index] = Stored(None)  # just this was noted before
        else:
            row = VisitRow(standing.url.id, visit.time, found.number, visit.status, head)
            self.visits.append((item, row))
        _move_on(standing, visit.time)

    def _store(self, item: Item, standing: Standing, capture: Capture) -> None:
        last = standing.last
        page = item.page or facts_of_page(capture)
        method, level = "", 0
        if page.is_page:
            before = (last.method, last.level) if last is not None else ("", 0)
            method, level = item.cut_by(capture, *before)
        facts = written_facts(capture, page, method, level)
        columns = None
        if self._cut is not None and page.is_page:
            ahead = item.cut
            if ahead is not None and (ahead.method, ahead.level) == (method, level):
                columns = ahead.columns
            else:
                columns = self._cut(capture, page.encoding, method, level)
        row = VersionRow(
            url=standing.url.id,
            number=standing.number + 1,
            time=capture.time,
            status=capture.status,
            digest=item.digest,
            size=len(capture.body),
            entry=-1,
            method=method,
            level=level,
            location=location_of(capture),
        )
        self.versions.append(NewVersion(item, capture, standing, row, facts, columns))
        standing.number, standing.last = row.number, row
        standing.facts[row.number] = facts
        _move_on(standing, capture.time)


def _adds(found: VersionRow, visit: Capture | Unchanged, head: bytes | None) -> bool:
    """Return whether a visit tells more than what was seen at its very time.

    Headers do if a visit without any saw it, a failure does beside a capture.
    """
    if found.time == visit.time:
        return head is None and not is_answer(visit.status)
    return head is not None


def _move_on(standing: Standing, time: float) -> None:
    standing.time, standing.full = time, standing.late


def _found_again(standing: Standing, item: Item, capture: Capture) -> VersionRow | None:
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


def _has_body_of(version: VersionRow, item: Item, capture: Capture) -> bool:
    return (version.digest, version.status, version.location) == (
        item.digest,
        capture.status,
        location_of(capture),
    )
