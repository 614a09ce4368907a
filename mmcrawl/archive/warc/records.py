"""The records of WARC files, found one after the other, over damage.

A record that does not end as one should may have lost bytes, and then its length reaches into those
behind it; so what comes next is looked for in its block first. A file costs time in proportion to
its size, whatever is in it: a length is not believed before what stands at its end was looked at,
and what damaged members unpack to is counted.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from textwrap import shorten
from typing import Any, BinaryIO, NamedTuple

from warcio.exceptions import ArchiveLoadFailed

from mmcrawl.archive.warc.iterating import RecordIterator

_PIECE = 1 << 16
_GZIP = b"\x1f\x8b\x08"
_START = re.compile(rb"\x1f\x8b\x08|(?<=\n)WARC/[01]\.")
# Behind a record that was cut short there need not be the end of a line.
_START_BEHIND = re.compile(_START.pattern + rb"|WARC/[01]\.[0-9]{1,2}\r?\n(?=[A-Za-z-]{1,40}:)")
_OVERLAP = 64
_LONGEST_BLOCK = 1 << 40  # bytes; a length beyond it tells nothing
_BLANK = 64  # bytes behind a record that are looked at
# What damaged members may unpack to in all, bytes: these, and so many for each byte of the file.
_LEAST_UNPACKED, _MOST_UNPACKED = 16 << 20, 32
# What warcio and zlib raise on bytes that are no record.
_DAMAGE = (ArchiveLoadFailed, EOFError, OSError, StopIteration, ValueError, zlib.error)
_HTTP = ("application/http", "message/http")
_REFERRED = "warc-refers-to-target-uri"
_TOO_MUCH = "too much of it is damaged: what begins here, before offset {:,}, is passed over"
_NO_END = "its compression is damaged"
_ONE_STREAM = (
    "what is compressed together with this record is not read:"
    " make a file compressed record by record with `warcio recompress '{path}' NEW.warc.gz`"
)
_FOREIGN = (
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd: unpack it first, with `zstd -d '{}'`"),
    (b"\x5d\x2a\x4d\x18", "it is compressed with zstd and a dictionary: unpack it first"),
    (b"PK\x03\x04", "it is a ZIP with no WARC file in its folder archive, so it is no WACZ"),
)


@dataclass(frozen=True, slots=True)
class WarcProblem:
    """Something in a WARC file that is not as it should be.

    Attributes:
        path: The file.
        offset: Of the record, in bytes; None for the whole file.
        what: One sentence.
        taken: Whether the record was taken in all the same.
    """

    path: Path
    offset: int | None
    what: str
    taken: bool = False

    def __str__(self) -> str:
        where = f"'{self.path}'" + ("" if self.offset is None else f", offset {self.offset}")
        return f"{where}: {self.what}" + ("" if self.taken else "; left out")


class BadRecordError(Exception):
    """A record cannot be read."""


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record.

    Attributes:
        offset: In its file.
        fields: Its named fields, names in lower case; the first of several.
        loose: Whether the blank lines are missing that end a record; known once it is read.
        begin: The first bytes of its block, if they were asked for.
        is_short: Whether its block ends before its length says, though its member is whole.
    """

    offset: int
    fields: dict[str, str]
    loose: bool = False
    begin: bytes = b""
    is_short: bool = False

    def field(self, name: str) -> str:
        """Return a named field, case folded, or ""."""
        return self.fields.get(name.lower(), "")

    @property
    def kind(self) -> str:
        """Its WARC-Type, lower case."""
        return self.field("WARC-Type").lower()

    @property
    def has_body(self) -> bool:
        """Whether its block holds what is captured: others refer to it, or tell of something."""
        return self.kind in ("response", "resource")

    @property
    def is_http(self) -> bool:
        """Whether its block is of HTTP: by its content type, or where none is said."""
        kind = self.field("Content-Type").strip().lower()
        return kind.startswith(_HTTP) or not kind


