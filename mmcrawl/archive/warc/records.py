"""Finds the records of WARC files, one after the other.

After damage, reading continues where the next record begins. A record that does not end as it
should may have lost bytes, and its length then reaches into those behind it. What damaged members
unpack to is limited, so that reading takes time proportional to the size of the file, whatever it
holds.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, BytesIO, RawIOBase
from math import inf
from pathlib import Path
from textwrap import shorten
from typing import Any, BinaryIO, NamedTuple

from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException

LONGEST_HEAD = 1 << 20
"""Bytes of a record's named fields."""

_VERSIONS = [f"WARC/{one}" for one in ("1.0", "1.1", "1.2", "0.17", "0.18")]  # warcio: up to 1.1
_PIECE = 1 << 16
_PACKED = 512  # bytes that are unpacked at once: what is before damage among them is lost
_GZIP = b"\x1f\x8b\x08"
_WARC = b"WARC/"
_WARC_LINE = rb"WARC/[01]\.[0-9]{1,2}\r?\n"
# Behind a record that was cut short there need not be the end of a line.
_START = re.compile(rb"\x1f\x8b\x08|" + _WARC_LINE + rb"(?=[A-Za-z-]{1,40}:)")
_PACKED_START = re.compile(_GZIP)
_FIRST_LINE = re.compile(rb"^WARC/|" + _WARC_LINE + rb"\Z")
_OVERLAP = 2_000
_LENGTH = re.compile("[0-9]{1,15}")
_BLANK = 64  # bytes behind a record that are looked at
# What damaged members may unpack to in all, bytes: these, and so many for each byte of the file.
_LEAST_UNPACKED, _MOST_UNPACKED = 16 << 20, 32
_HTTP = ("application/http", "message/http")
_DAMAGED = "the record is damaged or cut off"
_LOOSE = "no blank lines follow it: its Content-Length may be wrong"
_SHORT = "it has fewer bytes than its Content-Length says"
_NO_END = "its compression is damaged"
_TOO_MUCH = "too much of the file is damaged: what begins here is not read"
_ONE_STREAM = (
    "what is compressed together with this record is not read:"
    " make a file compressed record by record with `warcio recompress '{path}' NEW.warc.gz`"
)
_ARC = "it is an ARC file: make a WARC of it with `warcio recompress '{path}' NEW.warc.gz`"
_ZSTD = "it is compressed with zstd: unpack it first"
_FOREIGN = {
    b"\x28\xb5\x2f\xfd": _ZSTD,
    b"\x5d\x2a\x4d\x18": _ZSTD,  # with a dictionary
    b"file": _ARC,
    b"PK\x03\x04": "it is a ZIP with no WARC file in its folder archive, so it is no WACZ",
}


@dataclass(frozen=True, slots=True)
class WarcProblem:
    """Something in a WARC file that is not as it should be."""

    path: Path
    offset: int | None  # of the record; None for the whole file
    what: str
    taken: bool = False  # the record was imported all the same

    def __str__(self) -> str:
        where = f"'{self.path}'" + ("" if self.offset is None else f", offset {self.offset}")
        return f"{where}: {self.what}" + ("" if self.taken else "; left out")


