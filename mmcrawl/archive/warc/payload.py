"""The payload of a response: its digests, and the body without content and transfer encodings."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from typing import Any

import zstandard
from warcio.bufferedreaders import ChunkedDataReader

from mmcrawl.archive.model import LARGEST_BODY
from mmcrawl.page.headers import NO_CODINGS

_PIECE = 64 << 10
_BITE = 64  # bytes that are unpacked at once: with Brotli a few become 16 MB


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


_GZIP = (b"\x1f\x8b", lambda: zlib.decompressobj(16 + zlib.MAX_WBITS))
# What each begins with, "" if that cannot be known, and what may undo it. Deflate has the frame of
# zlib, as RFC 9110 says, or is bare, as of many servers.
_CODINGS: dict[str, tuple[Any, ...]] = {
    "gzip": _GZIP,
    "x-gzip": _GZIP,
    "deflate": (b"", zlib.decompressobj, lambda: zlib.decompressobj(-zlib.MAX_WBITS)),
    "zstd": (zstandard.FRAME_HEADER, lambda: zstandard.ZstdDecompressor().decompressobj()),
    "br": (b"", _Brotli),
}
