"""From a URL, or a version, to what the archive keeps: versions, and visits in between, over time.

A version may be stored out of order: between an older version and a later visit that found that
version unchanged. Such a visit names the version it saw, so it has precedence. A capture stored out
of order that equals what was seen next is also a visit, of a version captured after it.

If several events have the same time, the one stored last counts. A visit precedes the versions of
its time: if it had been compared with one of them and been equal, it would not have been recorded.
"""

from __future__ import annotations

import time as clock
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf, nextafter
from typing import NamedTuple

from mmcrawl.archive.format.cutting import as_version
from mmcrawl.archive.format.head import Entry
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.index import NUMBERS, Index, UrlRow, VersionRow, VisitRow
from mmcrawl.archive.model import Version, Visit, as_text
from mmcrawl.archive.revisits import is_answer
from mmcrawl.errors import StoreError, UnreachableError

REMEMBERED = 0.5
"""Seconds that the row of a version need not be asked for again."""

_ROWS = 64

Failed = Callable[[str], object]
"""Is told of what cannot be read and is left out, a sentence each."""


class Seen(NamedTuple):
    """That a version was what a URL led to, when it was stored or at a later visit."""

    time: float
    version: VersionRow  # its own time is a later one where an earlier visit was stored late


def last_seen(index: Index, url: int, time: float | None) -> Seen | None:
    """Return what was seen last up to a time, or at all; None if that was nothing."""
    version = index.version_at(url, time)
    since = version.time if version is not None else -inf
    until = time
    while (visit := index.visit_at(url, until)) is not None and visit.time > since:
        same = version is not None and visit.version == version.number
        found = version if same else index.version(url, visit.version)
        if found is not None and _tells(visit, found):
            return Seen(visit.time, found)
        until = nextafter(visit.time, -inf)
    return Seen(version.time, version) if version is not None else None


def next_seen(index: Index, url: int, time: float) -> Seen | None:
    """Return what was seen first after a time; None if that was nothing."""
    version = index.version_after(url, time)
    until = version.time if version is not None else inf
    while (visit := index.visit_after(url, time)) is not None and visit.time <= until:
        found = index.version(url, visit.version)
        if found is not None and _tells(visit, found):
            return Seen(visit.time, found)
        time = visit.time
    return Seen(version.time, version) if version is not None else None


def headed(index: Index, seen: Seen) -> VisitRow | None:
    """Return the last visit with headers of its own that found a version; None if none had."""
    captured = seen.version.time
    if captured == seen.time:
        return None  # no visit in between
    after = captured if captured <= seen.time else -inf
    return index.visit_with_head(seen.version, after, seen.time)