def records(path: Path, begin: int = 0) -> Iterator[Record | WarcProblem]:
    """Yield the records of a file in order, and what is damaged between them.

    Behind damage it goes on at the next place where a record begins.

    Args:
        path: The file, compressed record by record or not at all.
        begin: Bytes of each block that are given with its record.

    Raises:
        OSError: the file cannot be opened.
    """
    with path.open("rb") as file:
        if what := _foreign(file):
            yield WarcProblem(path, None, what.format(path))
            return
        spare = _LEAST_UNPACKED + _MOST_UNPACKED * os.fstat(file.fileno()).st_size
        start: int | None = 0
        while start is not None:
            stop = yield from _until_damage(path, file, start, begin)
            if stop is None:
                return
            spare -= stop.unpacked
            if spare < 0 and stop.reached > stop.resume:
                yield WarcProblem(path, stop.resume, _TOO_MUCH.format(stop.reached))
            start = _next_start(file, stop.resume if spare >= 0 else stop.reached, stop.mark)


class _Stop(NamedTuple):
    """Where the records of a file are not to be read on.

    Attributes:
        resume: Offset from which on the next is to be looked for.
        reached: Up to which the file was read, at least `resume`.
        unpacked: Bytes that the damaged record was unpacked to.
        mark: Of what the next begins with.
    """

    resume: int
    reached: int
    unpacked: int
    mark: re.Pattern[bytes]


def _foreign(file: BinaryIO) -> str:
    """Return what a file is that is known to be no WARC file, and what to do; else ""."""
    start = file.read(4096)
    if start.startswith(_GZIP):
        start = _unpacked(start)
    return next((what for mark, what in _FOREIGN if start.startswith(mark)), "")


def _until_damage(
    path: Path, file: BinaryIO, start: int, begin: int
) -> Generator[Record | WarcProblem, None, _Stop | None]:
    """Yield records from a place on; return where it is not to be read on, None at the end."""
    file.seek(start)
    last = start
    with closing(RecordIterator(file)) as iterator:
        reader = iterator.reader  # it lets go of it at the end
        before = unpacked = 0

        def stop(resume: int) -> _Stop:
            mark = _START if reader.unpacked else _START_BEHIND
            return _Stop(resume, max(resume, file.tell()), reader.unpacked - before, mark)

        try:
            for found in iterator:
                last = int(iterator.offset)
                before, unpacked = unpacked, reader.unpacked
                is_whole, resume = _end_of(file, iterator, found)
                first = bytes(found.raw_stream.read(begin)) if is_whole and begin else b""
                if is_whole and resume is None:
                    iterator.read_to_end()
                    is_whole = found.raw_stream.limit <= 0 or _is_short(file, iterator, found, last)
                    resume = None if is_whole else last + 1
                if is_whole:
                    yield _record(found, last, begin=first)
                else:
                    yield WarcProblem(path, last, "the record is damaged or cut off")
                if is_whole and iterator.is_packed and iterator.next_line:
                    yield WarcProblem(path, last, _ONE_STREAM.format(path=path))
                    resume = last + 1
                if resume is not None:
                    return stop(resume)
        except _DAMAGE as error:
            at = max(int(iterator.offset), last)
            if at > last and _lacks_its_end(file, last):  # it is unpacked into the next ones
                yield WarcProblem(path, last, _NO_END, taken=True)
                return stop(last + 1)
            reason = shorten(str(error), 100, placeholder=" …") or type(error).__name__
            yield WarcProblem(path, at, f"no record can be read here ({reason})")
            return stop(at + 1)
        end = int(iterator.offset)
        if _lacks_its_end(file, last):
            yield WarcProblem(path, last, _NO_END, taken=True)
            return stop(last + 1)
        # warcio takes a last record of which not even the first line is there for the end.
        file.seek(end)
        if file.read(1024).strip():
            yield WarcProblem(path, end, "the record is cut off")
            return stop(end + 1)
    return None


