"""The block archive: every version of every page, cut into blocks."""

from __future__ import annotations

import logging
import threading
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Self

import numpy as np

from mmcrawl.archive.checking import Checker
from mmcrawl.archive.comparing.change_kinds import noted_changes
from mmcrawl.archive.comparing.changes import Difference
from mmcrawl.archive.comparing.comparison import difference
from mmcrawl.archive.format.blocks import Outline
from mmcrawl.archive.format.cutting import ArchivedPage, columns_of
from mmcrawl.archive.format.head import CUT, Entry
from mmcrawl.archive.format.reading import GoneError, Reader, live_versions
from mmcrawl.archive.format.sealing import Sealer
from mmcrawl.archive.format.writing import Writer
from mmcrawl.archive.index import Index, Segment, UrlRow, standing
from mmcrawl.archive.lives import BlockLife, StoredAnew, life_of, stored_anew
from mmcrawl.archive.lookup import Failed, Lookup
from mmcrawl.archive.model import (
    ArchiveStats,
    Capture,
    CheckReport,
    HostStats,
    Purged,
    Stored,
    StoredBlock,
    Unchanged,
    Version,
    Visit,
    as_unix_time,
)
from mmcrawl.archive.purging import purge
from mmcrawl.archive.revisits import Pair
from mmcrawl.blocks.partitioners.registry import make_partitioner
from mmcrawl.errors import StoreError

logger = logging.getLogger(__name__)

_MOST_REPAIRS = 3  # one after the other


