"""Imports WARC files into an archive.

A revisit may refer to a record of any file, and the captures of a URL may come in any order, so all
records are listed in a temporary catalogue before the first is stored.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir, mkdtemp
from typing import NamedTuple, Self

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import RENDERED, Capture, Version
from mmcrawl.archive.warc.answers import Answer, answer_at, is_digest_of, warc_files_of
from mmcrawl.archive.warc.heads import NO_PLACE, as_time, is_http
from mmcrawl.archive.warc.records import BadRecordError, Record, WarcProblem, records
from mmcrawl.errors import MissingStoreError, StoreError

_SCHEMA = """
CREATE TABLE record (
    number INTEGER PRIMARY KEY, file INTEGER, offset INTEGER, is_response INTEGER,
    uri TEXT, date REAL, id TEXT, digest TEXT
);
CREATE INDEX by_id ON record (id);
CREATE INDEX by_uri ON record (uri, date);
CREATE INDEX by_digest ON record (digest);
"""
_BY_DIGEST = """
SELECT file, offset FROM record WHERE is_response AND digest = :digest
ORDER BY id = :id DESC, uri = :uri AND abs(date - :date) < 1 DESC, uri = :own DESC,
    abs(date - :date), number LIMIT 1
"""
# A record with another digest is not the one meant, even if its position matches.
_BY_NAME = """
SELECT file, offset FROM record
WHERE is_response AND (id = :id OR uri = :uri AND date BETWEEN :date - 1 AND :date + 1)
    AND (digest = '' OR :digest = '')
