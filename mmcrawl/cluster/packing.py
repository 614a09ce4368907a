"""Bytes in the shared store: compressed when written, checked when read."""

import json
from typing import TypeVar

import zstandard

from mmcrawl.store.plain_values import PlainForm

_T = TypeVar("_T")
_LEVEL = 3
_LONGEST = 256 << 20  # bytes, decompressed: a damaged frame may tell of any number


def packed(data: bytes) -> bytes:
    """Return bytes compressed."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)


def unpacked(data: bytes) -> bytes:
    """Return what `packed` compressed.

    Raises:
        ValueError: it did not compress this, or it is too long.
    """
    try:
        if zstandard.frame_content_size(data) > _LONGEST:
            raise ValueError(f"it is longer than {_LONGEST:,} bytes")
        return zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError as error:
        raise ValueError(f"it cannot be decompressed: {error}") from error


def encoded(form: PlainForm[_T], value: _T) -> bytes:
    """Return a value as bytes."""
    return packed(json.dumps(form.write(value), separators=(",", ":")).encode())


def decoded(form: PlainForm[_T], data: bytes) -> _T:
    """Return what `encoded` wrote.

    Raises:
        ValueError: it did not write this.
    """
    try:
        return form.read(json.loads(unpacked(data)))
    except RecursionError as error:
        raise ValueError(f"it cannot be read: {error}") from error