class BadRecordError(Exception):
    """A record cannot be read."""


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record."""

    offset: int  # in its file
    fields: dict[str, str]  # names in lower case; the first of several
    length: int  # of its block, as it says
    begin: bytes = b""  # of its block, as many bytes as were asked for
    doubt: str = ""  # what is wrong with its length

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
        """Whether its block is HTTP: by its content type, or if it has none."""
        kind = self.field("Content-Type").strip().lower()
        return kind.startswith(_HTTP) or not kind


def records(path: Path, begin: int = 0) -> Iterator[Record | WarcProblem]:
    """Yield the records of a file in order, and what is damaged between them.

    Args:
        path: The file, compressed record by record or not at all; an OSError if it cannot be read.
        begin: Bytes of each block that are given with its record.
    """
    with path.open("rb") as file:
        if what := _FOREIGN.get(_begin(file, 0)[:4]):
            yield WarcProblem(path, None, what.format(path=path))
            return
        spare = _LEAST_UNPACKED + _MOST_UNPACKED * os.fstat(file.fileno()).st_size
        at = _behind_blanks(file, 0)
        while at is not None:
            found = _read(file, at, begin)
            if found.record is not None:
                yield found.record
            if found.problem:
                is_taken = found.problem == _NO_END
                yield WarcProblem(path, at, found.problem.format(path=path), is_taken)
                spare -= found.unpacked
                if spare < 0:
                    yield WarcProblem(path, found.resume, _TOO_MUCH)
                    return
            if found.problem or (found.record is not None and found.record.doubt):
                at = _next_start(file, found.resume, _PACKED_START if found.unpacked else _START)
            else:
                at = _behind_blanks(file, found.resume)


def record_at(path: Path, offset: int, largest: int) -> Record:
    """Read one record that :func:`records` found, with its whole block of bytes up to `largest`."""
    try:
        with path.open("rb") as file:
            found = _read(file, offset, largest)
    except OSError as error:
        raise BadRecordError(f"it cannot be read ({error})") from error
    if found.record is None:
        raise BadRecordError(found.problem)
    if found.record.length > largest:
        raise BadRecordError(f"it has {found.record.length:,} bytes; {largest:,} are read at most")
    return found.record


class _Found(NamedTuple):
    """What is at a place: a record, a problem, or both."""

    record: Record | None
    problem: str
    resume: int  # offset of the next; behind a problem, from which on it is to be looked for
    unpacked: int = 0  # bytes


def _read(file: BinaryIO, at: int, begin: int) -> _Found:
    """Read what is at a place, with the first bytes of its block."""
    file.seek(at)
    is_packed = file.read(len(_GZIP)) == _GZIP
    file.seek(at)
    member = _Member(file)
    try:
        return _packed(member, at, begin) if is_packed else _plain(file, at, begin)
    except BadRecordError as error:
        return _Found(None, f"no record can be read here ({error})", at + 1, member.count)


def _packed(member: _Member, at: int, begin: int) -> _Found:
    with BufferedReader(member) as stream:
        fields, length = _head(stream)
        first = stream.read(min(begin, length))
        left = length - len(first)
        while left and (piece := stream.read(min(left, _PIECE))):
            left -= len(piece)
        if left and member.is_damaged:
            return _Found(None, _DAMAGED, at + 1, member.count)
        behind = stream.read(_BLANK)
        rest = behind.lstrip(b"\r\n")
        # If its length is too short, the rest is its, too.
        doubt = _SHORT if left else _LOOSE * (bool(rest) and rest == behind)
        record = Record(at, fields, length, first, doubt)
        if rest and not doubt:
            return _Found(record, _ONE_STREAM, at + 1, member.count)
        while stream.read(_PIECE):
            pass
        if member.is_damaged:  # it is unpacked into the next ones
            return _Found(record, _NO_END, at + 1, member.count)
        return _Found(record, "", member.end)


def _plain(file: BinaryIO, at: int, begin: int) -> _Found:
    fields, length = _head(file)
    start = file.tell()
    end = start + length
    if end > os.fstat(file.fileno()).st_size:
        return _Found(None, _DAMAGED, start)
    first = file.read(min(begin, length))
    file.seek(end)
    behind = file.read(_BLANK)
    rest = behind.lstrip(b"\r\n")
    is_loose = bool(rest) and rest == behind
    if is_loose or (rest and not rest.startswith(_WARC)):
        other = _next_start(file, start, _START, end)
        if other is not None:
            return _Found(None, _DAMAGED, other)
    return _Found(Record(at, fields, length, first, _LOOSE * is_loose), "", end)


class _Member(RawIOBase):
    """What a member of a gzip file unpacks to, from where the file stands up to its end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        self.count = 0  # bytes that were unpacked
        self.is_damaged = False  # it ends before its own end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = b""
        while not (piece or self._unpacker.eof or self.is_damaged):
            packed = self._unpacker.unconsumed_tail or self._file.read(_PACKED)
            try:
                piece = self._unpacker.decompress(packed, len(buffer))
            except zlib.error:
                self.is_damaged = True
            self.is_damaged |= not (piece or packed)
        buffer[: len(piece)] = piece
        self.count += len(piece)
        return len(piece)

    @property
    def end(self) -> int:
        """Offset behind it, once it is read."""
        return self._file.tell() - len(self._unpacker.unused_data)


def _head(stream: BinaryIO | BufferedReader) -> tuple[dict[str, str], int]:
    """Read the named fields of a record, and the length of its block; it must have both."""
    lines = [stream.readline(LONGEST_HEAD)]
    if lines[0][:5].upper() != _WARC:
        raise BadRecordError("it does not begin with WARC/1.1")
    size = 0
    while lines[-1].strip():
        lines.append(stream.readline(LONGEST_HEAD))
        size += len(lines[-1])
        if size >= LONGEST_HEAD:
            raise BadRecordError(f"its head has more than {LONGEST_HEAD} bytes")
        if _FIRST_LINE.search(lines[-1]):
            raise BadRecordError("another record begins in its head")
    try:
        head = StatusAndHeadersParser(_VERSIONS).parse(BytesIO(b"".join(lines)))
    except (StatusAndHeadersParserException, ValueError) as error:
        raise BadRecordError(shorten(str(error), 100, placeholder=" …")) from error
    fields: dict[str, str] = {}
    for name, value in head.headers:
        fields.setdefault(name.lower(), value)
    for name in {"warc-target-uri", "warc-refers-to-target-uri"} & fields.keys():
        uri = fields[name].replace(" ", "%20")
        is_wget = uri.startswith("<") and uri.endswith(">")
        fields[name] = uri[1:-1] if is_wget else uri
    length = fields.get("content-length", "").strip()
    if not lines[-1] or not _LENGTH.fullmatch(length):
        raise BadRecordError("it is truncated, or has no length")
    return fields, int(length)


def _behind_blanks(file: BinaryIO, at: int) -> int | None:
    """Return the first place from `at` on where there is no white space; None if none is."""
    file.seek(at)
    while data := file.read(_PIECE):
        if rest := data.lstrip():
            return at + len(data) - len(rest)
        at += len(data)
    return None


def _next_start(
    file: BinaryIO, after: int, mark: re.Pattern[bytes], before: float = inf
) -> int | None:
    """Return the first place between two where a record begins, as a mark tells; None if none."""
    position = after - 1
    while position < before:
        file.seek(position)
        data = file.read(_PIECE)
        for match in mark.finditer(data):
            at = position + match.start()
            if at >= before:
                return None
            if at >= after and (match[0] != _GZIP or _begin(file, at).startswith(_WARC)):
                return at
        if len(data) < _PIECE:
            return None
        position += len(data) - _OVERLAP
    return None


def _begin(file: BinaryIO, at: int) -> bytes:
    """Return the first bytes at a place, of a gzip member unpacked; b"" if that is damaged."""
    file.seek(at)
    begin = file.read(4096)
    if not begin.startswith(_GZIP):
        return begin
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(begin, 16)
    except zlib.error:
        return b""
