"""The block archive: every version of every page, cut into blocks, equal bytes stored once."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from mmcrawl.archive.backend import Backend, UrlRow, VersionRow, VisitRow
from mmcrawl.archive.checking import Checker
from mmcrawl.archive.comparison import Side, difference
from mmcrawl.archive.cutting import blocks_of_version
from mmcrawl.archive.facts import as_version
from mmcrawl.archive.model import (
    ArchiveStats,
    Capture,
    CheckReport,
    Difference,
    Purged,
    Stored,
    StoredBlock,
    Version,
    Visit,
)
from mmcrawl.archive.purging import purge
from mmcrawl.archive.reading import Reader
from mmcrawl.archive.sealing import Sealer
from mmcrawl.archive.sqlite import SqliteBackend
from mmcrawl.archive.statistics import stats_of
from mmcrawl.archive.times import as_text, as_unix_time
from mmcrawl.archive.writing import Writer, key_of
from mmcrawl.errors import StoreError
from mmcrawl.frontier.urls import canonical

__all__ = ["Archive", "open_archive"]


def open_archive(uri: str, *, create: bool = True, read_only: bool = False) -> Archive:
    """Open an archive: ``sqlite:///FILE`` (absolute: ``sqlite:////FILE``) or ``mongodb://…``.

    Args:
        uri: Where it is.
        create: Whether to make it where there is none.
        read_only: Never write; several may read while one writes.

    Raises:
        StoreError: it is missing, is no archive, is of a newer schema, damaged, locked, or cannot
            be reached; in one sentence.
    """
    if uri.startswith("sqlite:///") and len(uri) > len("sqlite:///"):
        path = Path(uri.removeprefix("sqlite:///"))
        return Archive(SqliteBackend(path, create=create, read_only=read_only))
    if uri.startswith(("mongodb://", "mongodb+srv://")):
        from mmcrawl.archive.mongodb import MongoBackend

        return Archive(MongoBackend(uri, create=create, read_only=read_only))
    raise StoreError(
        f"archive {uri!r} is not understood; use sqlite:///FILE or mongodb://HOST/DATABASE"
    )


class Archive:
    """An open archive. Make one with :func:`open_archive`; use it ``with`` or :meth:`close` it.

    What :meth:`store` and :meth:`note_unchanged` return from is durable. Methods may be called
    from several threads; one at a time writes. All methods raise
    :class:`~mmcrawl.errors.StoreError` when the store fails.

    A URL is kept as given. Looking one up finds it under any spelling that the frontier holds for
    the same page (:func:`mmcrawl.frontier.urls.canonical`), the exact one first.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._reader = Reader(backend)
        self._sealer = Sealer(backend, self._reader)
        self._writer = Writer(backend, self._reader, self._sealer)
        self._writing = threading.RLock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- storing ------------------------------------------------------------------------------

    def store(
        self, capture: Capture, *, method: str | None = None, level: int | None = None
    ) -> Stored:
        """Keep a capture (Song et al. 2008, algorithm 4): a version if anything changed.

        Args:
            capture: What was received.
            method, level: How to cut it; None takes those of the URL's last version, else
                :data:`~mmcrawl.blocks.partition.DEFAULT_METHOD` and its level.
        """
        with self._writing:
            return self._writer.store([capture], method, level)[0]

    def store_many(self, captures: Iterable[Capture]) -> list[Stored]:
        """Keep several captures in one commit; all are durable on return, or none."""
        with self._writing:
            return self._writer.store(captures)

    def note_unchanged(self, url: str, time: float, status: int = 304) -> None:
        """Note a visit that found nothing new, as an answer ``304 Not Modified`` says.

        Raises:
            StoreError: the URL has no version.
        """
        with self._writing, self._backend.writing():
            row = self._known_url(url)
            version = self._backend.version_at(row.id, time)
            if version is None:
                raise StoreError(f"{url} has no version before that visit; store one first")
            if version.time != time:
                self._backend.add_visit(VisitRow(row.id, time, version.number, status))

    # -- reading ------------------------------------------------------------------------------

    def urls(self, host: str | None = None, prefix: str | None = None) -> Iterator[str]:
        """Yield the stored URLs in order, those of a host or with a prefix if one is given."""
        return (row.url for row in self._backend.urls(host, prefix))

    def hosts(self) -> list[str]:
        """Return the hosts that have a URL here, in order."""
        return self._backend.hosts()

    def visits(self, url: str) -> list[Visit]:
        """Return all visits of a URL in order of time; empty for one that is not stored."""
        row = self._url(url)
        if row is None:
            return []
        found = [
            Visit(version.time, True, version.number, version.status)
            for version in self._backend.versions(row.id)
        ]
        found += [
            Visit(visit.time, False, visit.number, visit.status)
            for visit in self._backend.visits(row.id)
        ]
        return sorted(found, key=lambda visit: visit.time)

    def versions(self, url: str) -> list[Version]:
        """Return the versions of a URL in order of time; empty for one that is not stored."""
        row = self._url(url)
        return self._versions_of(row) if row is not None else []

    def all_versions(self) -> Iterator[Version]:
        """Yield every version, URL by URL in their order, those of one URL in order of time."""
        for url in self._backend.urls():
            yield from self._versions_of(url)

    def get(self, url: str, at: datetime | float | None = None) -> Version:
        """Return the version that was current at a time, the newest by default.

        Args:
            url: Any spelling of it.
            at: Unix seconds, or a datetime (UTC if it names no zone).

        Raises:
            StoreError: the URL is not stored, or its first version is later: the message names it.
        """
        row = self._known_url(url)
        time = as_unix_time(at) if at is not None else None
        version = self._backend.version_at(row.id, time)
        if version is not None:
            return self._as_version(row, version)
        versions = self._backend.versions(row.id)
        if not versions:
            raise StoreError(f"{url} has no version in archive {self._backend.name}")
        first = min(versions, key=lambda version: version.time)
        raise StoreError(
            f"{url} was not stored yet at {as_text(time)}; its first version is of"
            f" {as_text(first.time)}"
        )

    def version(self, url: str, number: int) -> Version:
        """Return a version by its number.

        Raises:
            StoreError: there is none.
        """
        row = self._known_url(url)
        version = self._backend.version(row.id, number)
        if version is None:
            raise StoreError(f"{url} has no version {number} in archive {self._backend.name}")
        return self._as_version(row, version)

    def rebuild(self, version: Version) -> Capture:
        """Return the page byte for byte, checked against its digest.

        Raises:
            StoreError: it is damaged, or was purged.
        """
        row = self._row_of(version)
        with self._named(version):
            body = self._reader.checked_body(row)
        return Capture(
            url=version.url,
            body=body,
            time=version.time,
            status=version.status,
            headers=version.headers,
            reason=version.reason,
            content_type=version.content_type,
        )

    def blocks_of(self, version: Version) -> list[StoredBlock]:
        """Return the blocks of a version in order, each before those inside of it."""
        with self._named(version):
            row = self._row_of(version)
            entry = self._reader.entry(row)
            return blocks_of_version(version, entry, self._reader.checked_body(row))

    def diff(self, old: Version, new: Version) -> Difference:
        """Compare two versions block by block (Song et al. 2008, section 2.3)."""
        sides = (
            Side(version, self.rebuild(version).body, self.blocks_of(version))
            for version in (old, new)
        )
        return difference(*sides)

    # -- upkeep -------------------------------------------------------------------------------

    def check(self, *, repair: bool = False) -> CheckReport:
        """Examine everything: each version is rebuilt and compared with its digest.

        Args:
            repair: Remove leftovers, make the index of chunks anew where it is wrong.
        """
        with self._writing:
            self._sealer.wait()
            return Checker(self._backend, repair=repair).report()

    def stats(self) -> ArchiveStats:
        """Return numbers of the whole archive."""
        return stats_of(self._backend, self._reader)

    def pack(self) -> None:
        """Cut and label the blocks of every version, compress all, and give free space back.

        Until then, blocks are cut whenever they are asked for.
        """
        with self._writing:
            self._sealer.seal_all()
            self._sealer.cut_all()
            self._backend.compact()

    def repack(self, level: int = 19) -> None:
        """Compress everything anew at a zstd level (1 to 19): slower to do, as fast to read.

        Raises:
            ValueError: there is no such level.
        """
        if not 1 <= level <= 19:
            raise ValueError(f"level must be from 1 to 19, not {level}")
        with self._writing:
            self._sealer.seal_all()
            self._sealer.recompress(level)
            self._backend.compact()

    def purge(
        self,
        *,
        url: str | None = None,
        host: str | None = None,
        before: datetime | float | None = None,
    ) -> Purged:
        """Remove versions for good, with the visits that found them, and give their space back.

        Args:
            url, host: Whose; with neither, everyone's.
            before: Only versions that were replaced by another before this time.

        Raises:
            ValueError: nothing at all is named.
        """
        if url is None and host is None and before is None:
            raise ValueError("name a URL, a host or a time: everything is not purged at once")
        with self._writing:
            self._sealer.wait()
            rows = self._urls_to_purge(url, host)
            return purge(self._backend, rows, as_unix_time(before) if before is not None else None)

    def close(self) -> None:
        """Close it. All that was acknowledged stays."""
        with self._writing:
            if self._closed:
                return
            self._closed = True
            try:
                self._sealer.finish()
            finally:
                self._backend.close()

    # -- finding ------------------------------------------------------------------------------

    def _url(self, url: str) -> UrlRow | None:
        exact = self._backend.url(url)
        if exact is not None:
            return exact
        wanted = canonical(url)
        others = self._backend.urls_by_key(key_of(url))
        return next((row for row in others if canonical(row.url) == wanted), None)

    def _known_url(self, url: str) -> UrlRow:
        row = self._url(url)
        if row is None:
            raise StoreError(f"{url} is not in archive {self._backend.name}")
        return row

    def _row_of(self, version: Version) -> VersionRow:
        url = self._backend.url(version.url)
        row = self._backend.version(url.id, version.number) if url is not None else None
        if row is None or row.digest.hex() != version.digest:
            raise StoreError(
                f"version {version.number} of {version.url} is no longer in archive"
                f" {self._backend.name}"
            )
        return row

    def _as_version(self, url: UrlRow, row: VersionRow) -> Version:
        return as_version(url.url, row, self._reader.entry(row))

    def _versions_of(self, url: UrlRow) -> list[Version]:
        rows = sorted(self._backend.versions(url.id), key=lambda row: (row.time, row.number))
        return [self._as_version(url, row) for row in rows]

    def _urls_to_purge(self, url: str | None, host: str | None) -> list[UrlRow]:
        if url is None:
            return list(self._backend.urls(host))
        row = self._known_url(url)
        return [row] if host in (None, row.host) else []

    @contextmanager
    def _named(self, version: Version) -> Iterator[None]:
        """Say which version cannot be read."""
        try:
            yield
        except StoreError as error:
            raise StoreError(
                f"version {version.number} of {version.url} is damaged: {error}"
            ) from error
