"""The records of WARC files, found one after the other, over damage."""

from __future__ import annotations

import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from warcio.archiveiterator import WARCIterator
from warcio.exceptions import ArchiveLoadFailed

__all__ = ["BadRecordError", "Record", "WarcProblem", "record_at", "records"]

_PIECE = 1 << 20
_GZIP = b"\x1f\x8b\x08"
_START = re.compile(rb"\x1f\x8b\x08|(?<=\n)WARC/[01]\.")
_OVERLAP = 16
# What warcio and zlib raise on bytes that are no record.
_DAMAGE = (ArchiveLoadFailed, EOFError, OSError, StopIteration, ValueError, zlib.error)
_HTTP = ("application/http", "message/http")


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
    """

    offset: int
    fields: dict[str, str]
    loose: bool = False

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


def records(path: Path) -> Iterator[Record | WarcProblem]:
    """Yield the records of a file in order, and what is damaged between them.

    Behind damage it goes on at the next place where a record begins.

    Raises:
        OSError: the file cannot be opened.
    """
    with path.open("rb") as file:
        start: int | None = 0
        while start is not None:
            damage = yield from _until_damage(path, file, start)
            start = _next_start(file, max(damage, start) + 1) if damage is not None else None


def _until_damage(
    path: Path, file: BinaryIO, start: int
) -> Generator[Record | WarcProblem, None, int | None]:
    """Yield records from a place on; return the offset of one that is damaged, None at the end."""
    file.seek(start)
    last = start
    with closing(WARCIterator(file, no_record_parse=True)) as iterator:
        try:
            for found in iterator:
                last = int(iterator.get_record_offset())  # which reads the record to its end
                if not _is_whole(found):
                    yield WarcProblem(path, last, "the record is damaged or cut off")
                    return last
                yield _record(found, last)
        except _DAMAGE as error:
            reason = " ".join(str(error).split()) or type(error).__name__
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
    " make one that is with `warcio recompress {path} NEW`"
)


def _is_whole(found: Any) -> bool:
    length = found.rec_headers.get_header("Content-Length") or ""
    return length.strip().isdecimal() and found.length is not None and found.raw_stream.limit <= 0


def _record(found: Any, offset: int, *, loose: bool = False) -> Record:
    fields: dict[str, str] = {}
    for name, value in found.rec_headers.headers:
        fields.setdefault(name.lower(), value)
    return Record(int(offset), fields, loose)


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
    try:
        start = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(file.read(4096), 16)
    except zlib.error:
        return False
    return start.startswith(b"WARC/")


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
            with closing(WARCIterator(file, no_record_parse=True)) as iterator:
                found = next(iterator)
                if found.length > largest:
                    raise BadRecordError(f"it has {found.length} bytes, more than are kept")
                block = found.raw_stream.read()
                if len(block) != found.length:
                    raise BadRecordError("the record is damaged or cut off")
                iterator.read_to_end()
                return _record(found, offset, loose=iterator.err_count > 0), block
    except _DAMAGE as error:
        raise BadRecordError(f"it cannot be read ({error})") from error
