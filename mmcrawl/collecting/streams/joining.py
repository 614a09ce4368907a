"""Pieces are put together: those of a track end to end, tracks by ffmpeg.

ffmpeg gets files of one format each, which we have looked at, and may open no others: playlists it
never sees, and it asks no network.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from mmcrawl.collecting.leash import run
from mmcrawl.collecting.magic import HEAD, type_of
from mmcrawl.collecting.streams.playlists import Piece, Track
from mmcrawl.errors import MediaError

_FORMATS = {
    "video/mp2t": "mpegts",
    "video/mp4": "mov",
    "audio/mp4": "mov",
    "video/quicktime": "mov",
    "video/webm": "matroska",
    "audio/aac": "aac",
    "audio/mpeg": "mp3",
}
# What is tried, first what browsers play.
_CONTAINERS = (("mp4", "video/mp4", "audio/mp4"), ("matroska", "video/x-matroska", "audio/webm"))
_WEBM = (("webm", "video/webm", "audio/webm"), _CONTAINERS[1])
_CHUNK = 1 << 20
_SECONDS, _BYTES_A_SECOND = 120.0, 2 << 20  # ffmpeg may take so long

Joined = tuple[Path, str]  # where a medium is that was put together, and its MIME type


def join(
    tracks: Sequence[Track],
    files: Mapping[str, Path],
    folder: Path,
    is_stopped: Callable[[], bool],
) -> Joined:
    """Put the pieces of a medium together.

    The files of what tracks name are given by address; `folder`, of what is made, is empty.

    Raises:
        MediaError: they cannot be joined; `left_out` for want of ffmpeg, with which asking `again`
            helps, or when stopped.
        OSError: the disk takes no more.
    """
    whole = []
    for number, track in enumerate(tracks):
        path = folder / f"track-{number}"
        with path.open("w+b") as out:
            for piece in track.pieces:
                if is_stopped():
                    raise MediaError("it was stopped", left_out=True)
                out.writelines(_plain(piece, files))
            out.seek(0)
            kind = type_of(_without_tags(out), "")
        if kind not in _FORMATS:
            raise MediaError(f"its pieces are {kind or 'of an unknown type'}, and are not joined")
        whole.append((path, kind))
    program = shutil.which("ffmpeg")
    if program is not None:
        each = zip(tracks, whole, strict=True)
        pictures = any(one.has_pictures and kind.startswith("video/") for one, (_, kind) in each)
        return _muxed(program, whole, pictures, is_stopped)
    if len(whole) > 1:
        reason = "its sound and its pictures came, but ffmpeg, which joins them, is not installed"
        raise MediaError(reason, left_out=True, again=True)
    return whole[0]


def _plain(piece: Piece, files: Mapping[str, Path]) -> Iterator[bytes]:
    """Yield the bytes of a piece, decrypted."""
    with files[piece.url].open("rb") as source:
        source.seek(piece.start)
        # What goes before the pieces is not encrypted in some streams.
        is_plain = not piece.key or (piece.is_head and source.peek(8)[4:8] == b"ftyp")
        left = piece.length
        try:
            keyed = None if is_plain else _decryption(piece, files[piece.key])
            while data := source.read(_CHUNK if left is None else min(left, _CHUNK)):
                left = None if left is None else left - len(data)
                yield keyed[1].update(keyed[0].update(data)) if keyed else data
            if keyed:
                yield keyed[1].update(keyed[0].finalize()) + keyed[1].finalize()
        except ValueError as error:
            reason = "its pieces cannot be decrypted with the key the server gives"
            raise MediaError(reason) from error
    if left and is_plain:
        raise MediaError("one of its pieces is shorter than the playlist says", again=True)


def _decryption(piece: Piece, key: Path) -> tuple[Any, Any]:
    """Return what decrypts a piece, and what takes off its padding."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.padding import PKCS7

    cipher = Cipher(algorithms.AES128(key.read_bytes()), modes.CBC(piece.iv))
    return cipher.decryptor(), PKCS7(128).unpadder()


def _without_tags(source: BinaryIO) -> bytes:
    """Return the first bytes behind ID3 tags, which stand before bare sound of any format."""
    while (head := source.read(HEAD))[:3] == b"ID3" and len(head) >= 10:
        size = sum(
            (byte & 0x7F) << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True)
        )
        source.seek(10 + size - len(head), os.SEEK_CUR)
    return head


def _muxed(
    program: str, tracks: Sequence[Joined], pictures: bool, is_stopped: Callable[[], bool]
) -> Joined:
    """Have ffmpeg put tracks into one file, of a format that takes them."""
    said = ""
    is_webm = all(kind == "video/webm" for _, kind in tracks)
    for muxer, video, audio in _WEBM if is_webm else _CONTAINERS:
        path = tracks[0][0].with_name(f"joined.{muxer}")
        command = [program, "-nostdin", "-hide_banner", "-loglevel", "error", "-y"]
        for track, kind in tracks:
            command += ["-protocol_whitelist", "file", "-f", _FORMATS[kind], "-i", f"file:{track}"]
        for number in range(len(tracks)):
            command += ["-map", f"{number}:v?", "-map", f"{number}:a?"]
        command += ["-c", "copy", "-fflags", "+bitexact", "-map_metadata", "-1"]
        command += ["-movflags", "+faststart"] if muxer == "mp4" else []
        size = sum(track.stat().st_size for track, _ in tracks)
        command += ["-f", muxer, f"file:{path}"]
        said = run(command, _SECONDS + size / _BYTES_A_SECOND, is_stopped)
        if not said and path.stat().st_size:
            return path, video if pictures else audio
        path.unlink(missing_ok=True)
    raise MediaError(f"ffmpeg cannot join its pieces ({said or 'nothing came out'})")
