"""Reading a SWF file: its header, what it says of itself, and which files it names.

After Adobe's SWF File Format Specification, version 19. Drawings, sounds and pictures are passed
over; of a file that is damaged or cut off, what stands before the damage is told.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from lxml import etree

from mmcrawl.errors import MediaError
from mmcrawl.media.swf.container import (
    DATA,
    IMAGE,
    MOVIE,
    PAGE,
    SOUND,
    VIDEO,
    Body,
    Bytes,
    EndError,
    Reference,
    SwfFacts,
)

_KINDS = {
    MOVIE: "swf",
    DATA: "xml txt json",
    SOUND: "mp3 wav aac m4a",
    VIDEO: "flv f4v mp4",
    IMAGE: "jpg jpeg png gif",
}
_KIND_OF = {extension: kind for kind, names in _KINDS.items() for extension in names.split()}
_LONGEST_ADDRESS = 1_000  # characters of an address
_ADDRESS = re.compile(
    rf"(?>(?:https?://|[./\w~%-])[^\s<>\"'|\\^`{{}}*;,=&]{{0,{_LONGEST_ADDRESS}}}"
    rf"\.({'|'.join(_KIND_OF)})(?=\?|\Z))(?:\?[^\s<>\"']{{0,{_LONGEST_ADDRESS}}})?",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[\s<>\"'|;,=&]+")

_STACK = 1_000  # values
_LONGEST = 2_000  # characters of a text on the stack
_CONSTANTS, _PUSH, _GET_URL, _GET_URL_2 = 0x88, 0x96, 0x83, 0x9A
_CALL_FUNCTION, _CALL_METHOD, _NEW, _NEW_METHOD = 0x3D, 0x52, 0x40, 0x53
_ADD, _DUPLICATE, _VARIABLE, _SWAP = (0x47, 0x21), 0x4C, 0x1C, 0x4D
# How many values other commands take from the stack and leave there; after those that are not
# named, nothing is known of it.
_EFFECTS = {
    code: effect
    for effect, codes in {
        (2, 1): "0a 0b 0c 0d 0e 0f 10 11 13 22 29 3a 3f 48 49 4e 54 60 61 62 63 64 65 66 67 68",
        (1, 1): "12 14 18 30 31 32 33 36 37 3b 44 45 4a 4b 50 51",
        (3, 1): "15 35",
        (1, 0): "17 20 25 26 2a 3e 94 9d 9f",
        (2, 0): "1d 3c 69",
        (3, 0): "23 24 4f",
        (0, 1): "34",
        (0, 0): "00 04 05 06 07 08 09 81 87 8a 8b 8c 99",
    }.items()
    for code in bytes.fromhex(codes)
}
_SIZES = {1: 4, 2: 0, 3: 0, 4: 1, 5: 1, 6: 8, 7: 4}
_LOADING = {
    "loadmovie": MOVIE,
    "loadmovienum": MOVIE,
    "loadclip": MOVIE,
    "loadvariables": DATA,
    "loadvariablesnum": DATA,
    "load": DATA,
    "sendandload": DATA,
    "loadsound": SOUND,
    "play": VIDEO,
    "geturl": PAGE,
}
"""By the name of a method or function in small letters, as what its first argument is loaded."""

Value = str | int | None
"""On the stack: a text, a whole number, or what is not known."""


def of_actions(code: Bytes) -> Iterator[Reference]:
    """Yield what commands of ActionScript 1 or 2 load, and texts that look like addresses."""
    program = _Program()
    try:
        while code.left:
            command = code.number(1)
            body = code.take(code.number(2)) if command & 0x80 else b""
            yield from program.do(command, Bytes(body, code.encoding))
    except EndError:
        return


class _Program:
    def __init__(self) -> None:
        self._constants: list[str] = []
        self._stack: list[Value] = []

    def do(self, command: int, body: Bytes) -> Iterator[Reference]:
        """Follow a command; yield what it loads."""
        if command == _CONSTANTS:
            self._constants = [body.text() for _ in range(min(body.number(2), body.left))]
            yield from map(_by_look, self._constants)
        elif command == _PUSH:
            yield from self._push(body)
        elif command == _GET_URL:
            url, target = body.text(), body.text()
            yield Reference(url, MOVIE if target.startswith("_level") else PAGE, True)
        elif command == _GET_URL_2:
            yield from self._get_url(body.number(1))
        elif command in (_CALL_FUNCTION, _CALL_METHOD, _NEW, _NEW_METHOD):
            yield from self._call(command)
        else:
            self._change(command)

    def _push(self, body: Bytes) -> Iterator[Reference]:
        while body.left:
            kind = body.number(1)
            if kind == 0:
                text = body.text()
                yield _by_look(text)
                self._put(text)
            elif kind in (8, 9):
                index = body.number(kind - 7)
                self._put(self._constants[index] if index < len(self._constants) else None)
            elif kind == 7:
                self._put(body.number(4))
            elif kind == 6:  # a whole number, if small, is written in its upper half
                self._put(_whole(body.take(8)))
            else:
                body.take(_SIZES.get(kind, body.left))
                self._put(None)

    def _get_url(self, flags: int) -> Iterator[Reference]:
        target, url = self._pop(), self._pop()
        if isinstance(url, str):
            is_level = isinstance(target, str) and target.startswith("_level")
            kind = DATA if flags & 0x80 else MOVIE if flags & 0x40 or is_level else PAGE
            yield Reference(url, kind, True)

    def _call(self, command: int) -> Iterator[Reference]:
        name = self._pop()
        if command in (_CALL_METHOD, _NEW_METHOD):
            self._pop()
        count = self._pop()
        if not isinstance(count, int) or not 0 <= count <= len(self._stack):
            self._stack.clear()
            count = 0
        arguments = [self._pop() for _ in range(count)]
        self._put(None)
        kind = _LOADING.get(name.lower(), "") if isinstance(name, str) else ""
        if kind and arguments and isinstance(arguments[0], str):
            yield Reference(arguments[0], kind, True)

    def _change(self, command: int) -> None:
        if command in _ADD:
            second, first = self._pop(), self._pop()
            both = isinstance(first, str) and isinstance(second, str)
            self._put(f"{first}{second}" if both else None)
        elif command == _DUPLICATE:
            value = self._pop()
            self._put(value)
            self._put(value)
        elif command == _SWAP:
            second, first = self._pop(), self._pop()
            self._put(second)
            self._put(first)
        elif command == _VARIABLE:
            self._pop()
            self._put(None)
        elif command in _EFFECTS:
            taken, left = _EFFECTS[command]
            for _ in range(taken):
                self._pop()
            for _ in range(left):
                self._put(None)
        else:
            self._stack.clear()

    def _pop(self) -> Value:
        return self._stack.pop() if self._stack else None

    def _put(self, value: Value) -> None:
        if len(self._stack) >= _STACK:
            self._stack.clear()
        too_long = isinstance(value, str) and len(value) > _LONGEST
        self._stack.append(None if too_long else value)


def of_abc(code: Bytes) -> Iterator[Reference]:
    """Yield the texts of a program in ActionScript 3 that look like addresses of files."""
    try:
        code.take(4)  # version
        for size in (0, 0, 8):  # whole numbers, with a sign and without, and others
            for _ in range(code.varied() - 1):
                if size:
                    code.take(size)
                else:
                    code.varied()
        for _ in range(code.varied() - 1):
            yield _by_look(code.take(code.varied()).decode("utf-8", "replace"))
    except EndError:
        return


def _by_look(text: str) -> Reference:
    return Reference(text, kind_of_address(text), False)


def _whole(data: bytes) -> int | None:
    """Return a number of eight bytes, the upper four of which come first, if it is whole."""
    (value,) = struct.unpack("<d", data[4:] + data[:4])
    return int(value) if value == value // 1 and abs(value) < 1e9 else None


def kind_of_address(text: str) -> str:
    """Return what a text would be loaded as, if it is the address of a file by its look; or "".

    >>> kind_of_address("movies/lens.swf"), kind_of_address(".swf"), kind_of_address("Lens.")
    ('movie', '', '')
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or len(text) > _LONGEST or match.start(1) < 2:
        return ""
    name = text[: match.start(1) - 1].rpartition("/")[2]
    return _KIND_OF[match[1].lower()] if name.strip(".") else ""


