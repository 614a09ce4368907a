"""The payload of a response: its digests, and the body without the codings of the wire."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from io import BytesIO
from typing import Any

import zstandard
from warcio.bufferedreaders import ChunkedDataReader

from mmcrawl.archive.model import LARGEST_BODY
from mmcrawl.page.headers import NO_CODINGS

_PIECE = 64 << 10


class CodingError(Exception):
    """A content coding cannot be undone."""


class DamagedError(CodingError):
    """Bytes are not, or not all, in a coding.

    Attributes:
        unpacked: What came before the damage.
    """

    unpacked = b""


class _BrokenOffError(DamagedError):
    """Bytes end before the coding does."""

    def __init__(self) -> None:
        super().__init__("its content coding is broken off")


def is_digest_of(digest: str, content: bytes) -> bool | None:
    """Return whether content has a labelled digest; None if the algorithm is not known.

    WARC 1.1, section 5.8, leaves algorithm and encoding open: programs write Base32, hexadecimal
    or Base64 digits.
    """
    algorithm, _, value = digest.partition(":")
    try:
        found = hashlib.new(
            algorithm.strip().lower().replace("-", ""), content, usedforsecurity=False
        )
        raw = found.digest()
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
        CodingError: a coding is not known, is broken off, or unpacks to more than
            :data:`LARGEST_BODY`.
    """
    if "chunked" in _codings(headers, "transfer-encoding"):
        payload = dechunked(payload)
    for coding in reversed(_codings(headers, "content-encoding")):
        if coding in NO_CODINGS:
            continue
        if coding not in _UNDO:
            raise CodingError(f"its content coding '{coding}' is not known")
        payload = _UNDO[coding](payload)
    return payload


def _codings(headers: tuple[tuple[str, str], ...], name: str) -> list[str]:
    values = (value for key, value in headers if key.lower() == name)
    return [coding.strip().lower() for value in values for coding in value.split(",")]


def _joined(pieces: Iterator[bytes], coding: str) -> bytes:
    """Join what is unpacked, up to the size that is kept."""
    found, size = [], 0
    try:
        for piece in pieces:
            found.append(piece)
            size += len(piece)
            if size > LARGEST_BODY:
                raise CodingError(
                    f"its body unpacks to more than {LARGEST_BODY:,} bytes ({coding})"
                )
    except DamagedError as error:
        error.unpacked = b"".join(found)
        raise
    return b"".join(found)


def _gunzipped(payload: bytes) -> bytes:
    return _joined(_members(payload), "gzip") if payload[:2] == b"\x1f\x8b" else payload


def _members(payload: bytes) -> Iterator[bytes]:
    while payload[:2] == b"\x1f\x8b":
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        yield from _inflated(unpacker, payload)
        payload = unpacker.unused_data


def _inflated(unpacker: Any, payload: bytes) -> Iterator[bytes]:
    try:
        while payload and not unpacker.eof:
            yield unpacker.decompress(payload, _PIECE)
            payload = unpacker.unconsumed_tail
        yield unpacker.flush()
    except zlib.error as error:
        raise DamagedError(f"its content coding is damaged ({error})") from error
    if not unpacker.eof:
        raise _BrokenOffError


def _deflated(payload: bytes) -> bytes:
    """Undo ``deflate``: with the frame of zlib, as RFC 9110 says, or bare, as many servers do."""
    if not payload:
        return payload
    try:
        return _joined(_inflated(zlib.decompressobj(), payload), "deflate")
    except _BrokenOffError:
        raise
    except DamagedError:
        pass
    try:
        return _joined(_inflated(zlib.decompressobj(-zlib.MAX_WBITS), payload), "deflate")
    except DamagedError:
        return payload  # text, undone already, may look like the begin of a bare one


def _unzstd(payload: bytes) -> bytes:
    if payload[:4] != zstandard.FRAME_HEADER:
        return payload
    reader = zstandard.ZstdDecompressor().stream_reader(payload, read_across_frames=True)
    try:
        return _joined(iter(lambda: reader.read(_PIECE), b""), "zstd")
    except zstandard.ZstdError as error:
        raise CodingError(f"its content coding is damaged ({error})") from error


def _unbrotli(payload: bytes) -> bytes:
    try:
        brotli = import_module("brotli")
    except ImportError:
        raise CodingError(
            "its content coding 'br' needs the package brotli: pip install brotli"
        ) from None
    unpacker = brotli.Decompressor()
    # A few bytes unpack to 16 MB, so they are given in small pieces.
    pieces = (payload[at : at + 64] for at in range(0, len(payload), 64))
    try:
        body = _joined((unpacker.process(piece) for piece in pieces), "br")
    except brotli.error:
        return payload  # Brotli has no mark to tell by whether it was undone already.
    if body and not unpacker.is_finished():
        raise _BrokenOffError
    return body if unpacker.is_finished() else payload


_UNDO: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gunzipped,
    "x-gzip": _gunzipped,
    "deflate": _deflated,
    "zstd": _unzstd,
    "br": _unbrotli,
}
