"""Examining the rows of an archive: each is proved by others, or by what its group was.

A URL is proved by its key and its host, a visit by the version that it found, a stream by its
packs, and all of them by their groups where the database keeps what those were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.facts import as_version
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.model import Fault, as_text
from mmcrawl.archive.rows import SHIFT, Disproved, UrlRow
from mmcrawl.errors import StoreError
from mmcrawl.frontier.addresses import host_of
from mmcrawl.frontier.urls import url_key


def name_of(backend: Backend, url: int) -> str:
    """Return how messages call a URL."""
    row = backend.url_by_id(url)
    return row.url if row is not None else f"URL {url}"


class RowChecks:
    """One examination of all rows.

    Args:
        backend, reader: Of the archive.
        repair: Whether to write again what can be told.
        note: Takes faults.
    """

    def __init__(
        self, backend: Backend, reader: Reader, *, repair: bool, note: Callable[[Fault], None]
    ) -> None:
        self._backend = backend
        self._reader = reader
        self._repair = repair
        self._note = note

    def check_groups(self) -> bool:
        """Tell the groups that are not what they were; return whether some are of versions.

        Those are told by their entries: see :meth:`check_versions`.
        """
        groups = self._backend.disproved()
        for group in (group for group in groups if group.table != "version"):
            repaired = self._repair and self._backend.restore(group)
            what, url = self._told(group)
            self._note(Fault(what, url, repaired=repaired))
        return any(group.table == "version" for group in groups)

    def check_versions(self, told: Iterable[Fault]) -> None:
        """Tell the groups of versions that are not what they were, and no entry has told why."""
        named = {fault.url for fault in told if fault.version is not None}
        for group in self._backend.disproved():
            if group.table == "version":
                urls = self._urls_of(group)
                if group.unproved:
                    repaired = self._repair and self._backend.restore(group)
                    self._note(Fault(_unproved("versions", urls), repaired=repaired))
                    continue
                if self._repair or not named.intersection(urls):
                    self._note(Fault(f"{_count(group, 'versions')} of {_listed(urls)}"))

    def check_urls(self) -> None:
        """Examine URLs and their visits."""
        for url in self._backend.urls():
            self._check_url(url)
            versions = {row.number: row for row in self._backend.versions(url.id)}
            for visit in self._backend.visits(url.id):
                when = as_text(visit.time)
                row = versions.get(visit.number)
                if row is None:
                    what = f"the visit of {url.url} at {when} found version {visit.number}"
                    self._note(Fault(f"{what}, which is gone", url.url, visit.number))
                    continue
                try:
                    if visit.head:
                        as_version(url.url, row, self._reader.entry(row), visit.head)
                except StoreError as error:
                    what = f"headers of {url.url} at {when} cannot be read: {error}"
                    self._note(Fault(what, url.url, visit.number))
        for number in self._backend.nameless():
            self._tell_nameless(number)

    def check_streams(self) -> None:
        """See that streams give no numbers that are taken."""
        for stream in self._backend.streams():
            packs = self._backend.packs(stream)
            entry, chunk = self._backend.reserved(stream)
            entries = max((pack.entry + pack.entries for pack in packs), default=0) - entry
            chunks = max((pack.chunk + pack.chunks for pack in packs), default=0) - chunk
            if entries > 0 or chunks > 0:
                if self._repair:
                    self._backend.reserve({stream: (max(entries, 1), max(chunks, 0))})
                what = f"stream {stream} would give numbers again that are taken"
                self._note(Fault(what, repaired=self._repair))

    def _check_url(self, url: UrlRow) -> None:
        known = self._backend.urls_by_key(url_key(0, url.url))
        if url.id not in {row.id for row in known}:
            self._note(Fault(f"{url.url} is kept under a key that is not its own", url.url))
        if url.host != host_of(url.url):
            self._note(Fault(f"{url.url} is kept under the host {url.host!r}", url.url))

    def _tell_nameless(self, number: int) -> None:
        versions, visits = self._backend.versions(number), self._backend.visits(number)
        times = [row.time for row in versions] + [visit.time for visit in visits]
        span = f"from {as_text(min(times))} to {as_text(max(times))}"
        what = f"URL {number} is gone, which has {len(versions)} versions and {len(visits)} visits"
        self._note(Fault(f"{what} {span}", f"URL {number}"))

    # -- what is told of a group --------------------------------------------------------------

    def _told(self, group: Disproved) -> tuple[str, str]:
        """Return the sentence, and the URL that it is about if it is about one."""
        if group.unproved:
            of_urls = group.table in ("visit", "url", "change")
            urls = self._urls_of(group) if of_urls else []
            return _unproved(_PLURALS[group.table], urls), ""
        row = group.was or group.now
        if row is None:
            return self._told_of_several(group), ""
        name, url = self._name_of_row(group.table, row)
        if group.was is None:
            return f"{name} was never written by an archive", url
        if group.now is None:
            return f"{name} is gone", url
        return f"{name} was altered", url

    def _name_of_row(self, table: str, row: tuple[Any, ...]) -> tuple[str, str]:
        if table == "url":
            return f"the row of {row[1]}", row[1]
        if table == "visit":
            name = name_of(self._backend, row[0])
            return f"the visit of {name} at {as_text(row[1])}", name
        if table == "change":
            name = name_of(self._backend, row[0])
            return f"what changed from version {row[1]} to {row[2]} of {name}", name
        if table == "pack":
            number = row[0] & ((1 << SHIFT) - 1)
            return f"the row of pack {row[0] >> SHIFT}/{number}", ""
        return f"the row of {table} {row[1]!r}", ""

    def _told_of_several(self, group: Disproved) -> str:
        if group.table in ("visit", "url", "change"):
            urls = _listed(self._urls_of(group))
            return f"{_count(group, _PLURALS[group.table])} of {urls}"
        return f"{_count(group, _PLURALS[group.table])} from {group.first} to {group.end - 1}"

    def _urls_of(self, group: Disproved) -> list[str]:
        rows = (self._backend.url_by_id(number) for number in range(group.first, group.end))
        return [row.url for row in rows if row is not None]


_PLURALS = {
    "url": "rows",
    "visit": "visits",
    "change": "notes of changes",
    "pack": "packs of streams",
    "stream": "streams",
    "host": "hosts",
}


def _count(group: Disproved, what: str) -> str:
    if group.missing > 0:
        return f"{group.missing} {what} are gone"
    if group.missing < 0:
        return f"{-group.missing} {what} too many stand there"
    return f"{what} were altered"


def _unproved(what: str, urls: list[str]) -> str:
    of = f" of {', '.join(urls)}" if urls else ""
    return f"what proves the {what}{of} is gone or was altered; they agree with all else"


def _listed(urls: list[str]) -> str:
    return "one of these, or several: " + ", ".join(urls) if urls else "URLs that are gone"
