"""The body of a SWF file as a stream: uncompressed as it is read, never held as a whole."""

import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from mmcrawl.errors import MediaError

_CHUNK = 64 << 10
_MOST = 512 << 20  # bytes of a body, uncompressed
_MEMORY = 128 << 20  # bytes that LZMA may take
_LZMA_PROPERTIES = 5
_UNKNOWN_LENGTH = b"\xff" * 8


class EndError(Exception):
    """The body ends before what is to be read."""


class Body:
    """What stands behind the first eight bytes.

    Args:
        file: at its first byte.

    Attributes:
        version: of Flash.

    Raises:
        MediaError: it is no SWF file.
    """

    def __init__(self, file: BinaryIO) -> None:
        head = file.read(8)
        if len(head) < 8 or head[:3] not in SIGNATURES:
            raise MediaError("it is no SWF file: it does not begin as one")
        self.version = head[3]
        self._chunks = _READERS[head[:3]](file)
        self._buffer = bytearray()
        self._at = self._total = 0

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left; errors as for `read`, but for its end."""
        try:
            if self._at == len(self._buffer):
                self._more()
        except EndError:
            return True
        return False

    def read(self, count: int) -> bytes:
        """Return so many bytes.

        Raises:
            EndError: there are fewer.
            MediaError: they cannot be uncompressed, or are too many.
        """
        while len(self._buffer) - self._at < count:
            self._more()
        self._at += count
        return bytes(self._buffer[self._at - count : self._at])

    def skip(self, count: int) -> None:
        """Pass over so many bytes; errors as for `read`."""
        while (there := len(self._buffer) - self._at) < count:
            self._at = len(self._buffer)
            count -= there
            self._more()
        self._at += count

    def _more(self) -> None:
        try:
            chunk = next(self._chunks, b"")
        except (zlib.error, lzma.LZMAError) as error:
            raise MediaError(f"the animation cannot be uncompressed ({error})") from error
        if not chunk:
            raise EndError
        self._total += len(chunk)
        if self._total > _MOST:
            raise MediaError(f"the animation has more than {_MOST >> 20} MB uncompressed")
        del self._buffer[: self._at]
        self._at = 0
        self._buffer += chunk


def _stored(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    inflate = zlib.decompressobj()
    while not inflate.eof and (data := inflate.unconsumed_tail or file.read(_CHUNK)):
        if chunk := inflate.decompress(data, _CHUNK):
            yield chunk


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """Uncompress what would be a `.lzma` file, were its length where such a file has it.

    What is written as the length is not believed: files of some programs have another one.
    """
    properties = file.read(4 + _LZMA_PROPERTIES)[4:]
    unpack = lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=_MEMORY)
    data = properties + _UNKNOWN_LENGTH
    while not unpack.eof:
        if chunk := unpack.decompress(data, _CHUNK):
            yield chunk
        data = file.read(_CHUNK) if unpack.needs_input else b""
        if unpack.needs_input and not data:
            return


_READERS: dict[bytes, Callable[[BinaryIO], Iterator[bytes]]] = {
    b"FWS": _stored,
    b"CWS": _inflated,
    b"ZWS": _unpacked,
}
SIGNATURES = frozenset(_READERS)
"""With which of these three bytes a file begins."""
