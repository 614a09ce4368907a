"""The records of WARC files, found one after the other, over damage."""

from __future__ import annotations

import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any, BinaryIO

from warcio.exceptions import ArchiveLoadFailed

from mmcrawl.archive.warc.iterating import RecordIterator

__all__ = ["BadRecordError", "Record", "WarcProblem", "record_at", "records"]

_PIECE = 1 << 20
_GZIP = b"\x1f\x8b\x08"
_START = re.compile(rb"\x1f\x8b\x08|(?<=\n)WARC/[01]\.")
_OVERLAP = 16
# What warcio and zlib raise on bytes that are no record.
_DAMAGE = (ArchiveLoadFailed, EOFError, OSError, StopIteration, ValueError, zlib.error)
_HTTP = ("application/http", "message/http")
_FOREIGN = (
    (b"filedesc:", "it is an ARC file: make a WARC with `warcio recompress '{}' NEW.warc.gz`"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd: unpack it first, with `zstd -d '{}'`"),
    (b"\x5d\x2a\x4d\x18", "it is compressed with zstd and a dictionary: unpack it first"),
    (b"PK\x03\x04", "it is a ZIP, as WACZ files are: take its WARC files with `unzip '{}'`"),
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
    """

    offset: int
    fields: dict[str, str]
    loose: bool = False
    begin: bytes = b""

    def field(self, name: str) -> str:
        """Return a named field, case folded, or ""."""
        return self.fields.get(name.lower(), "")

    @property
    def kind(self) -> str:
        """Its WARC-Type, lower case."""
        return self.field("WARC-Type").lower()

    @property
    def is_http(self) -> bool:
        """Whether its block is of HTTP, by its content type."""
        return self.field("Content-Type").strip().lower().startswith(_HTTP)


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
        start: int | None = 0
        while start is not None:
            damage = yield from _until_damage(path, file, start, begin)
            start = _next_start(file, max(damage, start) + 1) if damage is not None else None


def _foreign(file: BinaryIO) -> str:
    """Return what a file is that is known to be no WARC file, and what to do; else ""."""
    start = file.read(4096)
    if start.startswith(_GZIP):
        start = _unpacked(start)
    return next((what for mark, what in _FOREIGN if start.startswith(mark)), "")


def _until_damage(
    path: Path, file: BinaryIO, start: int, begin: int
) -> Generator[Record | WarcProblem, None, int | None]:
    """Yield records from a place on; return the offset of one that is damaged, None at the end."""
    file.seek(start)
    last = start
    with closing(RecordIterator(file)) as iterator:
        try:
            for found in iterator:
                last = int(iterator.offset)
                fits = found.length is None or found.length <= iterator.rest
                first = bytes(found.raw_stream.read(begin)) if fits and begin else b""
                if fits:
                    iterator.read_to_end()
                if not fits or not _is_whole(found):
                    yield WarcProblem(path, last, "the record is damaged or cut off")
                    return last
                yield _record(found, last, begin=first)
        except _DAMAGE as error:
            reason = shorten(str(error), 100, placeholder=" …") or type(error).__name__
            if "non-chunked gzip" in reason:
                yield WarcProblem(path, None, _ONE_STREAM.format(path=path))
                return None
            at = int(iterator.offset)
            yield WarcProblem(path, at, f"no record can be read here ({reason})")
            # A member without its end is unpacked into the next ones.
            return last if _is_packed(file, last) else at
        end = int(iterator.offset)
    if _is_packed(file, last) and not _has_an_end(file, last):
        yield WarcProblem(path, last, "its compression is damaged", taken=True)
        return last
    # warcio takes a last record of which not even the first line is there for the end.
    file.seek(end)
    if file.read(1024).strip():
        yield WarcProblem(path, end, "the record is cut off")
        return end
    return None


_ONE_STREAM = (
    "it is compressed as a whole, not record by record:"
    " make one that is with `warcio recompress '{path}' NEW.warc.gz`"
)


def _is_whole(found: Any) -> bool:
    length = found.rec_headers.get_header("Content-Length") or ""
    return length.strip().isdecimal() and found.length is not None and found.raw_stream.limit <= 0


def _record(found: Any, offset: int, *, loose: bool = False, begin: bytes = b"") -> Record:
    fields: dict[str, str] = {}
    for name, value in found.rec_headers.headers:
        fields.setdefault(name.lower(), value)
    uri = fields.get(_REFERRED, "")
    if uri.startswith("<"):  # as wget writes URIs; of the record's own warcio takes them off
        fields[_REFERRED] = uri.removeprefix("<").removesuffix(">")
    return Record(int(offset), fields, loose, begin)


_REFERRED = "warc-refers-to-target-uri"


def _next_start(file: BinaryIO, after: int) -> int | None:
    """Return the first place from `after` on where a record begins; None if there is none."""
    position = after - 1
    while True:
        file.seek(position)
        data = file.read(_PIECE)
        for match in _START.finditer(data):
            at = position + match.start()
            if at >= after and (match[0][:1] == b"W" or _packs_a_record(file, at)):
                return at
        if len(data) < _PIECE:
            return None
        position += len(data) - _OVERLAP


def _is_packed(file: BinaryIO, at: int) -> bool:
    file.seek(at)
    return file.read(len(_GZIP)) == _GZIP


def _has_an_end(file: BinaryIO, at: int) -> bool:
    """Whether a gzip member is whole."""
    file.seek(at)
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        while not unpacker.eof:
            packed = unpacker.unconsumed_tail or file.read(_PIECE)
            if not packed:
                return False
            unpacker.decompress(packed, _PIECE)
    except zlib.error:
        return False
    return True


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
                if len(block) != length:
                    raise BadRecordError("the record is damaged or cut off")
                iterator.read_to_end()
                return _record(found, offset, loose=iterator.err_count > 0), block
    except _DAMAGE as error:
        raise BadRecordError(f"it cannot be read ({error})") from error
