"""Writes films of one picture: MP4 (ISO/IEC 14496-12) with H.264 that is not compressed."""

from __future__ import annotations

import struct

from mmcrawl.replay.demo.bits import Bits

_SIDE = 16  # pixels: one macroblock
_TYPE = b"isom\0\0\2\0isomavc1mp42"
_MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
_RATE = 1_000  # units of time a second
_BASELINE, _LEVEL = b"\x42\xc0", b"\x0a"


def mp4_film(title: str, seconds: int, grey: int) -> bytes:
    """Return a film of a grey square.

    Args:
        title: in its metadata.
        seconds: how long it is shown.
        grey: how bright it is, in [1, 255].
    """
    picture = _picture(grey)
    sample = struct.pack(">I", len(picture)) + picture
    head = _box(b"ftyp", _TYPE)
    moov = _movie(title, seconds * _RATE, len(head) + 8, len(sample))
    return head + _box(b"mdat", sample) + moov


# ---------------------------------------------------------------- H.264


def _sequence() -> bytes:
    """Return the sequence parameter set: a picture of one macroblock, each on its own."""
    bits = Bits()
    for value in (0, 0, 2, 0):  # its number, bits of frame numbers, order, frames referred to
        bits.add_ue(value)
    bits.add(0, 1)
    bits.add_ue(0)  # width and height in macroblocks, less one
    bits.add_ue(0)
    bits.add(0b1000, 4)  # whole frames, neither cut nor described further
    bits.add(1, 1)
    return b"\x67" + _BASELINE + _LEVEL + bits.bytes()


def _parameters() -> bytes:
    """Return the picture parameter set, in which nothing is special."""
    bits = Bits()
    bits.add(0b11_00_111_000_111_000_1, 17)  # each 1 but the last is a number that is 0
    return b"\x68" + bits.bytes()


def _picture(grey: int) -> bytes:
    """Return a picture of one macroblock that holds its pixels as they are (I_PCM)."""
    bits = Bits()
    for value in (0, 7, 0):  # the first macroblock, all are within the picture, parameter set
        bits.add_ue(value)
    bits.add(0, 4)  # number of the frame
    bits.add_ue(0)
    bits.add(0, 2)
    bits.add_ue(0)
    bits.add_ue(25)  # I_PCM
    return b"\x65" + bits.bytes() + bytes([grey] * 256) + bytes([128] * 128) + b"\x80"


# ---------------------------------------------------------------- MP4


def _movie(title: str, duration: int, offset: int, size: int) -> bytes:
    times = struct.pack(">IIII", 0, 0, _RATE, duration)
    head = times + struct.pack(">IHHQ", 0x10000, 0x100, 0, 0) + _MATRIX + bytes(24)
    name = _box(b"\xa9nam", _box(b"data", struct.pack(">II", 1, 0) + title.encode()))
    handler = _full(b"hdlr", bytes(4) + b"mdirappl" + bytes(9))
    texts = _box(b"udta", _full(b"meta", handler + _box(b"ilst", name)))
    track = _track(times, duration, offset, size)
    return _box(b"moov", _full(b"mvhd", head + struct.pack(">I", 2)) + track + texts)


def _track(times: bytes, duration: int, offset: int, size: int) -> bytes:
    shown = struct.pack(">IIIIIQHHHH", 0, 0, 1, 0, duration, 0, 0, 0, 0, 0) + _MATRIX
    head = _full(b"tkhd", shown + struct.pack(">II", _SIDE << 16, _SIDE << 16), flags=3)
    handler = _full(b"hdlr", bytes(4) + b"vide" + bytes(13))
    here = _full(b"dref", struct.pack(">I", 1) + _full(b"url ", b"", flags=1))
    parts = (
        _full(b"stsd", struct.pack(">I", 1) + _description()),
        _full(b"stts", struct.pack(">III", 1, 1, duration)),
        _full(b"stsc", struct.pack(">IIII", 1, 1, 1, 1)),
        _full(b"stsz", struct.pack(">III", 0, 1, size)),
        _full(b"stco", struct.pack(">II", 1, offset)),
    )
    media = _full(b"vmhd", bytes(8), flags=1) + _box(b"dinf", here) + _box(b"stbl", b"".join(parts))
    language = struct.pack(">HH", 0x55C4, 0)
    return _box(
        b"trak",
        head + _box(b"mdia", _full(b"mdhd", times + language) + handler + _box(b"minf", media)),
    )


def _description() -> bytes:
    """Return how the picture is coded."""
    sequence, parameters = _sequence(), _parameters()
    coding = b"\x01" + _BASELINE + _LEVEL + b"\xff\xe1"
    coding += struct.pack(">H", len(sequence)) + sequence
    coding += b"\x01" + struct.pack(">H", len(parameters)) + parameters
    looks = struct.pack(">6xH16xHHIIIH32xHh", 1, _SIDE, _SIDE, 72 << 16, 72 << 16, 0, 1, 24, -1)
    return _box(b"avc1", looks + _box(b"avcC", coding))


def _full(name: bytes, content: bytes, flags: int = 0) -> bytes:
    return _box(name, struct.pack(">I", flags) + content)


def _box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + name + content