class Archive:
    """An open archive, as :func:`~mmcrawl.archive.open_archive` makes one.

    Use it ``with``, or :meth:`close` it.

    What :meth:`store` and :meth:`note_unchanged` return from is durable. Methods may be called
    from several threads; one at a time writes. All methods raise
    :class:`~mmcrawl.errors.StoreError` when the store fails, and for a URL, a version or a block
    that is not stored, was purged, or is damaged.

    A URL is kept as given. Looking one up finds it under any spelling that the frontier holds for
    the same page (:func:`mmcrawl.frontier.urls.canonical`), the exact one first.

    Args:
        keep_blocks: Whether layout and labelled blocks of a version are kept when it is stored;
            those of others are cut whenever they are asked for, until :meth:`pack`.
    """

    def __init__(self, index: Index, *, keep_blocks: bool = True) -> None:
        self._index = index
        self._reader = Reader(index)
        self._lookup = Lookup(index, self._reader)
        self._sealer = Sealer(index, self._reader)
        cut = columns_of if keep_blocks else None
        self._writer = Writer(index, self._reader, self._sealer, cut)
        self._writing = threading.RLock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(seal=kind is not KeyboardInterrupt)

    # -- storing ------------------------------------------------------------------------------

    def store(
        self, capture: Capture, *, method: str | None = None, level: int | None = None
    ) -> Stored:
        """Keep a capture (Song et al. 2008, algorithm 4): a version if anything changed.

        Args:
            method: How to cut it, with options if any; None takes that of the URL's last version,
                else :data:`~mmcrawl.blocks.DEFAULT_METHOD`.
            level: How finely; None likewise.

        Raises:
            BlockError: there is no such method.
            ValueError: the level is not from 1 to :data:`~mmcrawl.blocks.MAX_LEVEL`.
        """
        return self.store_many([capture], method=method, levels=[level])[0]

    def store_many(
        self,
        captures: Iterable[Capture | Unchanged],
        *,
        method: str | None = None,
        levels: Sequence[int | None] | None = None,
    ) -> list[Stored]:
        """Keep several visits in one commit, in their order; all are durable on return.

        If it fails, SQLite keeps none of them, MongoDB any. To store all of them again is right on
        both. A server is asked hardly more often for many than for one.

        Args:
            captures: What was received, and visits that found nothing new. Such a one is not noted
                if its URL has no version up to its time, as :attr:`Stored.noted` says.
            levels: For each of them how finely, as :meth:`store` takes it; ignored for a visit
                that found nothing new.

        Raises:
            BlockError: there is no such method.
            ValueError: a level is not from 1 to :data:`~mmcrawl.blocks.MAX_LEVEL`, or
                there are more or fewer of them than visits.
        """
        if method is not None:
            make_partitioner(method)
        with self._writing:
            return self._writer.store(captures, method=method, levels=levels)

    def known(self, urls: Iterable[str]) -> set[str]:
        """Return which of some URLs, given exactly, are stored, by one look-up."""
        return {url for url, row in self._index.urls_named(urls).items() if row.last}

    def note_unchanged(self, url: str, time: float, status: int = 304) -> None:
        """Record a visit that found nothing new (``304 Not Modified``), or got no page.

        Args:
            time: Of the request, in Unix seconds; the URL must have a version up to then.
            status: Of the answer, 0 for none. A failure (:func:`mmcrawl.archive.revisits.is_answer`
                says what is none) is kept among the visits, and saw nothing of the page.
        """
        time = as_unix_time(time)
        with self._writing:
            visit = Unchanged(self._lookup.known_url(url).url, time, status)
            if not self._writer.store([visit])[0].noted:
                raise StoreError(f"{url} has no version before that visit; store one first")

    # -- reading ------------------------------------------------------------------------------

    def urls(self, host: str | None = None, prefix: str | None = None) -> Iterator[str]:
        """Yield the stored URLs in order, those of a host or with a prefix if one is given."""
        return (row.url for row in self._index.urls(host, prefix))

    def changed_urls(self, host: str | None = None) -> dict[str, float]:
        """Return the URLs that had two versions or more, with the time of their last visit."""
        return self._index.changed_urls(host)

    def hosts(self) -> list[str]:
        """Return the hosts that have a URL here, in order."""
        return self._index.hosts()

    def visits(self, url: str) -> list[Visit]:
        """Return all visits of a URL in order of time; empty for one that is not stored."""
        row = self._lookup.url(url)
        return [event.visit for event in self._lookup.events(row)] if row is not None else []

    def found(self, url: str, failed: Failed = logger.warning) -> list[tuple[Visit, Version]]:
        """Return the visits of a URL in order of time, each with the version that it found.

        The version has the reason, the headers and the content type that it came with then. Visits
        whose version is gone, or cannot be read, are left out.

        Args:
            failed: Called for each version, and for headers, that cannot be read.
        """
        row = self._lookup.url(url)
        return self._lookup.found(row, failed) if row is not None else []

    def versions(self, url: str, failed: Failed = logger.warning) -> list[Version]:
        """Return the versions of a URL in order of time; `failed` is called for each unreadable
        one.
        """
        row = self._lookup.url(url)
        return self._lookup.versions_of(row, failed) if row is not None else []

    def all_versions(self, failed: Failed = logger.warning) -> Iterator[Version]:
        """Yield every version, URL by URL in their order, as :meth:`versions` returns them."""
        for url in self._index.urls():
            yield from self._lookup.versions_of(url, failed)

    def get(self, url: str, at: datetime | float | None = None) -> Version:
        """Return the version that was seen last up to a time, by default the last of all.

        Its reason, headers and content type are those of the last visit up to then that came with
        some. That is mostly the version that was captured last up to then. It is another if a visit
        found that, and what was captured between was stored after the visit. Of several captures of
        one time the last one stored counts.

        Args:
            at: Unix seconds, or a datetime (UTC if it names no zone); a ValueError if NaN.
        """
        return self._lookup.version_at(url, as_unix_time(at) if at is not None else None)

    def version(self, url: str, number: int) -> Version:
        """Return a version by its number."""
        return self._lookup.version(url, number)

    def rebuild(self, version: Version) -> Capture:
        """Return the page byte for byte, checked against its digest."""
        return version.capture(self._lookup.read(version)[1])

    def page(self, version: Version) -> ArchivedPage:
        """Return a version with its bytes; tree, blocks and texts are made when asked for, once."""
        entry, body = self._lookup.read(version)
        return ArchivedPage(version, body, entry.blocks(body, version.encoding))

    def blocks_of(self, version: Version) -> list[StoredBlock]:
        """Return the blocks of a version in order, each before those inside it.

        What is no page is one block of all its bytes.

        Raises:
            BlockError: it is to be cut by a partitioner that is not installed here.
        """
        return self.page(version).blocks

    def block(self, digest: str) -> BlockLife:
        """Return the pages that have or had a block, in which versions, from when to when.

        Reads what stands beside the pages of each version, and the pages that have it. Of `digest`
        the first 6 hex digits are enough, if no other block begins so.
        """
        return life_of(self._index, self._reader, digest.lower())

    def anew(self, url: str) -> list[StoredAnew]:
        """Return what is new in each version of a URL, in the order of storing; reads no page."""
        return list(stored_anew(self._index, self._reader, self._lookup.known_url(url)))

    def diff(self, old: Version, new: Version) -> Difference:
        """Compare two versions, also of different URLs, block by block (Song et al. 2008, section
        2.3).

        What is no page is compared as a whole, without words. Raises what :meth:`blocks_of` does.
        """
        return difference(self.page(old), self.page(new))

    def changed_kinds(self, url: str, pairs: Collection[Pair]) -> dict[Pair, frozenset[str]]:
        """Return the kinds of blocks that changed between versions of a URL, by their numbers.

        What :mod:`mmcrawl.archive.comparing.change_kinds` finds is noted, to be found once; not in
        an archive that was opened for reading only.
        """
        row = self._lookup.known_url(url)

        def read(number: int) -> ArchivedPage:
            return self.page(self.version(row.url, number))

        return noted_changes(self._index, row.id, pairs, read, difference)

    # -- upkeep -------------------------------------------------------------------------------

    def check(self, *, repair: bool = False) -> CheckReport:
        """Check everything: each version is rebuilt and compared with its digest.

        Args:
            repair: Make the index right where it is not as records have it, and remove orphans if
                nothing else is damaged. What cannot be made good is a fault this once, and known
                from then on.
        """
        with self._writing:
            report = Checker(self._index, repair=repair).report()
            if repair and report.faults:
                report = self._clean_again(report)
            known = self._known_losses()
            found = {one.what for one in report.faults}
            if repair and known - found:  # put back from a copy, or purged: new if it comes again
                self._index.forget_losses(known - found)
            known &= found
            faults = tuple(one for one in report.faults if one.repaired or one.what not in known)
            if repair and not all(fault.repaired for fault in faults):
                self._index.note_losses(one.what for one in faults if not one.repaired)
            return replace(report, faults=faults, known=tuple(sorted(known)))

    def _known_losses(self) -> set[str]:
        try:
            return self._index.losses()
        except StoreError:  # the database is damaged: a fault already
            return set()

    def _clean_again(self, report: CheckReport) -> CheckReport:
        """Repair until another check finds nothing new; sum all findings."""
        known = {fault.what: fault for fault in report.faults}
        for _ in range(_MOST_REPAIRS):
            fresh = Checker(self._index, repair=False).report()
            open_ = {fault.what: fault for fault in fresh.faults}
            if not open_:  # also what was not called repaired is
                known = {what: replace(fault, repaired=True) for what, fault in known.items()}
                break
            if open_.keys() == {one.what for one in known.values() if not one.repaired}:
                break
            again = Checker(self._index, repair=True).report()
            known |= {fault.what: fault for fault in again.faults}
            report = replace(
                again,
                removed=report.removed + again.removed,
                completed=report.completed + again.completed,
            )
        else:  # what was called repaired and is not
            fresh = Checker(self._index, repair=False).report()
            known |= {fault.what: fault for fault in fresh.faults}
        return replace(report, faults=tuple(known.values()))

    def counts(self) -> dict[str, int]:
        """Return how many ``urls`` and ``versions`` there are, without reading any of them."""
        return {f"{name}s": self._index.store.count(name) for name in ("url", "version")}

    def stats(self) -> ArchiveStats:
        """Return numbers of the whole archive; reads what stands beside the pages of each."""
        return stats_of(self._index, self._reader)

    def pack(self, level: int = 19) -> None:
        """Compress what is not compressed yet, cut pages without stored blocks, free space.

        Pages that are to be cut by a partitioner that is not installed here stay as they are.

        Args:
            level: Of zstd, 1 to 19: slower to do, as fast to read.

        Raises:
            ValueError: there is no such level.
            StoreError: some segments are damaged; the others are compressed.
        """
        if not 1 <= level <= 19:
            raise ValueError(f"level must be from 1 to 19, not {level}")
        with self._writing:
            self._sealer.seal_all(level)
            self._index.remove_orphans()
            self._index.store.compact()

    def purge(
        self,
        *,
        url: str | None = None,
        host: str | None = None,
        before: datetime | float | None = None,
    ) -> Purged:
        """Remove versions for good, with the visits that found them, and give their space back.

        Args:
            url: Whose; with neither this nor a host, everyone's.
            host: Whose, on all its URLs.
            before: Only versions that were seen last, and replaced by another, before this time.

        Raises:
            ValueError: nothing at all is named.
        """
        if url is None and host is None and before is None:
            raise ValueError("name a URL, a host or a time: everything is not purged at once")
        with self._writing:
            rows = self._urls_to_purge(url, host)
            until = as_unix_time(before) if before is not None else None
            try:
                return purge(self._index, self._reader, rows, until)
            finally:
                self._lookup.forget()

    def close(self, *, seal: bool = True) -> None:
        """Close it. All that was acknowledged stays; to compress it (`seal`) may take minutes."""
        with self._writing:
            if self._closed:
                return
            self._closed = True
            try:
                if seal:
                    self._sealer.finish()
            finally:
                self._index.store.close()

    def _urls_to_purge(self, url: str | None, host: str | None) -> list[UrlRow]:
        if url is None:
            return list(self._index.urls(host))
        row = self._lookup.known_url(url)
        return [row] if host in (None, row.host) else []


