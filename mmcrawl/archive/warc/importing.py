"""WARC files into an archive."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import RENDERED, Capture
from mmcrawl.archive.warc.answers import Answer, answer_at
from mmcrawl.archive.warc.catalogue import Catalogue, Place
from mmcrawl.archive.warc.foreign import warc_files_of
from mmcrawl.archive.warc.heads import NO_PLACE, ORIGINAL, is_http
from mmcrawl.archive.warc.originals import Originals, UnresolvedError, version_at
from mmcrawl.archive.warc.records import BadRecordError, Record, WarcProblem, records
from mmcrawl.errors import MissingStoreError, StoreError

Progress = Callable[[int, int], None]
"""Called with the records that are dealt with, and how many there are."""

_Visit = tuple[float, int, str]  # time, status, digest of what was found
_COMMIT_CAPTURES = 200
_COMMIT_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class WarcImport:
    """What an import came to; ``records == captures + sum(skipped.values())``.

    Attributes:
        records: Whole records that were found, of all types.
        captures: Those that were taken in: ``versions + unchanged``.
        versions: New versions.
        unchanged: Visits without a new version: they found what was known, failed, or are in the
            archive already.
        doubtful: Captures whose bytes are not those of their digest; they are marked by a header.
        skipped: Records that were left out, by reason; a type of record is a reason.
        problems: What was wrong, with file and offset, in the order met.
    """

    records: int
    captures: int
    versions: int
    unchanged: int
    doubtful: int
    skipped: Mapping[str, int]
    problems: tuple[WarcProblem, ...]


def import_warc(
    archive: Archive,
    paths: Iterable[str | PathLike[str]],
    *,
    method: str | None = None,
    progress: Progress | None = None,
) -> WarcImport:
    """Take the captures of WARC files, of those in WACZ files, and of ARC files into an archive.

    Responses, and resources of the web, become versions, or visits where nothing had changed; so do
    revisit records, whose body is found in any of the files or in the archive (WARC 1.1, section
    6.7). A URL's captures are stored in order of time, whatever order they are in. Transfer and
    content codings are undone. A response ``304`` is a visit, and so is what :func:`export_warc`
    notes of one.

    Args:
        archive: Where to.
        paths: The files; WARC files compressed record by record or not at all.
        method: How pages are cut, with options if any; None as a URL's last version was, else as
            usual. An archive that was opened with ``keep_blocks=False`` cuts none.
        progress: Is told how far it is.

    Raises:
        BlockError: there is no such method.
        StoreError: a file cannot be opened, or the archive refuses; what was stored stays, and
            the import can be run again.
    """
    try:
        with TemporaryDirectory(prefix="mmcrawl-warc-") as folder, Catalogue() as catalogue:
            files, unread = _warc_files([Path(path) for path in paths], Path(folder))
            intake = _Intake(archive, [*files], catalogue, method)
            for number in range(len(files)):
                intake.find(number)
            intake.take_in(progress)
            report = intake.report()
            named = [replace(one, path=files[one.path]) for one in report.problems]
            return replace(report, problems=(*unread, *named))
    except sqlite3.Error as error:
        raise StoreError(
            f"no room to list the records of the WARC files, in {gettempdir()}: {error}"
        ) from error


def _is_dns(record: Record) -> bool:
    """Whether an answer is of DNS: those in ARC files have no content type that says so."""
    return record.field("WARC-Target-URI").lower().startswith("dns:")


def _warc_files(paths: list[Path], folder: Path) -> tuple[dict[Path, Path], list[WarcProblem]]:
    """Return the WARC files to read, each with the name by which it is spoken of.

    And what cannot be read of the files that they are made of.
    """
    files: dict[Path, Path] = {}
    unread: list[WarcProblem] = []
    for number, path in enumerate(paths):
        inside = folder / str(number)
        inside.mkdir()
        try:
            made, problem = warc_files_of(path, inside)
            unread += [problem] if problem else []
            for file in made:
                packed = file.parent == inside
                files[file] = path / file.name.partition("-")[2] if packed else path
        except OSError as error:
            reason = error.strerror or error
            kind = MissingStoreError if isinstance(error, FileNotFoundError) else StoreError
            raise kind(f"the WARC file '{path}' cannot be read: {reason}") from error
    return files, unread


class _Intake:
    def __init__(
        self, archive: Archive, files: list[Path], catalogue: Catalogue, method: str | None
    ) -> None:
        self._archive = archive
        self._method = method
        self._files = files
        self._catalogue = catalogue
        self._records = self._versions = self._unchanged = self._doubtful = 0
        self._skipped: Counter[str] = Counter()
        self._problems: list[WarcProblem] = []
        self._waiting: list[Capture] = []
        self._known_url = ""
        self._known: Counter[_Visit] = Counter()
        self._last: _Visit | None = None
        self._known_times: set[tuple[float, int]] = set()
        self._read = lru_cache(maxsize=2)(self._read_place)
        self._originals = Originals(archive, catalogue, self._read)

    def report(self) -> WarcImport:
        return WarcImport(
            records=self._records,
            captures=self._versions + self._unchanged,
            versions=self._versions,
            unchanged=self._unchanged,
            doubtful=self._doubtful,
            skipped=dict(sorted(self._skipped.items())),
            problems=tuple(self._problems),
        )

    # -- first pass ---------------------------------------------------------------------------

    def find(self, number: int) -> None:
        """Note the captures of a file."""
        path = self._files[number]
        empty = True
        try:
            for found in records(path):
                empty = False
                if isinstance(found, WarcProblem):
                    self._problems.append(found)
                else:
                    self._records += 1
                    self._find_record(found, number)
        except OSError as error:
            reason = error.strerror or error
            kind = MissingStoreError if isinstance(error, FileNotFoundError) else StoreError
            raise kind(f"the WARC file '{path}' cannot be read: {reason}") from error
        if empty:
            self._problems.append(WarcProblem(path, None, "there is no record in it"))

    def _find_record(self, record: Record, number: int) -> None:
        path = self._files[number]
        kind = record.kind
        is_note = kind == "metadata" and record.field(ORIGINAL) != ""
        # Logs and the like have addresses of other schemes.
        is_kept = is_http(record.field("WARC-Target-URI").removeprefix(RENDERED))
        is_resource = kind == "resource" and is_kept
        if kind not in ("response", "revisit") and not is_note and not is_resource:
            self._skipped[kind or "no WARC-Type"] += 1
            if kind == "continuation":
                what = "it is a part of a segmented record"
                self._problems.append(WarcProblem(path, record.offset, what))
        elif kind == "response" and (not record.is_http or _is_dns(record)):
            self._skipped["not HTTP"] += 1
            if is_http(record.field("WARC-Target-URI")):  # others, as of DNS, are in order
                kind = record.field("Content-Type") or "no content type"
                what = f"an answer of {kind}, not of HTTP"
                self._problems.append(WarcProblem(path, record.offset, what))
        elif record.field("WARC-Segment-Number"):
            self._leave_out(path, record.offset, "segmented", "it is one of several segments")
        elif not self._catalogue.add(record, number):
            self._leave_out(path, record.offset, "damaged", NO_PLACE)

    def _leave_out(self, path: Path, offset: int, reason: str, what: str) -> None:
        self._skipped[reason] += 1
        self._problems.append(WarcProblem(path, offset, what))

    # -- second pass --------------------------------------------------------------------------

    def take_in(self, progress: Progress | None) -> None:
        total = len(self._catalogue)
        for done, place in enumerate(self._catalogue.in_order(), start=1):
            path = self._files[place.file]
            try:
                answer = self._read(place)
                self._take(answer)
            except BadRecordError as error:
                self._leave_out(path, place.offset, "damaged", str(error))
            except UnresolvedError as error:
                self._leave_out(path, place.offset, "unresolved revisit", str(error))
            else:
                self._doubtful += answer.is_other
                for doubt in answer.doubts:
                    self._problems.append(WarcProblem(path, place.offset, doubt, taken=True))
            if progress is not None:
                progress(done, total)
        self._flush()

    def _read_place(self, place: Place) -> Answer:
        return answer_at(self._files[place.file], place.offset)

    def _take(self, answer: Answer) -> None:
        has_body = answer.record.has_body
        if answer.finds_nothing:
            if self._note_unchanged(answer.capture):
                return
            if answer.record.kind != "revisit":
                raise UnresolvedError("it says that nothing was found, and no version is before it")
        elif has_body:
            self._add(answer.capture)
            return
        if self._catalogue.original(answer.record) is None:
            self._flush()  # the archive is asked next, which must know all before
        self._add(self._originals.completed(answer))

    def _note_unchanged(self, capture: Capture) -> bool:
        """Note a visit that found nothing new; False if the URL has no version yet."""
        self._flush()
        self._stored_before(capture.url)
        if (capture.time, capture.status) not in self._known_times:
            if version_at(self._archive, capture.url, capture.time) is None:
                return False
            self._archive.note_unchanged(capture.url, capture.time, capture.status)
        self._unchanged += 1
        return True

    def _stored_before(self, url: str) -> Counter[_Visit]:
        """Return the visits of a URL before this import, less those that were met again.

        All captures of a URL come one after the other.
        """
        if self._known_url != url:
            versions = [one for one in self._archive.versions(url) if one.url == url]
            digests = {one.number: one.digest for one in versions}
            visits = self._archive.visits(url) if versions else []
            self._known_url = url
            self._last = None
            self._known = Counter(
                (visit.time, visit.status, digests.get(visit.version or 0, "")) for visit in visits
            )
            self._known_times = {visit[:2] for visit in self._known}
        return self._known

    def _add(self, capture: Capture) -> None:
        known = self._stored_before(capture.url)
        if known:
            visit = (capture.time, capture.status, sha256(capture.body).hexdigest())
            is_repeated = visit == self._last  # the same twice in a second is kept once
            self._last = visit
            if is_repeated or known[visit]:  # an import that is run again
                known[visit] -= not is_repeated
                self._unchanged += 1
                return
        self._waiting.append(capture)
        size = sum(len(capture.body) for capture in self._waiting)
        if size > _COMMIT_BYTES or len(self._waiting) >= _COMMIT_CAPTURES:
            self._flush()

    def _flush(self) -> None:
        """Store what waits, in one commit."""
        if not self._waiting:
            return
        stored = self._archive.store_many(self._waiting, method=self._method)
        self._waiting = []
        versions = sum(one.version is not None for one in stored)
        self._versions += versions
        self._unchanged += len(stored) - versions
