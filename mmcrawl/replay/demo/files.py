"""The files of the demo web beside its pages: small, and those of open formats really playable.

Nothing here can write Windows Media and RealMedia: such a file begins as a real one does, and has
nothing in it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from hashlib import sha256

from mmcrawl.replay.demo.mp4_writer import mp4_film
from mmcrawl.replay.demo.swf_writer import animation

_FIRST_BYTES = {
    "wmv": b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",
    "rmvb": b".RMF\x00\x00",
    "gif": b"GIF89a\x01\x00\x01\x00",
    "rar": b"Rar!\x1a\x07\x00",
    "ppt": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "css": b"body { margin: 0 }\n/* ",
    "js": b"var swfobject = {};\n// ",
}
# A frame of MPEG-2 layer III with 8 kbit/s and 22,050 Hz, in which nothing is to be heard.
_SILENCE = b"\xff\xf3\x10\xc4" + b"\0" * 22
_SECONDS_OF_A_FRAME = 576 / 22_050
_MENU = "yanshi.swf"


def file_at(path: str, title: str) -> bytes:
    """Return the file with a path on the demo web; two of other paths or titles differ.

    Args:
        path: its ending tells what it is.
        title: which it says it has, "" for none.
    """
    ending = path.rpartition(".")[2]
    make = _MAKERS.get(ending)
    return make(path, title) if make else _FIRST_BYTES.get(ending, b"") + path.encode()


def _animation(path: str, title: str) -> bytes:
    digest = sha256(path.encode()).digest()
    name = path.rpartition("/")[2]
    loads = [name.replace(".", f"_{n}.") for n in (1, 2, 3)] if name == _MENU else []
    colour = (digest[0], digest[1], digest[2])
    return animation(title or path, frames=12 + digest[3] % 48, loads=loads, colour=colour)


def _sound(path: str, title: str) -> bytes:
    """Return an MP3 of a few silent seconds with a title."""
    text = b"\x01" + (title or path).encode("utf-16")
    frame = b"TIT2" + struct.pack(">IH", len(text), 0) + text
    size = len(frame)
    head = b"ID3\x03\0\0" + bytes(size >> shift & 0x7F for shift in (21, 14, 7, 0))
    seconds = 2 + sha256(path.encode()).digest()[0] % 8
    return head + frame + _SILENCE * round(seconds / _SECONDS_OF_A_FRAME)


def _film(path: str, title: str) -> bytes:
    """Return an MP4 of one grey picture that is shown for some seconds, with a title."""
    digest = sha256(path.encode()).digest()
    seconds = 2 + digest[0] % 8
    return mp4_film(title or path, seconds, grey=64 + digest[1] % 128)


_MAKERS: dict[str, Callable[[str, str], bytes]] = {"swf": _animation, "mp3": _sound, "mp4": _film}
