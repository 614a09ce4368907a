"""Small animations (SWF) that say their title and load others."""

import struct
import zlib
from collections.abc import Sequence


def tag(number: int, content: bytes) -> bytes:
    return struct.pack("<HI", number << 6 | 0x3F, len(content)) + content


def animation(
    title: str, *, frames: int = 24, loads: Sequence[str] = (), compressed: bool = True
) -> bytes:
    """Return an empty stage of 550 × 400 pixels, 12 frames a second."""
    rdf = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title.replace('&', '&amp;')}</dc:title></rdf:Description></rdf:RDF>"
    )
    load = b""
    for level, url in enumerate(loads, 1):
        content = f"{url}\0_level{level}\0".encode()
        load += struct.pack("<BH", 0x83, len(content)) + content
    tags = [tag(69, b"\x10\0\0\0"), tag(77, rdf.encode() + b"\0")]
    tags += [tag(12, load + b"\0")] * bool(loads) + [tag(1, b"")] * frames
    sides = "".join(f"{twips:016b}" for twips in (0, 550 * 20, 0, 400 * 20))
    stage = int(f"{16:05b}{sides}000", 2).to_bytes(9, "big")
    body = stage + struct.pack("<HH", 12 << 8, frames) + b"".join(tags) + b"\0\0"
    head = (b"CWS\x08" if compressed else b"FWS\x08") + struct.pack("<I", 8 + len(body))
    return head + (zlib.compress(body) if compressed else body)
