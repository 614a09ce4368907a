"""Bytes in the shared store: compressed when written, checked when read."""

import zstandard

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