def _end_of(file: BinaryIO, iterator: RecordIterator, found: Any) -> tuple[bool, int | None]:
    """Return whether a record seems whole, and from where on the next is to be looked for.

    None if that follows right behind it, as it should.
    """
    length = found.rec_headers.get_header("Content-Length") or ""
    has_length = length.strip().isdecimal() and found.length is not None
    if iterator.is_packed:
        return has_length, None if has_length else int(iterator.offset) + 1
    here, begin = file.tell(), iterator.position
    end = begin + (found.length or 0)
    try:
        if not has_length or end > os.fstat(file.fileno()).st_size:
            return False, begin
        file.seek(end)
        behind = file.read(_BLANK)
        rest = behind.lstrip(b"\r\n")
        if rest != behind and rest[:5] in (b"", b"WARC/"):
            return True, None
        if (other := _next_start(file, begin, _START_BEHIND, end)) is not None:
            return False, other
        return True, end if rest == behind else None
    finally:
        file.seek(here)


def _is_short(file: BinaryIO, iterator: RecordIterator, found: Any, at: int) -> bool:
    """Whether a record that is not whole is all that its member holds: then its length is wrong."""
    here = file.tell()
    try:
        is_possible = iterator.is_packed and found.length < _LONGEST_BLOCK
        return is_possible and not _lacks_its_end(file, at)
    finally:
        file.seek(here)


def _record(found: Any, offset: int, *, loose: bool = False, begin: bytes = b"") -> Record:
    fields: dict[str, str] = {}
    for name, value in found.rec_headers.headers:
        fields.setdefault(name.lower(), value)
    uri = fields.get(_REFERRED, "")
    if uri.startswith("<"):  # as wget writes URIs; of the record's own warcio takes them off
        fields[_REFERRED] = uri.removeprefix("<").removesuffix(">")
    return Record(int(offset), fields, loose, begin)


def _next_start(
    file: BinaryIO, after: int, mark: re.Pattern[bytes], before: float = inf
) -> int | None:
    """Return the first place from `after` on where a record begins; None if none does.

    Args:
        mark: Of what it begins with.
        before: Where to stop looking.
    """
    position = after - 1
    while position < before:
        file.seek(position)
        data = file.read(_PIECE)
        for match in mark.finditer(data):
            at = position + match.start()
            if at >= before:
                return None
            if at >= after and (match[0][:1] == b"W" or _packs_a_record(file, at)):
                return at
        if len(data) < _PIECE:
            return None
        position += len(data) - _OVERLAP
    return None


def _lacks_its_end(file: BinaryIO, at: int) -> bool:
    """Whether there is a gzip member that is not whole."""
    file.seek(at)
    if file.read(len(_GZIP)) != _GZIP:
        return False
    file.seek(at)
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        while not unpacker.eof:
            packed = unpacker.unconsumed_tail or file.read(_PIECE)
            if not packed:
                return True
            unpacker.decompress(packed, _PIECE)
    except zlib.error:
        return True
    return False


def _packs_a_record(file: BinaryIO, at: int) -> bool:
    """Whether there is a gzip member that begins as a record does."""
    file.seek(at)
    return _unpacked(file.read(4096)).startswith(b"WARC/")


def _unpacked(packed: bytes) -> bytes:
    """Return how a gzip member begins; b"" if it is damaged."""
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(packed, 16)
    except zlib.error:
        return b""


def record_at(path: Path, offset: int, largest: int) -> tuple[Record, bytes]:
    """Read one record that :func:`records` found, and its block.

    Args:
        path, offset: Where it is.
        largest: Bytes of a block that are read at most.

    Raises:
        BadRecordError: it cannot be read, or is larger.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            with closing(RecordIterator(file)) as iterator:
                found = next(iterator)
                length = found.length or 0
                if length > largest:
                    raise BadRecordError(f"it has {length:,} bytes; {largest:,} are read at most")
                block = found.raw_stream.read()
                is_short = len(block) != length
                if is_short and not _is_short(file, iterator, found, offset):
                    raise BadRecordError("the record is damaged or cut off")
                iterator.read_to_end()
                record = _record(found, offset, loose=iterator.err_count > 0)
                return replace(record, is_short=is_short), block
    except _DAMAGE as error:
        raise BadRecordError(f"it cannot be read ({error})") from error
