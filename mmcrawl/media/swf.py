"""What a Flash animation (SWF) says of itself, and which files it names.

After Adobe's SWF File Format Specification, version 19. Drawings, sounds and pictures are skipped.
Programs are not run: strings in them that look like addresses of files count as files they load; an
address that a program composes is not found. Of a damaged or truncated file, everything before the
damage is read.
"""

import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from lxml import etree

from mmcrawl.errors import MediaError

_CHUNK = 64 << 10
_MOST = 512 << 20  # bytes of a file, uncompressed
_MEMORY = 128 << 20  # bytes that LZMA may take
_LZMA_PROPERTIES = 5
_UNKNOWN_LENGTH = b"\xff" * 8
_MOST_TAGS = 1_000_000
_MOST_ADDRESSES = 1_000
_LONGEST_TAG = 32 << 20  # bytes; longer ones are skipped
_LONGEST_ADDRESS = 1_000  # characters

_EXTENSIONS = "swf xml txt json mp3 wav aac m4a flv f4v mp4 jpg jpeg png gif"
_ADDRESS = re.compile(
    rf"(?>(?:https?://[\w.-]+(?::\d+)?/|[./\w~%-])[^\s<>\"'|\\^`{{}}*;,=&:]{{0,{_LONGEST_ADDRESS}}}"
    rf"\.(?:{_EXTENSIONS.replace(' ', '|')})(?=\?|\Z))(?:\?[^\s<>\"']{{0,{_LONGEST_ADDRESS}}})?",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[\s<>\"'|;,=&]+")
# A text of ActionScript 1 and 2, which ends with 0 and follows one: of a number, or of a text.
_TEXT = re.compile(rb"(?<![^\0])[^\0]{3,2000}(?=\0)")
# Tags with programs of ActionScript 1 or 2, or with what holds such: actions, buttons, sprites,
# objects that are placed; and those that import from other files.
_WITH_TEXTS = frozenset({12, 59, 7, 34, 39, 26, 70, 57, 71})
_METADATA, _ABC, _ABC_NAMED = 77, 72, 82
_TAKEN = _WITH_TEXTS | {_METADATA, _ABC, _ABC_NAMED}
_SAID = {"title", "creator", "language", "date"}


@dataclass(slots=True)
class SwfFacts:
    """The metadata of an animation; "" and 0 for what is missing.

    Attributes:
        seconds: How long the main time line plays; 0 where it stands still or no rate is given.
    """

    seconds: float = 0.0
    title: str = ""
    creator: str = ""
    language: str = ""
    date: str = ""
    addresses: tuple[str, ...] = ()  # the files it names, as written, each once


def read_swf(file: BinaryIO) -> SwfFacts:
    """Read a SWF file from its first byte on; a MediaError if it is none, or too large."""
    body = _Body(file)
    facts, found = SwfFacts(), dict[str, None]()
    # Before version 6, texts are in the encoding of the author's machine: most often these.
    encoding = "utf-8" if body.version >= 6 else "gb18030"
    try:
        facts.seconds = _seconds(body)
    except EOFError:
        raise MediaError("the animation is cut off within its header") from None
    try:
        for tag, data in _tags(body):
            if tag == _METADATA:
                _read_metadata(data, facts)
                continue
            texts = _TEXT.findall(data) if tag in _WITH_TEXTS else _texts_of_abc(data, tag)
            decoded = (text.decode(encoding, "replace") for text in texts)
            found |= dict.fromkeys(filter(is_address, decoded))
    except EOFError:
        pass
    found.pop("flash.xml", None)  # a package of Flash's
    facts.addresses = tuple(found)[:_MOST_ADDRESSES]
    return facts


def _seconds(body: "_Body") -> float:
    first = body.read(1)  # how many bits each side of the stage has
    body.read((5 + 4 * (first[0] >> 3) + 7) // 8 - 1)
    rate = int.from_bytes(body.read(2), "little") / 256
    frames = int.from_bytes(body.read(2), "little")
    return frames / rate if frames > 1 and rate else 0.0


def _tags(body: "_Body") -> Iterator[tuple[int, bytes]]:
    for _ in range(_MOST_TAGS):
        head = int.from_bytes(body.read(2), "little")
        tag, length = head >> 6, head & 0x3F
        if length == 0x3F:
            length = int.from_bytes(body.read(4), "little")
        if not tag:
            return
        if tag in _TAKEN and length <= _LONGEST_TAG:
            yield tag, body.read(length)
        else:
            body.skip(length)


def _read_metadata(data: bytes, facts: SwfFacts) -> None:
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(data.partition(b"\0")[0].strip(), parser)
    except (etree.XMLSyntaxError, ValueError):
        return
    for element in root.iter(etree.Element):
        said = [(element.tag, "".join(element.itertext())), *element.attrib.items()]
        for name, value in said:
            short, text = etree.QName(name).localname, " ".join(value.split())
            if short in _SAID and text and not getattr(facts, short):
                setattr(facts, short, text)


def _texts_of_abc(data: bytes, tag: int) -> Iterator[bytes]:
    """Yield the texts of a program in ActionScript 3, up to where it is damaged."""
    at = data.find(b"\0", 4) + 1 if tag == _ABC_NAMED else 0
    at += 4  # version

    def number() -> int:
        nonlocal at
        value = 0
        for shift in range(0, 35, 7):
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                break
        return value

    try:
        for _ in range(2):  # whole numbers, with a sign and without
            for _ in range(number() - 1):
                number()
        others = number()
        at += 8 * max(others - 1, 0)
        for _ in range(number() - 1):
            length = number()
            yield data[at : at + length]
            at += length
    except IndexError:
        return


def is_address(text: str) -> bool:
    """Whether a text is the address of a file that animations load, by its look.

    >>> is_address("movies/lens.swf"), is_address(".swf"), is_address("Lens.")
    (True, False, False)
    """
    name = text.partition("?")[0].rpartition("/")[2].rpartition(".")[0]
    return bool(name.strip(".")) and _ADDRESS.fullmatch(text) is not None


def addresses_in_text(data: bytes) -> list[str]:
    """Return the addresses that a playlist names, each once.

    Whether it is XML, JSON or variables of a form (``song1=a.mp3&song2=b.mp3``), addresses stand
    between signs that are in none of them.

    >>> addresses_in_text(b'<songs><song src="a.mp3"/>b.swf</songs>')
    ['a.mp3', 'b.swf']
    """
    text = _decoded(data).replace("\\/", "/").replace("&amp;", "&")
    return [*dict.fromkeys(filter(is_address, _SEPARATORS.split(text)))]


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("gb18030", "replace")


class _Body:
    """The bytes after the first eight, uncompressed; EOFError at the end, MediaError if bad."""

    def __init__(self, file: BinaryIO) -> None:
        head = file.read(8)
        if len(head) < 8 or head[:3] not in SIGNATURES:
            raise MediaError("it is no SWF file: it does not begin as one")
        self.version = head[3]
        self._chunks = _READERS[head[:3]](file)
        self._buffer = b""
        self._total = 0

    def read(self, count: int) -> bytes:
        parts = [self._buffer]
        there = len(self._buffer)
        while there < count:
            parts.append(self._more())
            there += len(parts[-1])
        data = b"".join(parts)
        self._buffer = data[count:]
        return data[:count]

    def skip(self, count: int) -> None:
        while len(self._buffer) < count:
            count -= len(self._buffer)
            self._buffer = self._more()
        self._buffer = self._buffer[count:]

    def _more(self) -> bytes:
        try:
            chunk = next(self._chunks, b"")
        except (zlib.error, lzma.LZMAError) as error:
            raise MediaError(f"the animation cannot be uncompressed ({error})") from error
        if not chunk:
            raise EOFError
        self._total += len(chunk)
        if self._total > _MOST:
            raise MediaError(f"the animation has more than {_MOST >> 20} MB uncompressed")
        return chunk


def _stored(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    inflate = zlib.decompressobj()
    while not inflate.eof and (data := inflate.unconsumed_tail or file.read(_CHUNK)):
        if chunk := inflate.decompress(data, _CHUNK):
            yield chunk


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """Uncompress LZMA in a frame of our own, as the length some programs write is wrong."""
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
