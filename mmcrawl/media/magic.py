"""The type of a file, by its first bytes and the server's headers; never by its name."""

import re
from collections.abc import Iterator

from mmcrawl.page.media import PLAYED, is_of_no_media, media_kind
from mmcrawl.text.media_kinds import (
    AUDIO,
    DOCUMENT,
    IMAGE_ANIMATION,
    PACKAGE,
    SIMULATION,
    VIDEO,
)
from mmcrawl.text.patterns import linear

HEAD = 4_096
"""Bytes that are looked at."""

HLS, DASH = "application/vnd.apple.mpegurl", "application/dash+xml"
PLAYLISTS = frozenset({HLS, DASH})
"""Types of files that name the pieces of a medium."""
LIST = "audio/x-mpegurl"
"""Type of a file that names media, whatever its format."""

_VAGUE = "application/octet-stream"
_ZIP, _OLE = "application/zip", "application/x-ole-storage"

# (offset, bytes, type). Of several that fit the first holds.
_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"FWS", "application/x-shockwave-flash"),
    (0, b"CWS", "application/x-shockwave-flash"),
    (0, b"ZWS", "application/x-shockwave-flash"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "application/ogg"),
    (0, b"MThd", "audio/midi"),
    (0, b"#!AMR", "audio/amr"),
    (0, b".snd", "audio/basic"),
    (0, b"ADIF", "audio/aac"),
    (0, b"MAC ", "audio/x-ape"),
    (0, b".RMF", "application/vnd.rn-realmedia"),
    (0, b".ra\xfd", "audio/x-pn-realaudio"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (0, b"FLV\x01", "video/x-flv"),
    (0, b"\x00\x00\x01\xba", "video/mpeg"),
    (0, b"\x00\x00\x01\xb3", "video/mpeg"),
    (8, b"WAVE", "audio/x-wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (8, b"AIFF", "audio/aiff"),
    (8, b"AIFC", "audio/aiff"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypM4B", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp3g", "video/3gpp"),
    (4, b"ftyp", "video/mp4"),
    (4, b"moov", "video/quicktime"),
    (4, b"mdat", "video/quicktime"),
    (4, b"wide", "video/quicktime"),
    (0, b"\x89PNG", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"%PDF", "application/pdf"),
    (0, b"PK\x03\x04", _ZIP),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLE),
    (0, b"Rar!", "application/vnd.rar"),
    (0, b"7z\xbc\xaf", "application/x-7z-compressed"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
)
# Types that only the header distinguishes from others, and what the header may be.
_CONTAINERS = {
    HLS: (),
    DASH: (),
    "application/ogg": ("audio/ogg", "video/ogg", "audio/opus", "audio/speex"),
    "video/webm": ("audio/webm", "video/x-matroska", "audio/x-matroska"),
    "video/mp4": ("audio/mp4", "audio/x-m4a", "video/x-m4v", "video/quicktime", "audio/aac"),
    "video/x-ms-asf": ("audio/x-ms-wma", "video/x-ms-wmv"),
    "application/vnd.rn-realmedia": ("audio/x-pn-realaudio", "audio/vnd.rn-realaudio"),
    "video/3gpp": ("audio/3gpp", "video/3gpp2"),
    _ZIP: (
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.geogebra.file",
        "application/h5p",
        "application/vnd.ims.imsccv1p3",
    ),
    _OLE: ("application/vnd.ms-powerpoint", "application/msword", "application/x-msi"),
    "application/xml": ("model/x3d+xml",),
}
# What is kept in an archive, or in a file of such parts: its name tells what it is.
_WRAPPED = {
    _ZIP: frozenset({DOCUMENT, PACKAGE, SIMULATION}),
    _OLE: frozenset({DOCUMENT, PACKAGE}),
    "text/plain": frozenset({SIMULATION}),  # programs: NetLogo, Processing, VRML
}
_PICTURES = frozenset({"image/gif", "image/apng", "image/png", "image/webp"})
_HTML = linear(
    rb"\s*+(?:<!--(?>.{0,2000}?-->)\s*+)*+<(?:!doctype\s+html|html|head|body|title|script|meta|table|p|h1)\b",
    re.IGNORECASE | re.DOTALL,
)
_BOM = b"\xef\xbb\xbf"
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1b")


def type_of(head: bytes, header: str) -> str:
    """Return the MIME type of a file; "" if it is unknown.

    Args:
        head: its first bytes, `HEAD` of them or all.
        header: the Content-Type it came with, "" for none.

    >>> type_of(b"ID3" + bytes(9), "text/plain"), type_of(b"<html><p>Not found", "video/mp4")
    ('audio/mpeg', 'text/html')
    """
    said = header.partition(";")[0].strip().lower()
    seen = next(_seen(head), "")
    if seen:
        return said if said in _CONTAINERS.get(seen, ()) else seen
    if is_text(head):
        return "text/plain"
    return "" if said == _VAGUE or not media_kind("", said) else said


def kind_of(content_type: str, wanted: str) -> str:
    """Return of which kind of media a type is; "" if it is none that can stand for another.

    What holds, or names, either sound or pictures is of the kind that it was taken for, as is what
    is wrapped in an archive. A picture moves if `moves` says so.
    """
    if content_type in _CONTAINERS and wanted in (AUDIO, VIDEO) and content_type not in _WRAPPED:
        return wanted
    if wanted in _WRAPPED.get(content_type, ()):
        return wanted
    if wanted == IMAGE_ANIMATION and content_type in _PICTURES:
        return wanted
    kind = media_kind("", content_type)
    return kind if kind in PLAYED or kind == wanted else ""


def moves(head: bytes) -> bool:
    """Return whether a GIF, PNG or WebP picture moves, by its first bytes.

    >>> moves(b"GIF89a" + bytes(7) + b"!\\xff\\x0bNETSCAPE2.0"), moves(b"GIF89a" + bytes(40))
    (True, False)
    """
    if head.startswith(b"GIF8"):
        return b"NETSCAPE2.0" in head or b"ANIMEXTS1.0" in head
    if head.startswith(b"\x89PNG"):
        return b"acTL" in head.partition(b"IDAT")[0]
    is_extended = head[8:16] == b"WEBPVP8X" and len(head) > 20
    return is_extended and bool(head[20] & 2)


def says_no_media(header: str, wanted: str) -> bool:
    """Return whether a Content-Type, but for text, which servers say of all, is unwanted."""
    said = header.partition(";")[0].strip().lower()
    if said.startswith("text/") or (wanted == IMAGE_ANIMATION and said in _PICTURES):
        return False
    other = media_kind("", said)
    return is_of_no_media(said) or (wanted in PLAYED and other is not None and other not in PLAYED)


def _seen(head: bytes) -> Iterator[str]:
    """Yield the types that the first bytes suggest, the surest first."""
    text = head.removeprefix(_BOM).lstrip()
    if text.startswith(b"#EXTM3U") and b"#EXT-X-" in text:
        yield HLS
    if text.startswith(b"<") and re.search(rb"<MPD[\s>]", text[:1_000]):
        yield DASH
    if _HTML.match(text):
        yield "text/html"
    for offset, signature, mime in _SIGNATURES:
        if head[offset : offset + len(signature)] == signature and (
            offset != 8 or head[:4] in (b"RIFF", b"RF64", b"FORM")
        ):
            yield mime
    if len(head) > 376 and head[0] == head[188] == head[376] == 0x47:
        yield "video/mp2t"
    if len(head) > 4 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:
        yield "audio/aac"
    if len(head) > 4 and head[0] == 0xFF and _is_mpeg_frame(head[1], head[2]):
        yield "audio/mpeg"


def _is_mpeg_frame(second: int, third: int) -> bool:
    """Return whether a frame of MPEG audio, layer II or III, begins: sync, version, bit rate."""
    version, layer = second >> 3 & 3, second >> 1 & 3
    return second & 0xE0 == 0xE0 and version != 1 and layer in (1, 2) and third >> 4 != 15


def is_text(head: bytes) -> bool:
    """Whether bytes are text in some encoding: without control characters, which all media have."""
    return all(byte >= 32 or byte in _TEXT_CONTROLS for byte in head)
