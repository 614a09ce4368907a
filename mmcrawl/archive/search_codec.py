"""How the search index writes numbers and columns: varints by the million, and checked frames."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from mmcrawl.errors import StoreError

__all__ = [
    "DamagedError",
    "Ints",
    "as_ints",
    "decoded",
    "encoded",
    "encoded_with_ends",
    "pack_columns",
    "read_json",
    "unpack_columns",
    "write_json",
]

Ints = NDArray[np.int64]

_LEVEL = 9
_LARGEST = 1 << 30


class DamagedError(StoreError):
    """The search index is damaged: it can be made anew, being made from the archive."""

    def __init__(self, what: object) -> None:
        super().__init__(f"the search index is damaged ({what}); rebuild it from the archive")


def as_ints(values: Sequence[int]) -> Ints:
    """Return an array of 64-bit integers."""
    return np.asarray(values, dtype=np.int64)


def encoded(values: Ints) -> bytes:
    """Return integers, none negative, as LEB128: seven bits a byte, the lowest first.

    >>> encoded(as_ints([1, 300])).hex()
    '01ac02'
    """
    return encoded_with_ends(values)[0]


def encoded_with_ends(values: Ints) -> tuple[bytes, Ints]:
    """Return integers as LEB128, and where each ends."""
    lengths = np.ones(len(values), dtype=np.int64)
    longest, bound = 1, 128
    largest = int(values.max(initial=0))
    while bound <= largest:
        lengths += values >= bound
        bound <<= 7
        longest += 1
    ends = np.cumsum(lengths)
    out = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    starts = ends - lengths
    for step in range(longest):
        has = lengths > step
        more = (lengths[has] > step + 1).astype(np.int64) << 7
        out[starts[has] + step] = (values[has] >> (7 * step) & 127) | more
    return out.tobytes(), ends


def decoded(data: bytes) -> Ints:
    """Return the integers that :func:`encoded` wrote.

    >>> decoded(b"\\x01\\xac\\x02").tolist()
    [1, 300]

    Raises:
        StoreError: the data end within a number, or hold one of more than 63 bits.
    """
    octets = np.frombuffer(data, dtype=np.uint8)
    last = octets < 128
    ends = np.flatnonzero(last)
    if len(ends) == len(octets):
        return octets.astype(np.int64)
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    lengths = ends - starts + 1
    if not last[-1] or int(lengths.max()) > 9:
        raise DamagedError("a number is cut off")
    values = np.zeros(len(ends), dtype=np.int64)
    for step in range(int(lengths.max())):
        has = lengths > step
        values[has] |= (octets[starts[has] + step] & 127).astype(np.int64) << (7 * step)
    return values


def pack_columns(columns: Sequence[bytes]) -> bytes:
    """Return columns of bytes as one compressed frame with a checksum."""
    head = encoded(as_ints([len(columns), *map(len, columns)]))
    content = b"".join((len(head).to_bytes(4, "little"), head, *columns))
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(content)


def unpack_columns(frame: bytes) -> list[bytes]:
    """Return the columns of a frame.

    Raises:
        DamagedError: it is.
    """
    try:
        if not 0 <= zstandard.frame_content_size(frame) <= _LARGEST:
            raise DamagedError("a frame has an impossible size")
        content = zstandard.ZstdDecompressor().decompress(frame)
    except zstandard.ZstdError as error:
        raise DamagedError(error) from error
    start = 4 + int.from_bytes(content[:4], "little")
    columns = []
    for length in decoded(content[4:start])[1:].tolist():
        columns.append(content[start : start + length])
        start += length
    if start != len(content):
        raise DamagedError("a frame is cut off")
    return columns


def write_json(value: object) -> bytes:
    """Return JSON; any string survives, lone surrogates too."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def read_json(data: bytes) -> Any:
    """Return what :func:`write_json` wrote.

    Raises:
        DamagedError: it is.
    """
    try:
        return json.loads(data)
    except ValueError as error:
        raise DamagedError("a list cannot be read") from error
