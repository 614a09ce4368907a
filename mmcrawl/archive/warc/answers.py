"""Reads HTTP responses: the one in a record of a WARC file, and the pages of a whole file.

A body is returned without transfer and content encodings, and checked against its digests. A file
may be a WACZ file, which holds WARC files.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from lzma import LZMAError
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile, is_zipfile

import zstandard
from warcio.bufferedreaders import ChunkedDataReader
from warcio.statusandheaders import StatusAndHeadersParser

from mmcrawl.archive.model import LARGEST_BODY, Capture, Headers
from mmcrawl.archive.warc.heads import DOUBT, NO_PLACE, as_sent, as_time
from mmcrawl.archive.warc.records import BadRecordError, Record, WarcProblem, record_at, records
from mmcrawl.errors import StoreError
from mmcrawl.frontier.urls import url_key
from mmcrawl.page.headers import NO_CODINGS

_FAILED = re.compile(rb"status: ([0-9]{1,3})\r\n")  # of the note of a visit that got no page
_HEAD = 1 << 20  # room for a head, beside the largest body
_INTERIM = frozenset({"100", "102", "103"})
_STATUS = re.compile("[1-9][0-9]{0,2}")

_PIECE = 64 << 10
_BITE = 64  # bytes that are unpacked at once: with Brotli a few become 16 MB

_GZIP = (b"\x1f\x8b", lambda: zlib.decompressobj(16 + zlib.MAX_WBITS))

_IS_WARC = re.compile(r"archive/[^/]+\.warc(?:\.gz)?", re.IGNORECASE)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_LONGEST = 60  # characters of a name
_DAMAGED = (
    *(BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError, RuntimeError),
    UnicodeDecodeError,  # a name that says it is UTF-8
)


class Message(NamedTuple):
    """An answer of HTTP as it is in a record."""

    record: Record
    status: int  # 0 where it has no head
    reason: str
    headers: Headers
    payload: bytes  # what follows the head, in the codings that the headers name
    certain: bool | None  # its bytes have the digest that the record gives; None if it gives none


@dataclass(frozen=True, slots=True)
class Answer:
    """What a record says that tells of a visit: a response, a revisit, or a note of our own."""

    record: Record
    capture: Capture  # the body of a revisit is elsewhere
    has_head: bool  # a revisit may do without
    finds_nothing: bool  # nothing had changed, or the visit failed
    doubts: tuple[str, ...]  # what is wrong with it, though it can be used
    is_other: bool  # its bytes are not those of its digest; its capture is marked by a header


def message_at(path: Path, offset: int) -> Message:
    """Read a response, a resource or a revisit; a BadRecordError if it is none, or damaged."""
    record = record_at(path, offset, LARGEST_BODY + _HEAD)
    block = record.begin
    # That of a revisit is not looked at: wget writes that of an empty block, whatever it holds.
    digest = record.field("WARC-Block-Digest") if record.has_body else ""
    certain = is_digest_of(digest, block) if digest else None
    if record.kind == "revisit" and not block:
        return Message(record, 0, "", (), b"", certain)
    if record.kind == "metadata":
        failed = _FAILED.fullmatch(block)
        if failed is None:
            raise BadRecordError("it is no note of a visit")
        return Message(record, int(failed[1]), "", (), b"", certain)
    if record.kind == "resource":  # it has no head, but a type
        kind = (("Content-Type", record.field("Content-Type")),)
        return Message(record, 200, "OK", kind, block, certain)
    return Message(record, *head_in(block), certain)


def answer_at(path: Path, offset: int) -> Answer:
    """Read a response, resource, revisit or note of a failed visit; else a BadRecordError."""
    message = message_at(path, offset)
    record, headers, body, is_other = message.record, message.headers, b"", False
    doubts = [record.doubt] if record.doubt else []
    url, time = record.field("WARC-Target-URI"), as_time(record.field("WARC-Date"))
    if not url or time is None:
        raise BadRecordError(NO_PLACE)
    try:
        url.encode()
        url_key(0, url)
    except ValueError as error:
        raise BadRecordError(f"its WARC-Target-URI is no URL ({error})") from error
    if record.has_body:
        if truncated := record.field("WARC-Truncated"):  # a revisit is, that is its point
            doubts.append(f"the capture is truncated ({truncated})")
        body = _body(message, doubts)
        wrong, is_other = digest_doubts(message, body)
        doubts += wrong
        headers += ((DOUBT, wrong[0]),) if is_other else ()
    # A profile (WARC 1.1, section 6.7.3) or a response 304 means "not modified".
    profile = record.field("WARC-Profile").rstrip("/")
    is_unmodified = record.kind == "revisit" and profile.endswith("server-not-modified")
    has_head = record.kind != "metadata" and bool(message.status)
    status = 304 if is_unmodified else message.status
    finds_nothing = record.kind == "metadata" or is_unmodified
    finds_nothing |= record.kind == "response" and status == 304
    capture = Capture(url, body, time, status, as_sent(headers), message.reason)
    return Answer(record, capture, has_head, finds_nothing, tuple(doubts), is_other)


def head_in(block: bytes, spare: int = 3) -> tuple[int, str, Headers, bytes]:
    """Return status, reason, headers and payload of an answer behind `spare` interim ones.

    A BadRecordError if there is none.
    """
    stream = BytesIO(block)
    try:
        head = StatusAndHeadersParser(["HTTP/"], verify=False).parse(stream)
    except (EOFError, ValueError) as error:
        raise BadRecordError("it has no HTTP headers") from error
    code, _, reason = head.statusline.partition(" ")
    if not head.protocol.upper().startswith("HTTP/") or not _STATUS.fullmatch(code):
        raise BadRecordError("it has no HTTP status line")
    headers = tuple((str(name), str(value).strip()) for name, value in head.headers)
    payload = block[stream.tell() :]
    if code in _INTERIM and spare and payload[:5].upper() == b"HTTP/":
        return head_in(payload, spare - 1)  # the answer itself
    return int(code), reason.strip(), headers, payload


def _body(message: Message, doubts: list[str]) -> bytes:
    try:
        body = body_of(message.payload, message.headers)
    except DamagedError as error:
        body = error.unpacked or message.payload
        doubts.append(f"{error}: what could be unpacked is kept" if error.unpacked else str(error))
    except CodingError as error:
        raise BadRecordError(str(error)) from error
    if len(body) > LARGEST_BODY:
        raise BadRecordError(f"its body has {len(body):,} bytes; up to {LARGEST_BODY:,} are kept")
    return body


def digest_doubts(message: Message, body: bytes) -> tuple[list[str], bool]:
    """Return what speaks against the digests of a record, and whether its bytes are others.

    Programs take that of a payload before the transfer coding is undone, after, or after all
    codings are (WARC 1.1, section 5.9, means the second), so any of these is right. One of block
    and payload that is right vouches for the bytes: some programs wrote wrong digests of blocks.
    """
    digest, payload = message.record.field("WARC-Payload-Digest"), message.payload
    rights = [is_digest_of(digest, one) for one in (payload, body)] if digest else []
    is_right = any(rights) or (bool(digest) and is_digest_of(digest, dechunked(payload)))
    if message.certain is False:
        block = message.record.field("WARC-Block-Digest")
        wrong = f"its bytes are not those of its digest {block}"
        return [f"{wrong}, though its payload is" if is_right else wrong], not is_right
    if not digest or is_right:
        return [], False
    if None in rights:
        return [f"the algorithm of its digest {digest} is not known"], False
    wrong = f"its payload is not that of its digest {digest}"
    return [f"{wrong}, though its block is" if message.certain else wrong], not message.certain


class CodingError(Exception):
    """A content coding cannot be undone."""


class DamagedError(CodingError):
    """Bytes are not, or not all, in a coding."""

    def __init__(self, unpacked: bytes, reason: object = "") -> None:
        what = f"damaged ({reason})" if reason else "broken off"
        super().__init__(f"its content coding is {what}")
        self.unpacked = unpacked  # what came before the damage
        self.is_broken_off = not reason  # they only end before the coding does


def is_digest_of(digest: str, content: bytes) -> bool | None:
    """Return whether content has a labelled digest; None if the algorithm is not known.

    WARC 1.1, section 5.8, leaves algorithm and encoding open: programs write Base32, hexadecimal
    or Base64 digits.
    """
    algorithm, _, value = digest.partition(":")
    name = algorithm.strip().lower().replace("-", "")
    try:
        raw = hashlib.new(name, content, usedforsecurity=False).digest()
    except (ValueError, TypeError):  # TypeError: of those that make digests of any length
        return None
    value = value.strip().rstrip("=")
    base32, base64_, url = (
        encode(raw).decode().rstrip("=")
        for encode in (base64.b32encode, base64.b64encode, base64.urlsafe_b64encode)
    )
    return value.lower() == raw.hex() or value.upper() == base32 or value in (base64_, url)


def dechunked(payload: bytes) -> bytes:
    """Undo the chunks of a transfer coding; bytes that have none stay (RFC 9112, section 7.1)."""
    reader = ChunkedDataReader(BytesIO(payload))
    return b"".join(iter(lambda: reader.read(_PIECE), b""))


def body_of(payload: bytes, headers: tuple[tuple[str, str], ...]) -> bytes:
    """Return the body without transfer and content codings.

    A payload that is not in the coding its headers name is the body: many crawlers store what they
    have decoded under the headers they received.

    Raises:
        CodingError: a coding is not known, or broken off, or the body is too large.
    """
    if "chunked" in _named(headers, "transfer-encoding"):
        payload = dechunked(payload)
    for coding in reversed(_named(headers, "content-encoding")):
        if coding in NO_CODINGS:
            continue
        if coding not in _CODINGS:
            raise CodingError(f"its content coding '{coding}' is not known")
        payload = _undone(coding, payload)
    return payload


def _named(headers: tuple[tuple[str, str], ...], name: str) -> list[str]:
    values = (value for key, value in headers if key.lower() == name)
    return [coding.strip().lower() for value in values for coding in value.split(",")]


def _undone(coding: str, payload: bytes) -> bytes:
    mark, *unpackers = _CODINGS[coding]
    if not payload.startswith(mark):
        return payload
    for unpacker in unpackers:
        try:
            return _unpacked(payload, unpacker, mark)
        except DamagedError as error:
            if len(mark) > 2 and not error.unpacked:
                raise CodingError(str(error)) from error  # no text begins so
            # Text that was undone already may look like the begin of what has no mark.
            if mark or (unpacker is unpackers[0] and error.is_broken_off and error.unpacked):
                raise
    return payload


def _unpacked(payload: bytes, unpacker: Callable[[], Any], mark: bytes) -> bytes:
    """Unpack all parts of a coding that begin with a mark, without a mark the only one."""
    found = bytearray()
    at = 0
    while not at or (mark and payload.startswith(mark, at)):
        undo = unpacker()
        while at < len(payload) and not undo.eof:
            try:
                found += undo.decompress(payload[at : at + _BITE])
            except (zlib.error, zstandard.ZstdError) as error:
                raise DamagedError(bytes(found), error) from error
            if len(found) > LARGEST_BODY:
                raise CodingError(f"its body unpacks to more than {LARGEST_BODY:,} bytes")
            at += _BITE
        if not undo.eof:
            raise DamagedError(bytes(found))
        at = min(at, len(payload)) - len(undo.unused_data)
    return bytes(found)


class _Brotli:
    """An unpacker like those of zlib."""

    unused_data = b""

    def __init__(self) -> None:
        try:
            self._brotli = import_module("brotli")
        except ImportError:
            raise CodingError(
                "its content coding 'br' needs the package brotli: pip install brotli"
            ) from None
        self._unpacker = self._brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._unpacker.is_finished())

    def decompress(self, data: bytes) -> bytes:
        try:
            return bytes(self._unpacker.process(data))
        except self._brotli.error as error:
            raise zlib.error(str(error)) from error


# What each begins with, "" if that cannot be known, and what may undo it. Deflate has the frame of
# zlib, as RFC 9110 says, or is bare, as of many servers.
_CODINGS: dict[str, tuple[Any, ...]] = {
    "gzip": _GZIP,
    "x-gzip": _GZIP,
    "deflate": (b"", zlib.decompressobj, lambda: zlib.decompressobj(-zlib.MAX_WBITS)),
    "zstd": (zstandard.FRAME_HEADER, lambda: zstandard.ZstdDecompressor().decompressobj()),
    "br": (b"", _Brotli),
}


def warc_files_of(path: Path, folder: Path) -> list[Path]:
    """Return the WARC files in a WACZ, unpacked into a folder, or that file; StoreError if bad."""
    if not is_zipfile(path):
        return [path]
    found: list[Path] = []
    try:
        with ZipFile(path) as archive:
            inside = [each for each in archive.infolist() if _IS_WARC.fullmatch(each.filename)]
            if sum(each.file_size for each in inside) > shutil.disk_usage(folder).free:
                raise StoreError(f"there is no room to unpack the WACZ file '{path}'")
            for each in inside:
                name = each.filename.rpartition("/")[2][-_LONGEST:]
                found.append(folder / f"{len(found)}-{name}")
                with archive.open(each) as source, found[-1].open("xb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    except _DAMAGED as error:
        raise StoreError(f"the WACZ file '{path}' is damaged: {error}") from error
    return found or [path]


def pages_of(path: Path, problem: Callable[[object], object]) -> Iterator[Capture]:
    """Yield the HTML pages in a WARC or WACZ file; `problem` is called for what is unreadable."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            for file in warc_files_of(path, Path(folder)):
                yield from _pages_of(file, path, problem)
        except (StoreError, OSError) as error:
            problem(error if str(path) in str(error) else f"{path}: {error}")


def _pages_of(file: Path, named: Path, problem: Callable[[object], object]) -> Iterator[Capture]:
    for record in records(file):
        if isinstance(record, WarcProblem):
            problem(record if file == named else f"{named}: {record}")
        elif record.kind == "response" and record.is_http:
            try:
                capture = answer_at(file, record.offset).capture
            except BadRecordError as error:
                problem(f"'{named}', offset {record.offset}: {error}; left out")
                continue
            kind = capture.media_type.partition(";")[0].strip().lower()
            if capture.status == 200 and kind in _HTML:
                yield capture