def stats_of(index: Index, reader: Reader) -> ArchiveStats:
    """Count what there is; reads every head, but no page; a StoreError names a damaged segment."""
    of_url = {row.id: row.host for row in index.urls()}
    hosts = {host: [0, 0, 0] for host in sorted(set(of_url.values()))}
    for name in of_url.values():
        hosts[name][0] += 1
    blocks, layouts = array("Q"), array("Q")  # a number for each
    unsegmented = raw = 0
    for segments in index.all_segments():
        for segment in standing(segments)[0]:
            raw += segment.raw
            for entry in _entries(index, reader, segment):
                if (host := of_url.get(entry.url)) is None:
                    continue  # its URL is being written now
                counted = hosts[host]
                counted[1] += 1
                counted[2] += entry.size
                unsegmented += entry.kind != CUT and bool(entry.facts.method)
                if entry.columns is not None:
                    outline: Outline = entry.columns.outline()
                    blocks.extend(map(_key, outline.marks, outline.sizes))
                    layouts.append(int.from_bytes(outline.layout, "big"))
    versions = index.store.count("version")
    return ArchiveStats(
        urls=len(of_url),
        versions=versions,
        visits=versions + index.store.count("visit"),
        blocks=len(blocks),
        distinct_blocks=len(np.unique(blocks)),
        layouts=len(layouts),
        distinct_layouts=len(np.unique(layouts)),
        unsegmented=unsegmented,
        raw_bytes=sum(size for _, _, size in hosts.values()),
        kept_bytes=raw,
        stored_bytes=index.store.size(),
        hosts={host: HostStats(*numbers) for host, numbers in hosts.items()},
    )


def _entries(index: Index, reader: Reader, segment: Segment) -> Iterator[Entry]:
    try:
        live = live_versions(index, segment, reader.head(segment))
    except GoneError:
        return  # being replaced now
    yield from live.values()


def _key(mark: bytes, size: int) -> int:
    return int.from_bytes(mark, "big") << 32 | size
