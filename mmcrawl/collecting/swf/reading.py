"""Reading a SWF file: its header, what it says of itself, and which files it names.

After Adobe's SWF File Format Specification, version 19. Drawings, sounds and pictures are passed
over; of a file that is damaged or cut off, what stands before the damage is told.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from lxml import etree

from mmcrawl.collecting.swf.container import Body, Bytes, EndError
from mmcrawl.collecting.swf.model import MOVIE, Reference, SwfFacts
from mmcrawl.collecting.swf.programs import of_abc, of_actions
from mmcrawl.errors import MediaError

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
    """Yield number and content of the tags that are looked at."""
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
        """Read what stands before the tags."""
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
        """Take a tag; one that is damaged is taken as far as it can be read."""
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
