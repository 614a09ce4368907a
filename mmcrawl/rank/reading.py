"""Pages, blocks and links of an archive, read as a stream of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from mmcrawl.archive import Archive
from mmcrawl.archive.revisits import is_answer
from mmcrawl.archive.times import as_unix_time
from mmcrawl.archive.writing import host_of
from mmcrawl.errors import StoreError
from mmcrawl.rank.page_reading import PageReader
from mmcrawl.rank.records import PageRecord, ReadPage
from mmcrawl.rank.url_index import IndexBuilder, UrlIndex

__all__ = ["Progress", "Reading"]

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how many (0 if that is not known)."""

_OFTEN = 50
_REMOVED = "pages were removed from the archive while it was read; do it again"


def _silent(what: str, done: int, total: int) -> None:
    """Show nothing."""


class Reading:
    """The pages of an archive as they were at a time; iterate over it once.

    First every URL is looked up, so that links can be told by their targets; then page after page
    is rebuilt, cut and read. Kept in memory are 32 bytes a page (:class:`UrlIndex`) and one page.

    Args:
        archive: Open; nothing is written.
        at: Unix seconds, or a datetime (UTC if it names no zone); by default, the newest versions.
        topics: Whether blocks get their topics, which takes longer than all else.
        media: Whether pages get their media, for which their blocks are parsed once more.
        progress: Told of ``listing`` and ``reading``.

    Attributes:
        skipped: How many URLs were left out, by the reason: redirects, error pages, what cannot be
            read. Complete when the iteration has ended.
        unreadable: Pages that are damaged: they have a record, without text, blocks and links.
    """

    def __init__(
        self,
        archive: Archive,
        *,
        at: datetime | float | None = None,
        topics: bool = True,
        media: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._archive = archive
        self._at = as_unix_time(at) if at is not None else None
        self._topics = topics
        self._media = media
        self._progress = progress or _silent
        self.skipped: Counter[str] = Counter()
        self.unreadable: list[str] = []

    def __iter__(self) -> Iterator[ReadPage]:
        """Yield the pages in order of their ids.

        Raises:
            StoreError: the archive fails, or pages were removed from it while it was read.
        """
        index = self._index()
        reader = PageReader(index, topics=self._topics, media=self._media)
        for page, (url, number) in enumerate(self._chosen(index)):
            yield self._read(reader, url, number, page)

    def versions(self) -> Iterator[tuple[str, int]]:
        """Yield URL and number of the version of each page, and read none of them.

        Raises:
            StoreError: as when iterating.
        """
        return self._chosen(self._index())

    def _chosen(self, index: UrlIndex) -> Iterator[tuple[str, int]]:
        expected = 0
        for url in self._archive.urls():
            page = index.id_of(url)
            if page < 0:
                continue
            if page != expected:
                break
            yield url, int(index.numbers[page])
            expected += 1
            if not expected % _OFTEN or expected == len(index):
                self._progress("reading", expected, len(index))
        if expected != len(index):
            raise StoreError(_REMOVED)

    def _index(self) -> UrlIndex:
        total = self._archive.counts()["urls"]
        builder = IndexBuilder()
        for done, url in enumerate(self._archive.urls(), start=1):
            self._look_up(url, builder)
            if not done % (20 * _OFTEN) or done == total:
                self._progress("listing", done, total)
        index = builder.index()
        self.skipped.update(builder.skipped)
        return index

    def _look_up(self, url: str, builder: IndexBuilder) -> None:
        """Tell what was seen last of a URL, without reading what is written about the version."""
        visits = self._archive.visits(url)
        # An early visit may have found a version that was captured later.
        statuses = {visit.version: visit.status for visit in visits if visit.changed}
        if self._at is not None:
            visits = [visit for visit in visits if visit.time <= self._at]
        for visit in reversed(visits):
            status = statuses.get(visit.version)
            if visit.version is None or status is None:
                continue
            if visit.changed or visit.status == status or is_answer(visit.status):
                break
        else:
            self.skipped["not stored at that time"] += 1
            return
        if 300 <= status < 400:
            builder.add_redirect(url, status, self._location(url, visit.version))
        else:
            builder.add(url, visit.version, visit.time, status)

    def _location(self, url: str, number: int) -> str:
        try:
            return self._archive.version(url, number).header("location")
        except StoreError as error:
            self.unreadable.append(str(error))
            return ""

    def _read(self, reader: PageReader, url: str, number: int, page: int) -> ReadPage:
        visits = self._archive.visits(url)
        first = next((v for v in visits if v.changed and v.version == number), None)
        if first is None:
            raise StoreError(_REMOVED)
        host = host_of(url)
        bare = PageRecord(page, url, host, number, first.time, first.status, "", "", 0)
        try:
            version = self._archive.version(url, number)
            body = self._archive.rebuild(version).body if version.method else b""
        except StoreError as error:
            self.unreadable.append(str(error))
            return ReadPage(bare, (), ())
        bare = replace(bare, language=version.language)
        return reader.read(bare, version, body) if version.method else ReadPage(bare, (), ())
