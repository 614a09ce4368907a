"""What a Flash file is made of: its body, stored or compressed; the bytes and bits in it."""

import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from mmcrawl.errors import MediaError

MOVIE, DATA, SOUND, VIDEO, IMAGE, PAGE = "movie", "data", "sound", "video", "image", "page"


@dataclass(frozen=True, slots=True)
class Reference:
    """An address that an animation names.

    Attributes:
        url: as written, relative or absolute.
        kind: what it is loaded as: ``movie``, ``data``, ``sound``, ``video``, ``image``; ``page``
            for what a click opens in the browser.
        is_loaded: whether a command that loads it names it; otherwise it is a text in the program
            that looks like the address of a file.
    """

    url: str
    kind: str
    is_loaded: bool


@dataclass(frozen=True, slots=True)
class SwfFacts:
    """What an animation says of itself.

    Attributes:
        version: of Flash that it needs.
        width, height: of the stage in pixels.
        frame_rate: frames a second.
        frames: of the main time line.
        actionscript: 3 or 2 (which stands for 1, too); 0 if it has no program.
        title, description, creator, language, date: from its metadata, "" for none.
        references: the other files it names, each once, those that are loaded first.
        is_whole: whether it could be read to its end.
    """

    version: int
    width: float
    height: float
    frame_rate: float
    frames: int
    actionscript: int = 0
    title: str = ""
    description: str = ""
    creator: str = ""
    language: str = ""
    date: str = ""
    references: tuple[Reference, ...] = ()
    is_whole: bool = True

    @property
    def seconds(self) -> float:
        """How long the main time line plays; 0 where it stands still or no rate is given."""
        return self.frames / self.frame_rate if self.frames > 1 and self.frame_rate else 0.0


_CHUNK = 64 << 10
_MOST = 512 << 20  # bytes of a body, uncompressed
_MEMORY = 128 << 20  # bytes that LZMA may take
_LZMA_PROPERTIES = 5
_UNKNOWN_LENGTH = b"\xff" * 8


class EndError(Exception):
    """The body ends before what is to be read."""


class Body:
    """The bytes after the first eight.

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
        """Return so many bytes."""
        while len(self._buffer) - self._at < count:
            self._more()
        self._at += count
        return bytes(self._buffer[self._at - count : self._at])

    def skip(self, count: int) -> None:
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


# -- reading bytes and bits -----------------------------------------------------------------------


# Bytes of the filters of an object by their number, None for those that say it themselves.
_FILTERS = {0: 23, 1: 9, 2: 15, 3: 27, 4: None, 5: None, 6: 80, 7: None}


class Bytes:
    """Bytes that are read from the front; `EndError` where too few are left."""

    def __init__(self, data: bytes, encoding: str) -> None:
        self._data = data
        self._at = 0
        self.encoding = encoding

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        if not 0 <= count <= self.left:  # sizes are what a file says, less what it must have
            raise EndError
        self._at += count
        return self._data[self._at - count : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def text(self) -> str:
        end = self._data.find(b"\0", self._at)
        if end < 0:
            raise EndError
        text = self._data[self._at : end].decode(self.encoding, "replace")
        self._at = end + 1
        return text

    def varied(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                break
        return value

    def rectangle(self) -> tuple[float, float]:
        """Return width and height in pixels of a rectangle."""
        bits = Bits(self)
        size = bits.take(5)
        left, right, top, bottom = (bits.signed(size) for _ in range(4))
        return (right - left) / 20, (bottom - top) / 20

    def skip_matrix(self) -> None:
        bits = Bits(self)
        for _ in range(2):  # scale, rotation
            if bits.take(1):
                bits.take(2 * bits.take(5))
        bits.take(2 * bits.take(5))

    def skip_colours(self) -> None:
        bits = Bits(self)
        terms = bits.take(1) + bits.take(1)
        bits.take(4 * terms * bits.take(4))

    def skip_filters(self) -> None:
        for _ in range(self.number(1)):
            number = self.number(1)
            size = _FILTERS.get(number, 0)
            if number == 5:
                columns, rows = self.number(1), self.number(1)
                size = 8 + 4 * columns * rows + 5
            elif size is None:
                size = 5 * self.number(1) + 19
            self.take(size)


class Bits:
    """Bits of bytes, the highest first."""

    def __init__(self, source: Bytes) -> None:
        self._source = source
        self._value = self._there = 0

    def take(self, count: int) -> int:
        while self._there < count:
            self._value = (self._value << 8) | self._source.number(1)
            self._there += 8
        self._there -= count
        value = self._value >> self._there
        self._value &= (1 << self._there) - 1
        return value

    def signed(self, count: int) -> int:
        value = self.take(count)
        return value - (1 << count) if count and value >> (count - 1) else value
