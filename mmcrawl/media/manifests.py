"""Reads HLS playlists (RFC 8216)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mmcrawl.errors import MediaError
from mmcrawl.page.urls import absolute_url

MOST_PIECES = 20_000
"""Pieces of a track, at most: four seconds each in a day of film."""

_MOST_CHARACTERS = 32 << 20  # of the addresses of a track
_LONGEST = 1e9  # seconds
_SOUND = ("mp4a", "ac-3", "ec-3", "opus", "flac", "mp3")
_MOST_VARIANTS = 200
_DAMAGED = (ValueError, TypeError, LookupError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a track: so many bytes of a file from `start`, all where `length` is None.

    It is encrypted by AES-128 in CBC mode where `key`, an address, is given. `is_head` is what goes
    before the first piece.
    """

    url: str
    start: int = 0
    length: int | None = None
    key: str = ""
    iv: bytes = b""
    is_head: bool = False


@dataclass(frozen=True, slots=True)
class Track:
    """Sound, pictures or both: pieces that form a file of their format when joined."""

    pieces: tuple[Piece, ...]
    seconds: float
    has_pictures: bool = True

    @property
    def files(self) -> list[str]:
        """Addresses of what is to be fetched, each once, keys first."""
        named = (url for piece in self.pieces for url in (piece.key, piece.url) if url)
        return [*dict.fromkeys(named)]


@dataclass(frozen=True, slots=True)
class Variant:
    """A medium in one quality: playlists of its tracks, pictures first; bits a second; pixels."""

    playlists: tuple[str, ...]
    bandwidth: int
    height: int
    has_pictures: bool


def _left_out(what: str) -> MediaError:
    return MediaError(f"it is a playlist {what}", left_out=True)


def _address(base: str, name: str | None) -> str:
    url = (absolute_url(base, name) or "").partition("#")[0] if name else ""
    if url.startswith(("http://", "https://")):
        return url
    raise MediaError(f"it is a playlist that names {str(name)[:80]!r}, which is no web address")


def _few(pieces: Iterator[Piece]) -> tuple[Piece, ...]:
    few = []
    left = _MOST_CHARACTERS
    for piece in pieces:
        few.append(piece)
        left -= len(piece.url)
        if len(few) > MOST_PIECES or left < 0:
            raise MediaError("the playlist is longer than any of a medium")
    return tuple(few)


def read_hls(data: bytes, base: str) -> list[Variant] | Track:
    """Return the qualities that a playlist at an address offers, best first, or its one track.

    Raises:
        MediaError: it cannot be read or collected: it is live, or encrypted for some players only.
    """
    try:
        import m3u8
    except ImportError as error:
        reason = "it is a playlist, for which m3u8 is needed: pip install 'mmcrawl[collect]'"
        raise MediaError(reason, left_out=True) from error
    try:
        playlist = m3u8.loads(data.decode("utf-8-sig", errors="replace"))
    except Exception as error:  # the parser raises anything
        raise MediaError("the playlist is damaged") from error
    for key in filter(None, (*playlist.keys, *playlist.session_keys)):
        form = key.keyformat or "identity"
        if key.method not in (None, "NONE") and (key.method, form) != ("AES-128", "identity"):
            raise _left_out(f"whose pieces are protected ({str(key.method)[:40]})")
    if playlist.playlists:
        found = [_variant(each, playlist, base) for each in playlist.playlists[:_MOST_VARIANTS]]
        found.sort(key=lambda each: (each.has_pictures, each.height, each.bandwidth))
        return found[::-1]
    if not playlist.segments:
        raise MediaError("the playlist names no media")
    if not playlist.is_endlist and str(playlist.playlist_type).upper() != "VOD":
        raise _left_out("that has no end: it is sent live")
    if len({str(each) for each in playlist.segment_map}) > 1:
        raise _left_out("of several recordings, which cannot be joined")
    seconds = sum(segment.duration or 0.0 for segment in playlist.segments)
    try:
        if not seconds < _LONGEST:  # nor is "nan"
            raise ValueError("no medium plays for years")
        return Track(_few(_hls_pieces(playlist, base)), seconds)
    except _DAMAGED as error:
        raise MediaError("the playlist is damaged") from error


def _variant(each: Any, playlist: Any, base: str) -> Variant:
    info = each.stream_info
    codecs = [codec.strip() for codec in (info.codecs or "").split(",") if codec.strip()]
    is_sound = codecs and all(codec.startswith(_SOUND) for codec in codecs)
    # A group without an address has its sound in the file with the pictures.
    sounds = [one for one in playlist.media if one.type == "AUDIO" and one.group_id == info.audio]
    sounds.sort(key=lambda media: (media.default != "YES", media.autoselect != "YES"))
    names = [each.uri, *(one.uri for one in sounds[:1] if info.audio and one.uri)]
    return Variant(
        tuple(dict.fromkeys(_address(base, name) for name in names)),
        int(info.average_bandwidth or info.bandwidth or 0),
        int(info.resolution[1]) if info.resolution else 0,
        bool(info.resolution) or not is_sound,
    )


def _hls_pieces(playlist: Any, base: str) -> Iterator[Piece]:
    after: dict[str, int] = {}  # where the range of each file ended last
    for number, segment in enumerate(playlist.segments, playlist.media_sequence or 0):
        head, key = segment.init_section, _key(segment.key, base, number)
        if head is not None and not after:
            yield Piece(_address(base, head.uri), *_range(head.byterange, 0), *key, is_head=True)
        url = _address(base, segment.uri)
        start, length = _range(segment.byterange, after.get(url, 0))
        after[url] = start + (length or 0)
        yield Piece(url, start, length, *key)


def _key(key: Any, base: str, number: int) -> tuple[str, bytes]:
    if key is None or key.method in (None, "NONE"):
        return "", b""
    iv = bytes.fromhex(key.iv[2:].zfill(32)) if key.iv else number.to_bytes(16, "big")
    if len(iv) != 16:
        raise ValueError("an initialization vector has 16 bytes")
    return _address(base, key.uri), iv


def _range(text: str | None, start: int) -> tuple[int, int | None]:
    """Return the first byte and the number of bytes of ``LENGTH@START``; without it all."""
    if not text:
        return 0, None
    length, at, first = text.partition("@")
    begin, count = int(first) if at else start, int(length)
    if begin < 0 or count < 0:
        raise ValueError("a range of bytes is not negative")
    return begin, count
