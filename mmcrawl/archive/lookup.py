"""From a URL, or a version, to what the archive keeps of it."""

from __future__ import annotations

from mmcrawl.archive.backend import Backend, PackRow, UrlRow, VersionRow
from mmcrawl.archive.format.facts import as_version
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.model import Version
from mmcrawl.errors import StoreError
from mmcrawl.frontier.urls import canonical, url_key


class Lookup:
    """Finds the rows of URLs and versions in an archive, and makes versions of them.

    Args:
        backend, reader: Of the archive.
    """

    def __init__(self, backend: Backend, reader: Reader) -> None:
        self._backend = backend
        self._reader = reader

    def url(self, url: str) -> UrlRow | None:
        """Return the row of a URL in any spelling, the exact one first."""
        try:
            key, wanted, _ = url_key(0, url), canonical(url), url.encode()
        except ValueError:
            return None  # no URL that could be stored
        exact = self._backend.url(url)
        if exact is not None:
            return exact
        others = self._backend.urls_by_key(key)
        return next((row for row in others if canonical(row.url) == wanted), None)

    def known_url(self, url: str) -> UrlRow:
        """Return the row of a URL in any spelling.

        Raises:
            StoreError: it is not stored.
        """
        row = self.url(url)
        if row is None:
            raise StoreError(f"{url} is not in archive {self._backend.name}")
        return row

    def row_of(self, version: Version) -> VersionRow:
        """Return the row of a version.

        Raises:
            StoreError: it is gone.
        """
        url = self._backend.url(version.url)
        row = self._backend.version(url.id, version.number) if url is not None else None
        if row is None or row.digest.hex() != version.digest:
            raise StoreError(
                f"version {version.number} of {version.url} is no longer in archive"
                f" {self._backend.name}"
            )
        return row

    def as_version(
        self,
        url: UrlRow,
        row: VersionRow,
        head: bytes | None = None,
        pack: PackRow | None = None,
    ) -> Version:
        """Make a version of its row.

        Args:
            url, row: Its own.
            head: Of a visit that found it, as :func:`~mmcrawl.archive.format.facts.as_version`
                takes it.
            pack: That holds its entry, if it was looked up already.

        Raises:
            StoreError: its entry cannot be read.
        """
        try:
            return as_version(url.url, row, self._reader.entry(row, pack), head)
        except StoreError as error:
            raise StoreError(f"version {row.number} of {url.url} cannot be read: {error}") from None

    def versions_of(self, url: UrlRow) -> list[Version]:
        """Return the versions of a URL in order of time."""
        rows = sorted(self._backend.versions(url.id), key=lambda row: (row.time, row.number))
        packs = self._backend.packs_with_entries({row.entry for row in rows})
        return [self.as_version(url, row, pack=packs.get(row.entry)) for row in rows]
