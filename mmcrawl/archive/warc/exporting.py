"""Writes an archive as a WARC file; storing its visits in this order gives the same versions
again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from math import inf
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import RENDERED, Version, Visit, as_unix_time
from mmcrawl.archive.warc.heads import RecordWriter, Written, is_http
from mmcrawl.archive.warc.wacz import index_beside, index_of, wacz_in
from mmcrawl.errors import StoreError
from mmcrawl.page.structured import title_in
from mmcrawl.store.durable import put_in_place


@dataclass(frozen=True, slots=True)
class WarcExport:
    """What an export came to."""

    path: Path
    urls: int  # that have a record in it
    responses: int  # records with a body
    revisits: int  # of visits and versions whose body stands in another record
    failures: int  # notes of visits that got no page
    size: int  # of the file in bytes
    index: Path | None  # its CDXJ; None for a WACZ
    problems: tuple[str, ...]  # what could not be written, a sentence each


def export_warc(
    archive: Archive,
    path: str | PathLike[str],
    *,
    url: str | None = None,
    host: str | None = None,
    since: datetime | float | None = None,
    until: datetime | float | None = None,
    gzip: bool = True,
) -> WarcExport:
    """Write an archive, or a part of it, as a WARC 1.1 file; as a WACZ if its name ends so.

    Its index, in the format CDXJ, is put beside it: ``all.cdxj`` beside ``all.warc.gz``.

    A version is a ``response``; one whose body is in the file already, and a visit that found
    it again, is a ``revisit``. A visit that failed, or found again that a page is gone, is
    ``metadata`` behind the version that the archive had then. How a browser made a page is a
    ``resource``. An import gives the same versions and visits; their numbers follow time, and URLs
    are written as URIs. The file is the same for the same archive.

    Args:
        path: The file; it appears when it is complete, in place of one of that name.
        url, host: Only this one; with both, the URL.
        since, until: Only visits from this time on, and before that one. One whose version lies
            before is written with the body, so that the file stands alone.
        gzip: Whether records are compressed, one by one.

    Raises:
        StoreError: the URL is not stored, the archive cannot be read, or the file not be written.
    """
    path = Path(path)
    ends = (-inf if since is None else since), (inf if until is None else until)
    window = as_unix_time(ends[0]), as_unix_time(ends[1])
    urls = iter([archive.get(url).url]) if url is not None else archive.urls(host)
    try:
        with ExitStack() as finished:
            file = finished.enter_context(_moved_when_complete(path))
            if path.suffix.lower() == ".wacz":
                wacz = finished.enter_context(wacz_in(file, path.stem, time.time()))
                export = _Export(archive, wacz.records, window, wacz.add_page)
            else:
                export = _Export(archive, RecordWriter(file, gzip=gzip), window)
            for one in urls:
                export.write_url(one)
            export.writer.write_info(0.0)  # where nothing else was written
        index = None
        if path.suffix.lower() != ".wacz":  # which has its index inside
            index = index_beside(path)
            with _moved_when_complete(index) as lines:
                lines.writelines(index_of(path))
        size, problems = path.stat().st_size, tuple(export.problems)
        return WarcExport(path, **export.counts, size=size, index=index, problems=problems)
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(f"the WARC file '{path}' cannot be written: {reason}") from error


@contextmanager
def _moved_when_complete(path: Path) -> Iterator[BinaryIO]:
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise StoreError(f"the WARC file '{path}' cannot be written: it is no regular file")
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
        put_in_place(part, path)
    finally:
        part.unlink(missing_ok=True)


class _Export:
    """Writes what an archive has between two times, and lists its pages."""

    def __init__(
        self,
        archive: Archive,
        writer: RecordWriter,
        window: tuple[float, float],
        list_page: Callable[[str, float, str], None] = lambda url, time, title: None,
    ) -> None:
        self._archive = archive
        self.writer = writer
        self._window = window
        self._list_page = list_page
        self._by_body: dict[str, Written] = {}
        self.counts = dict.fromkeys(("urls", "responses", "revisits", "failures"), 0)
        self.problems: list[str] = []

    def write_url(self, url: str) -> None:
        """Write the visits of a URL, each version before the visits that found it again.

        A visit was compared with the version before it among those that were stored then, so this
        order finds the same version again, also where an older capture was stored after a newer
        one. Of what no server answered with, how a page was rendered, only versions are written.
        """
        is_rendered = url.startswith(RENDERED)
        if not is_http(url.removeprefix(RENDERED)):
            self.problems.append(f"{url} is no URL of HTTP; its versions are left out")
            return
        try:
            found = self._archive.found(url, self.problems.append)
            lost = len(self._archive.visits(url)) - len(found)
        except StoreError as error:
            self.problems.append(f"{error}; all versions of this URL are left out")
            return
        if lost:
            what = f"{lost} visits of {url} found versions that are gone, or cannot be read"
            self.problems.append(what)
        found.sort(key=lambda pair: (pair[1].number, not pair[0].changed))
        before = self.writer.count
        present: dict[int, bool] = {}  # versions of this URL; False for one that is damaged
        for visit, version in found:
            if not self._window[0] <= visit.time < self._window[1]:
                continue
            if is_rendered and not visit.changed:
                continue
            if version.number not in present and _has_page(visit, version):
                present[version.number] = self._write_version(visit, version, is_rendered)
            elif present.get(version.number):
                self._write_visit(visit, version)
        self.counts["urls"] += self.writer.count > before

    def _write_version(self, visit: Visit, version: Version, is_rendered: bool) -> bool:
        """Write a version, or the visit that stands for it; False if it is damaged."""
        capture = version.capture(time=visit.time)
        known = None if is_rendered or not version.size else self._by_body.get(version.digest)
        if known is not None:
            self.writer.write_revisit(capture, version.size, known)
            self.counts["revisits"] += 1
            return True
        try:
            body = self._archive.rebuild(version).body
        except StoreError as error:
            self.problems.append(f"{error}; it is left out, with its visits")
            return False
        self.counts["responses"] += 1
        if is_rendered:
            what = capture.media_type, BytesIO(body), len(body)
            self.writer.write_resource(version.url, visit.time, *what)
            return True
        self._by_body[version.digest] = self.writer.write_response(capture, body)
        if version.status == 200 and version.encoding:
            self._list_page(version.url, visit.time, title_in(body, version.encoding))
        return True

    def _write_visit(self, visit: Visit, version: Version) -> None:
        """Write a visit; the version that the archive had then is in the file."""
        known = self._by_body[version.digest]
        if has_page := _has_page(visit, version):
            capture, told = version.capture(time=visit.time), visit.status != version.status
            self.writer.write_revisit(capture, version.size, known, not_modified=told)
        else:
            self.writer.write_failure(version.url, visit.time, visit.status, known)
        self.counts["revisits" if has_page else "failures"] += 1


def _has_page(visit: Visit, version: Version) -> bool:
    """Return whether a visit got the version, or was told that it holds on.

    Of others nothing is known but their status: failed ones, and those that found again that a page
    is gone, whose bodies are not kept. A visit before the capture had the body.
    """
    if visit.changed or visit.status == 304:
        return True
    is_early = visit.time < version.time
    return visit.status == version.status and (200 <= visit.status < 400 or is_early)