def standing_of(row: UrlRow, versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> UrlRow:
    """Return how a URL stands, given all its versions and visits; no number is given again."""
    times = [version.time for version in versions] + [visit.time for visit in visits]
    last = max((row.last, *(version.number for version in versions)))
    new, seen = UrlRow.new(row.url, row.id), max(times, default=-inf)
    fresh = replace(new, own=row.own, last=last, seen=seen)
    line = line_of(versions, visits)
    found = line[-1].version if line else None
    return replace(fresh, version=found.number, at=found.at) if found is not None else fresh


def as_they_stand(index: Index, row: UrlRow) -> UrlRow:
    """Return the row of a URL as its versions and visits have it."""
    return standing_of(row, index.versions(row.id), index.visits(row.id))


class Event(NamedTuple):
    """A visit, and what it found."""

    visit: Visit
    found: VersionRow | None  # None if it is gone; of one that failed, what was seen last before
    head: VisitRow | None  # the visit whose headers hold, see `headed`
    tells: bool  # whether it saw what it found


def line_of(versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> list[Seen]:
    """Return all that was seen of a URL, in order."""
    events = events_of(versions, visits)
    return [Seen(one.visit.time, one.found) for one in events if one.found and one.tells]


def events_of(versions: Sequence[VersionRow], visits: Sequence[VisitRow]) -> list[Event]:
    """Return all visits of a URL in order, given its versions and its other visits."""
    by_number = {version.number: version for version in versions}
    rows: list[VersionRow | VisitRow] = [*versions, *visits]
    events: list[Event] = []
    heads: dict[int, VisitRow | None] = {}
    early: set[int] = set()  # found by a visit before they were captured
    seen: VersionRow | None = None
    for row in sorted(rows, key=_in_order):
        if isinstance(row, VersionRow):
            seen = row
            heads[row.number] = None
            known = row.number in early
            visit = Visit(row.time, True, row.number, row.status, known)
            events.append(Event(visit, row, None, tells=True))
            continue
        found = by_number.get(row.version)
        tells = found is not None and _tells(row, found)
        if found is not None and tells:
            seen = found
            if row.time < found.time:
                early.add(found.number)
            if row.headed:
                heads[found.number] = row
        elif found is not None:
            found = seen or found
        number = found.number if found is not None else row.version
        visit = Visit(row.time, False, number, row.status)
        events.append(Event(visit, found, heads.get(number), tells))
    return events


def _in_order(row: VersionRow | VisitRow) -> tuple[float, bool, int]:
    is_version = isinstance(row, VersionRow)
    return row.time, is_version, row.number if isinstance(row, VersionRow) else row.version


def _tells(visit: VisitRow, version: VersionRow) -> bool:
    """Whether a visit saw its version: one that met a failure only names what was known."""
    return is_answer(visit.status) or visit.status == version.status


class Lookup:
    """Finds rows of URLs and versions, and makes versions of them; a StoreError if it cannot."""

    def __init__(self, index: Index, reader: Reader) -> None:
        self._index = index
        self._reader = reader
        self._met: OrderedDict[tuple[str, int, str], tuple[VersionRow, float]] = OrderedDict()

    def forget(self) -> None:
        """Drop all cached rows: some were purged."""
        self._met.clear()

    def url(self, url: str) -> UrlRow | None:
        """Return the row of a URL in any spelling, the exact one first."""
        return self._index.url(url)

    def known_url(self, url: str) -> UrlRow:
        """Return the row of a URL in any spelling; it must be stored."""
        row = self.url(url)
        if row is None:
            raise StoreError(f"{url} is not in archive {self._index.name}")
        return row

    def version(self, url: str, number: int) -> Version:
        """Return a version of a URL by its number."""
        row = self.known_url(url)
        version = self._index.version(row.id, number) if 0 < number < 1 << NUMBERS else None
        if version is None:
            raise StoreError(f"{url} has no version {number} in archive {self._index.name}")
        return self.as_version(row, version)

    def version_at(self, url: str, time: float | None) -> Version:
        """Return the version of a URL that was seen last up to a time, None for the last of all."""
        row = self.known_url(url)
        seen = last_seen(self._index, row.id, time)
        if seen is not None:
            return self.as_version(row, seen.version, headed(self._index, seen))
        first = next_seen(self._index, row.id, -inf)
        if first is None:
            raise StoreError(f"{url} has no version in archive {self._index.name}")
        raise StoreError(
            f"{url} was not stored yet at {as_text(time)}; its first version is of"
            f" {as_text(first.time)}"
        )

    def found(self, url: UrlRow, failed: Failed) -> list[tuple[Visit, Version]]:
        """Return the visits of a URL in order of time, each with the version that it found."""
        events = self.events(url)
        rows = [row for one in events for row in (one.found, one.head) if row is not None]
        self._reader.fetch(row.at for row in rows)
        tell = _once(failed)
        found = []
        for one in events:
            row = one.found
            version = self._readable(url, row, one.head, tell) if row is not None else None
            if version is not None:
                found.append((one.visit, version))
        return found

    def events(self, url: UrlRow) -> list[Event]:
        """Return all visits of a URL in order."""
        return events_of(self._index.versions(url.id), self._index.visits(url.id))

    def _readable(
        self, url: UrlRow, row: VersionRow, head: VisitRow | None, failed: Failed
    ) -> Version | None:
        """Return a version, with its own headers if those of a visit are damaged; None if it is."""
        try:
            return self.as_version(url, row, head)
        except UnreachableError:
            raise
        except StoreError as error:
            failed(str(error))
        return self._readable(url, row, None, failed) if head is not None else None

    def read(self, version: Version) -> tuple[Entry, bytes]:
        """Return the record of a version, and its body."""
        row = self.row_of(version)
        try:
            entry, body = self._reader.read(row)
        except StoreError as error:
            raise StoreError(
                f"version {version.number} of {version.url} cannot be read: {error}"
            ) from error
        if entry.digest.hex() != version.digest:
            raise self._no_longer(version)
        return entry, body

    def _no_longer(self, version: Version) -> StoreError:
        name = f"version {version.number} of {version.url}"
        return StoreError(f"{name} is no longer in archive {self._index.name}")

    def row_of(self, version: Version) -> VersionRow:
        """Return the row of a version, as it is now or was just before."""
        row, met = self._met.get(_key(version), (None, -inf))
        if row is not None and clock.monotonic() - met < REMEMBERED:
            return row  # mostly it is read as soon as it was found
        url = self._index.urls_named([version.url]).get(version.url)
        row = self._index.version(url.id, version.number) if url is not None else None
        if row is None or row.time != version.time:
            raise self._no_longer(version)
        return row

    def as_version(self, url: UrlRow, row: VersionRow, headed: VisitRow | None = None) -> Version:
        """Make a version from its row; headers of a visit that found it replace its own."""
        try:
            entry = self._reader.entry(row)
            head = self._reader.entry(headed).facts if headed is not None else None
            version = as_version(url.url, entry, head)
        except UnreachableError:
            raise
        except StoreError as error:
            raise StoreError(f"version {row.number} of {url.url} cannot be read: {error}") from None
        self._met[_key(version)] = row, clock.monotonic()
        while len(self._met) > _ROWS:
            with suppress(KeyError):  # another thread was faster
                self._met.popitem(last=False)
        return version

    def versions_of(self, url: UrlRow, failed: Failed) -> list[Version]:
        """Return the versions of a URL in order of time."""
        rows = sorted(self._index.versions(url.id), key=lambda row: (row.time, row.number))
        self._reader.fetch(row.at for row in rows)
        found = (self._readable(url, row, None, failed) for row in rows)
        return [version for version in found if version is not None]


def _once(failed: Failed) -> Failed:
    """Return a function that reports the same only once: many visits find one version."""
    told: set[str] = set()

    def tell(what: str) -> None:
        if what not in told:
            told.add(what)
            failed(what)

    return tell


def _key(version: Version) -> tuple[str, int, str]:
    return version.url, version.number, version.digest
