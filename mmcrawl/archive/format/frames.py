"""Zstandard frames, and the variable-length integers used in heads."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import zstandard

from mmcrawl.errors import StoreError

LARGEST_WINDOW = 27  # log2: 128 MB; the decoder has to opt in to larger ones

Like = bytes | zstandard.ZstdCompressionDict
"""What something is compressed with as dictionary; b"" for none."""


def compressed(
    data: bytes | bytearray, level: int, *, checksum: bool = False, like: Like = b""
) -> bytes:
    """Return a frame whose window covers all of the data (up to 128 MB).

    Args:
        data: What it is to hold.
        level: Of zstd.
        checksum: Whether damage is to be noticed where no digest of the data is kept.
        like: What the data repeats much of, and will be there when it is read.
    """
    window = max(10, min(LARGEST_WINDOW, len(data).bit_length()))
    parameters = zstandard.ZstdCompressionParameters.from_level(
        level,
        source_size=len(data) + len(like),
        window_log=window,
        write_checksum=checksum,
        write_content_size=True,
        write_dict_id=False,
    )
    known = _dictionary(like)
    return zstandard.ZstdCompressor(dict_data=known, compression_params=parameters).compress(data)


def dictionary(content: bytes | memoryview) -> zstandard.ZstdCompressionDict:
    """Return a dictionary, made once for many frames."""
    return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def _dictionary(like: Like) -> zstandard.ZstdCompressionDict | None:
    return dictionary(like) if isinstance(like, bytes) and like else like or None


def decompressed(frame: bytes, size: int, *, up_to: int | None = None, like: Like = b"") -> bytes:
    """Return what was compressed, or its first bytes.

    Args:
        frame: As :func:`compressed` made it.
        size: Of all that was compressed.
        up_to: How many bytes are needed, or a few more; the rest may be damaged.
        like: What it was compressed with.

    Raises:
        StoreError: the frame is damaged.
    """
    known = _dictionary(like)
    decompressor = zstandard.ZstdDecompressor(known, max_window_size=1 << LARGEST_WINDOW)
    try:
        if zstandard.frame_content_size(frame) != size:
            raise StoreError("a compressed frame is damaged (its size)")
        if up_to is None or up_to >= size:
            return decompressor.decompress(frame)
        if 2 * up_to > size:  # as fast as what is needed alone
            with suppress(zstandard.ZstdError):  # it may be damaged behind what is needed
                return decompressor.decompress(frame)
        with decompressor.stream_reader(frame) as reader:
            found = reader.read(up_to)
    except zstandard.ZstdError as error:
        raise StoreError(f"a compressed frame is damaged ({error})") from error
    if len(found) != up_to:
        raise StoreError("a compressed frame is damaged (cut off)")
    return found


def varints(numbers: Iterable[int]) -> bytes:
    """Return numbers, none negative, in groups of seven bits, the lowest first (LEB128)."""
    out = bytearray()
    for number in numbers:
        rest = number
        while rest > 127:
            out.append(rest & 127 | 128)
            rest >>= 7
        out.append(rest)
    return bytes(out)


def read_varints(data: bytes, start: int = 0, count: int | None = None) -> tuple[list[int], int]:
    """Return numbers and where they end; all up to the end of the data without a `count`.

    Raises:
        StoreError: the data end within a number, or before there were so many.
    """
    numbers: list[int] = []
    number = shift = 0
    position, end = start, len(data)
    while position < end and len(numbers) != count:
        byte = data[position]
        position += 1
        if byte > 127:
            number |= (byte & 127) << shift
            shift += 7
            continue
        numbers.append(number | byte << shift)
        number = shift = 0
    if shift or (count is not None and len(numbers) != count):
        raise StoreError("a head is damaged (cut off)")
    return numbers, position