def addresses_in_text(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the addresses that a playlist names, and what each is loaded as.

    Whether it is XML, JSON or variables of a form (``song1=a.mp3&song2=b.mp3``), addresses stand
    between signs that are in none of them.

    >>> list(addresses_in_text(b'<songs><song src="a.mp3"/>b.swf</songs>'))
    [('a.mp3', 'sound'), ('b.swf', 'movie')]
    """
    seen = set()
    for text in _SEPARATORS.split(_decoded(data).replace("\\/", "/").replace("&amp;", "&")):
        kind = kind_of_address(text)
        if kind and text not in seen:
            seen.add(text)
            yield text, kind


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("gb18030", "replace")


_MOST_TAGS = 1_000_000
_MOST_REFERENCES = 1_000
_LONGEST_TAG = 32 << 20  # bytes; what is longer is passed over
_LONGEST_URL = 2_000  # characters
_DEEPEST = 8  # of animations inside of each other

_DO_ACTION, _DO_INIT_ACTION, _BUTTON, _BUTTON_2, _SPRITE = 12, 59, 7, 34, 39
_PLACE_2, _PLACE_3, _IMPORT, _IMPORT_2 = 26, 70, 57, 71
_ATTRIBUTES, _METADATA, _ABC, _ABC_2 = 69, 77, 72, 82
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_WEB = {"http", "https"}
_TEXTS = {"title", "description", "creator", "language", "date"}


def read_swf(file: BinaryIO) -> SwfFacts:
    """Read a SWF file from its first byte on.

    Raises:
        MediaError: it is none, cannot be uncompressed, or is larger than any real one.
    """
    body = Body(file)
    reader = _Reader(body.version)
    try:
        facts = reader.header(body)
    except EndError:
        raise MediaError("the animation is cut off within its header") from None
    try:
        for tag, data in _tags(body):
            reader.take(tag, data, 0)
    except EndError:
        reader.found["is_whole"] = False
    return replace(facts, references=reader.references, **reader.found)


def _tags(body: Body) -> Iterator[tuple[int, bytes]]:
    for _ in range(_MOST_TAGS):
        if body.is_at_end:  # some programs leave the last tag out
            return
        head = int.from_bytes(body.read(2), "little")
        tag, length = head >> 6, head & 0x3F
        if length == 0x3F:
            length = int.from_bytes(body.read(4), "little")
        if not tag:
            return
        if (tag == _SPRITE or tag in _TAKEN) and length <= _LONGEST_TAG:
            yield tag, body.read(length)
        else:
            body.skip(length)


class _Reader:
    """Takes the tags of a file.

    Attributes:
        found: fields of `SwfFacts` that tags tell.
    """

    def __init__(self, version: int) -> None:
        self.found: dict[str, Any] = {}
        self._version = version
        # Before version 6, texts are in the encoding of whoever made the file: most often these.
        self._encoding = "utf-8" if version >= 6 else "gb18030"
        self._references: dict[Reference, None] = {}

    @property
    def references(self) -> tuple[Reference, ...]:
        """What was found, each address once, those that are loaded first."""
        found: dict[str, Reference] = {}
        for reference in sorted(self._references, key=lambda each: not each.is_loaded):
            found.setdefault(reference.url, reference)
        return tuple(found.values())

    def header(self, body: Body) -> SwfFacts:
        first = body.read(1)  # how many bits each of the four numbers has
        rest = body.read((5 + 4 * (first[0] >> 3) + 7) // 8 - 1)
        width, height = Bytes(first + rest, self._encoding).rectangle()
        rate, frames = body.read(2), body.read(2)
        return SwfFacts(
            version=self._version,
            width=width,
            height=height,
            frame_rate=int.from_bytes(rate, "little") / 256,
            frames=int.from_bytes(frames, "little"),
        )

    def take(self, tag: int, data: bytes, depth: int) -> None:
        """Read a tag; a damaged one up to the damage."""
        content = Bytes(data, self._encoding)
        try:
            if tag == _SPRITE:
                self._sprite(content, depth)
            elif tag in _TAKEN:
                _TAKEN[tag](self, content)
        except EndError:
            pass

    def _sprite(self, content: Bytes, depth: int) -> None:
        content.take(4)
        while content.left and depth < _DEEPEST:
            head = content.number(2)
            tag, length = head >> 6, head & 0x3F
            data = content.take(content.number(4) if length == 0x3F else length)
            self.take(tag, data, depth + 1)

    def _attributes(self, content: Bytes) -> None:
        if content.number(1) & 0x08:
            self.found["actionscript"] = 3

    def _metadata(self, content: Bytes) -> None:
        text = content.text().strip().encode()
        try:
            root = etree.fromstring(text, etree.XMLParser(resolve_entities=False, no_network=True))
        except (etree.XMLSyntaxError, ValueError):
            return
        for element in root.iter(etree.Element):
            name = etree.QName(element).localname
            said = " ".join("".join(element.itertext()).split())
            if name in _TEXTS and said:
                self.found.setdefault(name, said)
            for key, value in element.attrib.items():
                short = etree.QName(key).localname
                if short in _TEXTS and value.strip():
                    self.found.setdefault(short, " ".join(value.split()))

    def _import(self, content: Bytes) -> None:
        self._add(Reference(content.text(), MOVIE, True))

    def _actions(self, content: Bytes) -> None:
        self.found.setdefault("actionscript", 2)
        for reference in of_actions(content):
            self._add(reference)

    def _init_actions(self, content: Bytes) -> None:
        content.take(2)
        self._actions(content)

    def _button(self, content: Bytes) -> None:
        content.take(2)
        while content.number(1):
            content.take(4)
            content.skip_matrix()
        self._actions(content)

    def _button_2(self, content: Bytes) -> None:
        content.take(3)
        offset = content.number(2)
        if not offset:
            return
        content.take(offset - 2)
        while True:
            size = content.number(2)
            content.take(2)
            self._actions(Bytes(content.take(size - 4 if size else content.left), self._encoding))
            if not size:
                return

    def _place_2(self, content: Bytes) -> None:
        flags = content.number(1)
        self._placed(content, flags, 0)

    def _place_3(self, content: Bytes) -> None:
        flags, more = content.number(1), content.number(1)
        self._placed(content, flags, more)

    def _placed(self, content: Bytes, flags: int, more: int) -> None:
        """Read what an object does by itself, which stands behind how it is placed."""
        if not flags & 0x80:
            return
        content.take(2)
        if more & 0x08 or (more & 0x10 and flags & 0x02):
            content.text()
        if flags & 0x02:
            content.take(2)
        if flags & 0x04:
            content.skip_matrix()
        if flags & 0x08:
            content.skip_colours()
        if flags & 0x10:
            content.take(2)
        if flags & 0x20:
            content.text()
        if flags & 0x40:
            content.take(2)
        if more & 0x01:
            content.skip_filters()
        for flag in (0x02, 0x04):  # blending, kept as a picture
            if more & flag:
                content.take(1)
        size = 4 if self._version >= 6 else 2
        content.take(2 + size)
        while content.number(size):
            self._actions(Bytes(content.take(content.number(4)), self._encoding))

    def _abc(self, content: Bytes) -> None:
        self.found["actionscript"] = 3
        for reference in of_abc(content):
            self._add(reference)

    def _abc_2(self, content: Bytes) -> None:
        content.take(4)
        content.text()
        self._abc(content)

    def _add(self, reference: Reference) -> None:
        url = reference.url.strip()
        # `fscommand:quit` speaks to the browser, and "flash.xml" is a package of Flash's.
        scheme = _SCHEME.match(url)
        is_address = url != "flash.xml" and (scheme is None or scheme[1].lower() in _WEB)
        useful = url and is_address and reference.kind and len(url) <= _LONGEST_URL
        if useful and len(self._references) < _MOST_REFERENCES:
            self._references[replace(reference, url=url)] = None


_TAKEN = {
    _ATTRIBUTES: _Reader._attributes,
    _METADATA: _Reader._metadata,
    _IMPORT: _Reader._import,
    _IMPORT_2: _Reader._import,
    _DO_ACTION: _Reader._actions,
    _DO_INIT_ACTION: _Reader._init_actions,
    _BUTTON: _Reader._button,
    _BUTTON_2: _Reader._button_2,
    _PLACE_2: _Reader._place_2,
    _PLACE_3: _Reader._place_3,
    _ABC: _Reader._abc,
    _ABC_2: _Reader._abc_2,
}
