"""From a URL, or a version, to what the archive keeps of it."""

from __future__ import annotations

import time as clock
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from math import inf

from mmcrawl.archive.format.facts import as_version
from mmcrawl.archive.format.head import Entry
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.index import NUMBERS, Index, UrlRow, VersionRow, VisitRow
from mmcrawl.archive.model import Version, Visit, as_text
from mmcrawl.archive.timeline import Event, events_of, headed, last_seen, next_seen
from mmcrawl.errors import StoreError, UnreachableError

REMEMBERED = 0.5
"""Seconds that the row of a version need not be asked for again."""

_ROWS = 64

Failed = Callable[[str], object]
"""Is told of what cannot be read and is left out, a sentence each."""


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