ORDER BY id = :id DESC, abs(date - :date), number LIMIT 1
"""

_Visit = tuple[float, int, str]  # time, status, digest of what was found
_COMMIT_CAPTURES = 200
_COMMIT_BYTES = 16 << 20


class Place(NamedTuple):
    """Where a record is."""

    file: int  # its number
    offset: int


class Catalogue:
    """The records of several files. A temporary database that goes when it is closed."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_SCHEMA)
        self._database.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def add(self, record: Record, file: int) -> bool:
        """Add the record of a visit; False if it has no URL or no date."""
        uri, date = record.field("WARC-Target-URI"), as_time(record.field("WARC-Date"))
        if not uri or date is None:
            return False
        named = record.field("WARC-Record-ID"), record.field("WARC-Payload-Digest")
        row = file, record.offset, record.has_body, _text(uri), date, *named
        self._database.execute("INSERT INTO record VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)
        return True

    def in_order(self) -> Iterator[Place]:
        """Yield all, URL by URL, each URL's in order of time."""
        rows = self._database.execute("SELECT file, offset FROM record ORDER BY uri, date, number")
        return (Place(*row) for row in rows)

    def original(self, revisit: Record) -> Place | None:
        """Return the response that a revisit refers to (WARC 1.1, section 6.7).

        By its payload digest, and of several with that the one that is named; a record that is
        named by its id, or by URI and date, also without a digest.
        """
        uri = revisit.field("WARC-Refers-To-Target-URI")
        own = revisit.field("WARC-Target-URI")
        date = as_time(revisit.field("WARC-Refers-To-Date") or revisit.field("WARC-Date"))
        wanted = {
            "id": revisit.field("WARC-Refers-To") or None,
            "uri": _text(uri or own),
            "own": _text(own),
            "date": date,
            "digest": revisit.field("WARC-Payload-Digest"),
        }
        row = None
        if wanted["digest"]:
            row = self._database.execute(_BY_DIGEST, wanted).fetchone()
        if row is None and (wanted["id"] or uri):
            row = self._database.execute(_BY_NAME, wanted).fetchone()
        return Place(*row) if row is not None else None


def _text(url: str) -> str:
    """Return a URL as SQLite takes it, without surrogates."""
    return url.encode("utf-8", "surrogatepass").decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class WarcImport:
    """What an import came to; ``records == captures + sum(skipped.values())``."""

    records: int  # whole ones that were found, of all types
    captures: int  # those imported: versions + unchanged
    versions: int
    unchanged: int  # visits that found what was known, failed, or are in the archive already
    doubtful: int  # captures with bytes of another digest, which are marked by a header
    skipped: Mapping[str, int]  # by reason; a type of record is a reason
    problems: tuple[WarcProblem, ...]


def import_warc(
    archive: Archive,
    paths: Iterable[str | PathLike[str]],
    *,
    method: str | None = None,
) -> WarcImport:
    """Take the captures of WARC and WACZ files into an archive, each URL's in order of time.

    Responses, and resources of the web, become versions, or visits where nothing had changed; so do
    revisit records, whose body is found in any of the files or in the archive (WARC 1.1, section
    6.7). Transfer and content codings are undone. A response ``304`` is a visit.

    Args:
        paths: The files, compressed record by record or not at all.

    Raises:
        BlockError: there is no such method.
        StoreError: a file cannot be opened, or the archive refuses; what was stored stays, and
            the import can be run again.
    """
    try:
        with TemporaryDirectory(prefix="mmcrawl-warc-") as folder, Catalogue() as catalogue:
            intake = _Intake(archive, catalogue, method)
            for path in map(Path, paths):
                intake.find(path, folder)
            intake.take_in()
            return intake.report()
    except sqlite3.Error as error:
        raise StoreError(
            f"no room to list the records of the WARC files, in {gettempdir()}: {error}"
        ) from error


class _UnresolvedError(BadRecordError):
    """What a revisit refers to is not there."""


class _Intake:
    def __init__(self, archive: Archive, catalogue: Catalogue, method: str | None) -> None:
        self._archive = archive
        self._method = method
        self._files: list[tuple[Path, Path]] = []  # and the name by which it is spoken of
        self._catalogue = catalogue
        self._counts = dict.fromkeys(("records", "versions", "unchanged", "doubtful"), 0)
        self._skipped: Counter[str] = Counter()
        self._problems: list[WarcProblem] = []
        self._waiting: list[Capture] = []
        self._known_url = ""
        self._known: Counter[_Visit] = Counter()
        self._last: _Visit | None = None
        self._read = lru_cache(maxsize=2)(self._read_place)

    def report(self) -> WarcImport:
        captures = self._counts["versions"] + self._counts["unchanged"]
        skipped = dict(sorted(self._skipped.items()))
        return WarcImport(
            **self._counts, captures=captures, skipped=skipped, problems=tuple(self._problems)
        )

    # -- first pass ---------------------------------------------------------------------------

    def find(self, path: Path, folder: str) -> None:
        """Catalogue the captures of a file; its contents are unpacked to a folder."""
        inside = Path(mkdtemp(dir=folder))
        try:
            for file in warc_files_of(path, inside):
                is_made = file.parent == inside
                name = path / file.name.partition("-")[2] if is_made else path
                self._files.append((file, name))
                self._find_records(len(self._files) - 1, file, name)
        except OSError as error:
            kind = MissingStoreError if isinstance(error, FileNotFoundError) else StoreError
            reason = error.strerror or error
            raise kind(f"the WARC file '{path}' cannot be read: {reason}") from error

    def _find_records(self, number: int, file: Path, name: Path) -> None:
        found = None
        for found in records(file, 8):
            if isinstance(found, WarcProblem):
                self._problems.append(replace(found, path=name))
                continue
            self._counts["records"] += 1
            place = Place(number, found.offset)
            if reason := _left_out(found):
                self._leave_out(place, *reason)
            elif not self._catalogue.add(found, number):
                self._leave_out(place, "damaged", NO_PLACE)
        if found is None:
            self._problems.append(WarcProblem(name, None, "there is no record in it"))

    def _leave_out(self, place: Place, reason: str, what: str) -> None:
        self._skipped[reason] += 1
        if what:
            self._problems.append(WarcProblem(self._files[place.file][1], place.offset, what))

    # -- second pass --------------------------------------------------------------------------

    def take_in(self) -> None:
        for place in self._catalogue.in_order():
            try:
                answer = self._read(place)
                self._take(answer)
            except BadRecordError as error:
                is_lost = isinstance(error, _UnresolvedError)
                self._leave_out(place, "unresolved revisit" if is_lost else "damaged", str(error))
            else:
                self._counts["doubtful"] += answer.is_other
                name = self._files[place.file][1]
                for doubt in answer.doubts:
                    self._problems.append(WarcProblem(name, place.offset, doubt, taken=True))
        self._flush()

    def _read_place(self, place: Place) -> Answer:
        return answer_at(self._files[place.file][0], place.offset)

    def _take(self, answer: Answer) -> None:
        capture = answer.capture
        if answer.finds_nothing and self._note_unchanged(capture):
            return
        if answer.record.kind == "revisit":
            # Without a head of its own, or with one that says only "not modified", it has the head
            # of what it refers to.
            original = self._original(answer)
            if answer.has_head and not answer.finds_nothing:
                capture = replace(capture, body=original.body)
            else:
                capture = replace(original, url=capture.url, time=capture.time)
        elif answer.finds_nothing:
            raise _UnresolvedError("it reports no change, but no earlier version is known")
        self._add(capture)

    def _note_unchanged(self, capture: Capture) -> bool:
        """Record a visit that found nothing new; False if the URL has no version yet."""
        self._flush()
        known = {visit[:2] for visit in self._stored_before(capture.url)}
        if (capture.time, capture.status) not in known:
            if self._version_at(capture.url, capture.time) is None:
                return False
            self._archive.note_unchanged(capture.url, capture.time, capture.status)
        self._counts["unchanged"] += 1
        return True

    def _stored_before(self, url: str) -> Counter[_Visit]:
        """Return a URL's visits before this import, less those met again; URLs come one by one."""
        if self._known_url != url:
            found = self._archive.found(url) if self._archive.known([url]) else []
            self._known_url, self._last = url, None
            self._known = Counter((visit.time, visit.status, one.digest) for visit, one in found)
        return self._known

    def _add(self, capture: Capture) -> None:
        known = self._stored_before(capture.url)
        if known:
            visit = (capture.time, capture.status, sha256(capture.body).hexdigest())
            is_repeated = visit == self._last  # the same twice in a second is kept once
            self._last = visit
            if is_repeated or known[visit]:  # an import that is run again
                known[visit] -= not is_repeated
                self._counts["unchanged"] += 1
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
        self._counts["versions"] += versions
        self._counts["unchanged"] += len(stored) - versions

    # -- what revisits refer to: records of the files, else versions of the archive -----------

    def _original(self, revisit: Answer) -> Capture:
        place = self._catalogue.original(revisit.record)
        if place is not None:
            try:
                return self._read(place).capture
            except BadRecordError as error:
                raise _UnresolvedError(
                    f"the record that this revisit refers to cannot be used: {error}"
                ) from error
        self._flush()  # the archive is asked, which must know all before
        field = revisit.record.field
        url, digest = field("WARC-Refers-To-Target-URI"), field("WARC-Payload-Digest")
        date = as_time(field("WARC-Refers-To-Date"))
        try:
            if url and date is not None:
                named = self._version_at(url, date + 1)
                if named is not None and abs(named.time - date) < 1:
                    return self._archive.rebuild(named)
            same = self._version_at(revisit.capture.url, revisit.capture.time)
            if same is not None and digest:
                found = self._archive.rebuild(same)
                if is_digest_of(digest, found.body):
                    return found
        except StoreError as error:
            raise _UnresolvedError(f"what this revisit refers to is damaged: {error}") from error
        raise _UnresolvedError(
            f"a revisit of {url or 'another record'}, which is neither in the files nor in the"
            " archive"
        )

    def _version_at(self, url: str, time: float) -> Version | None:
        try:
            return self._archive.get(url, at=time)
        except StoreError:
            if any(visit.time <= time for visit in self._archive.visits(url)):
                raise
            return None


def _left_out(record: Record) -> tuple[str, str] | None:
    """Return why a record is none of a visit, and what to say of that, if anything."""
    kind, uri = record.kind, record.field("WARC-Target-URI")
    # Logs and the like have addresses of other schemes.
    is_resource = kind == "resource" and is_http(uri.removeprefix(RENDERED))
    is_note = kind == "metadata" and record.begin.startswith(b"status: ")
    if kind not in ("response", "revisit") and not is_note and not is_resource:
        is_part = kind == "continuation"
        return kind or "no WARC-Type", "it is a part of a segmented record" if is_part else ""
    # Answers of DNS are in order; those that were in ARC files have no content type that says so.
    if kind == "response" and (not record.is_http or uri.lower().startswith("dns:")):
        of = record.field("Content-Type") or "no content type"
        return "not HTTP", f"an answer of {of}, not of HTTP" if is_http(uri) else ""
    if record.field("WARC-Segment-Number"):
        return "segmented", "it is one of several segments"
    return None
