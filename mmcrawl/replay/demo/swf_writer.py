"""Writes small Flash animations (SWF), after Adobe's specification of the format."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from xml.sax.saxutils import escape

from mmcrawl.replay.demo.bits import Bits

_TWIPS = 20  # a pixel
_WIDTH, _HEIGHT = 550, 400  # pixels, as Flash itself proposes
_RATE = 12  # frames a second
_SHAPE, _RADIUS = 1, 60


def animation(
    title: str,
    *,
    frames: int = 24,
    loads: Sequence[str] = (),
    colour: tuple[int, int, int] = (204, 51, 51),
    compressed: bool = True,
) -> bytes:
    """Return an animation of a square that moves from left to right.

    Args:
        title: in its metadata.
        frames: of its time line.
        loads: addresses of other animations that it loads, each into a level of its own.
        colour: of the square: red, green, blue.
        compressed: whether it is.
    """
    tags = [
        _tag(69, b"\x10\0\0\0"),  # it has metadata
        _tag(77, _metadata(title).encode() + b"\0"),
        _tag(9, b"\xff\xff\xff"),
        _tag(2, _square(colour)),
    ]
    if loads:
        tags.append(_tag(12, b"".join(_load(url, 1 + i) for i, url in enumerate(loads)) + b"\0"))
    for frame in range(frames):
        x = (_WIDTH - 2 * _RADIUS) * frame // max(frames - 1, 1) + _RADIUS
        tags += [_tag(26, _place(x, _HEIGHT // 2, again=frame > 0)), _tag(1, b"")]
    head = _rectangle(0, _WIDTH, 0, _HEIGHT) + struct.pack("<HH", _RATE << 8, frames)
    body = head + b"".join(tags) + _tag(0, b"")
    signature = b"CWS" if compressed else b"FWS"
    length = struct.pack("<I", 8 + len(body))
    return signature + b"\x08" + length + (zlib.compress(body) if compressed else body)


def _tag(number: int, content: bytes) -> bytes:
    if len(content) < 0x3F:
        return struct.pack("<H", number << 6 | len(content)) + content
    return struct.pack("<HI", number << 6 | 0x3F, len(content)) + content


def _metadata(title: str) -> str:
    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{escape(title)}</dc:title></rdf:Description></rdf:RDF>"
    )


def _load(url: str, level: int) -> bytes:
    content = url.encode() + b"\0" + f"_level{level}".encode() + b"\0"
    return struct.pack("<BH", 0x83, len(content)) + content


def _square(colour: tuple[int, int, int]) -> bytes:
    bits = Bits()
    side = 2 * _RADIUS * _TWIPS
    bits.add(1, 4)  # bits of an index of fills
    bits.add(0, 4)  # and of lines
    bits.add(0b00011, 6)  # fill and place change
    bits.add(16, 5)
    bits.add(-side // 2, 16)
    bits.add(-side // 2, 16)
    bits.add(1, 1)
    for step, vertical in ((side, 0), (side, 1), (-side, 0), (-side, 1)):
        bits.add(0b11, 2)  # a straight line
        bits.add(14, 4)  # of numbers with 16 bits
        bits.add(vertical, 2)  # along an axis
        bits.add(step, 16)
    bits.add(0, 6)
    half = _RADIUS
    styles = b"\x01\x00" + bytes(colour) + b"\x00"
    return struct.pack("<H", _SHAPE) + _rectangle(-half, half, -half, half) + styles + bits.bytes()


def _place(x: int, y: int, *, again: bool) -> bytes:
    bits = Bits()
    bits.add(0, 2)  # neither scaled nor turned
    bits.add(16, 5)
    bits.add(x * _TWIPS, 16)
    bits.add(y * _TWIPS, 16)
    if again:
        return struct.pack("<BH", 0x05, 1) + bits.bytes()
    return struct.pack("<BHH", 0x06, 1, _SHAPE) + bits.bytes()


def _rectangle(left: int, right: int, top: int, bottom: int) -> bytes:
    bits = Bits()
    bits.add(16, 5)
    for value in (left, right, top, bottom):
        bits.add(value * _TWIPS, 16)
    return bits.bytes()
