"""Playlists of HTTP Live Streaming, RFC 8216."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mmcrawl.collecting.streams.model import MOST_PIECES, Key, Piece, Track, address, left_out
from mmcrawl.errors import MediaError

_SOUND = ("mp4a", "ac-3", "ec-3", "opus", "flac", "mp3")
_MOST_VARIANTS = 200


@dataclass(frozen=True, slots=True)
class Variant:
    """A medium in one of the qualities that a playlist offers.

    Attributes:
        playlists: addresses of the playlists of its tracks, pictures first.
        bandwidth: bits a second.
        height: of its pictures in pixels, 0 if it is not said.
        has_pictures: whether it is more than sound, as far as is said.
    """

    playlists: tuple[str, ...]
    bandwidth: int
    height: int
    has_pictures: bool


def read_hls(text: str, base: str) -> list[Variant] | Track:
    """Read a playlist.

    Args:
        text: of the playlist.
        base: its address.

    Returns:
        The qualities it offers, best first; or the track, if it is of one.

    Raises:
        MediaError: it cannot be read or collected: it is live, or encrypted for some players only.
    """
    try:
        import m3u8
    except ImportError as error:
        reason = "it is a playlist, for which m3u8 is needed: pip install 'mmcrawl[collect]'"
        raise MediaError(reason, left_out=True) from error
    try:
        playlist = m3u8.loads(text)
    except Exception as error:  # the parser raises anything
        raise MediaError("it is a playlist that is damaged") from error
    for key in (*playlist.keys, *playlist.session_keys):
        _refuse_protected(key)
    if playlist.playlists:
        return _variants(playlist, base)
    if not playlist.segments:
        raise MediaError("it is a playlist that names nothing")
    if not playlist.is_endlist:
        raise left_out("that has no end: it is sent live")
    return _track(playlist, base)


def _refuse_protected(key: Any) -> None:
    if key is None or key.method in (None, "NONE"):
        return
    if key.method != "AES-128" or (key.keyformat or "identity") != "identity":
        raise left_out(f"whose pieces are protected ({str(key.method)[:40]})")


def _variants(playlist: Any, base: str) -> list[Variant]:
    found = []
    for each in playlist.playlists[:_MOST_VARIANTS]:
        info = each.stream_info
        codecs = [codec.strip() for codec in (info.codecs or "").split(",") if codec.strip()]
        pictures = (
            bool(info.resolution)
            or not codecs
            or any(not codec.startswith(_SOUND) for codec in codecs)
        )
        sound = _rendition(playlist, info.audio)
        urls = [address(base, each.uri), *([address(base, sound)] if sound else ())]
        found.append(
            Variant(
                tuple(dict.fromkeys(urls)),
                int(info.average_bandwidth or info.bandwidth or 0),
                int(info.resolution[1]) if info.resolution else 0,
                pictures,
            )
        )
    return sorted(found, key=lambda each: (each.has_pictures, each.height, each.bandwidth))[::-1]


def _rendition(playlist: Any, group: str | None) -> str | None:
    """Return where the sound of a group is, None if it is in the file with the pictures."""
    sounds = [
        media for media in playlist.media if media.type == "AUDIO" and media.group_id == group
    ]
    sounds.sort(key=lambda media: (media.default != "YES", media.autoselect != "YES"))
    return sounds[0].uri if group and sounds else None


def _track(playlist: Any, base: str) -> Track:
    if len(playlist.segments) > MOST_PIECES:
        raise MediaError(f"it is a playlist of more than {MOST_PIECES:,} pieces")
    if len(playlist.segment_map) > 1 and len({str(each) for each in playlist.segment_map}) > 1:
        raise left_out("of several recordings, which cannot be joined")
    try:
        pieces = tuple(_pieces(playlist, base))
    except (ValueError, TypeError) as error:
        raise MediaError("it is a playlist that is damaged") from error
    return Track(pieces, sum(segment.duration or 0.0 for segment in playlist.segments))


def _pieces(playlist: Any, base: str) -> Iterator[Piece]:
    after: dict[str, int] = {}  # where the range of each file ended last
    for number, segment in enumerate(playlist.segments, playlist.media_sequence or 0):
        head = segment.init_section
        key = _key(segment.key, base, number)
        if head is not None and not after:
            url = address(base, head.uri)
            yield Piece(url, *_range(head.byterange, 0), key=key, is_head=True)
        url = address(base, segment.uri)
        start, length = _range(segment.byterange, after.get(url, 0))
        after[url] = start + (length or 0)
        yield Piece(url, start, length, key)


def _key(key: Any, base: str, number: int) -> Key | None:
    if key is None or key.method in (None, "NONE"):
        return None
    iv = bytes.fromhex(key.iv[2:].zfill(32)) if key.iv else number.to_bytes(16, "big")
    if len(iv) != 16:
        raise ValueError("an initialization vector has 16 bytes")
    return Key(address(base, key.uri), iv)


def _range(text: str | None, start: int) -> tuple[int, int | None]:
    """Return the first byte and the number of bytes of ``LENGTH@START``; without it all."""
    if not text:
        return 0, None
    length, at, first = text.partition("@")
    begin, count = int(first) if at else start, int(length)
    if begin < 0 or count < 0:
        raise ValueError("a range of bytes is not negative")
    return begin, count
