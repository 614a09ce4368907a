"""Pieces are put together: those of a track end to end, tracks by ffmpeg.

ffmpeg gets files of one format each, which we have looked at, and may open no others: playlists it
never sees, and it asks no network.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from mmcrawl.collecting.magic import HEAD, type_of
from mmcrawl.collecting.streams.model import Key, Piece, Track
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
_LOOK = 0.2
_SECONDS, _BYTES_A_SECOND = 120.0, 2 << 20  # ffmpeg may take so long


@dataclass(frozen=True, slots=True)
class Joined:
    """A medium that was put together.

    Attributes:
        path: where it is.
        content_type: MIME type.
    """

    path: Path
    content_type: str


def join(
    tracks: Sequence[Track],
    files: Mapping[str, Path],
    folder: Path,
    is_stopped: Callable[[], bool],
) -> Joined:
    """Put the pieces of a medium together.

    Args:
        tracks: of it.
        files: where what they name is, by its address.
        folder: of what is made, empty.
        is_stopped: asked often whether to break off.

    Raises:
        MediaError: they cannot be joined; `left_out` for want of ffmpeg, with which asking `again`
            helps, or when stopped.
        OSError: the disk takes no more.
    """
    whole = []
    for number, track in enumerate(tracks):
        path = folder / f"track-{number}"
        with path.open("wb") as out:
            for piece in track.pieces:
                if is_stopped():
                    raise MediaError("it was stopped", left_out=True)
                _append(piece, files, out)
        with path.open("rb") as made:
            _skip_tags(made)
            kind = type_of(made.read(HEAD), "")
        if kind not in _FORMATS:
            raise MediaError(f"its pieces are {kind or 'of an unknown type'}, and are not joined")
        whole.append(Joined(path, kind))
    pictures = any(
        track.has_pictures and made.content_type.startswith("video/")
        for track, made in zip(tracks, whole, strict=True)
    )
    program = shutil.which("ffmpeg")
    if program is not None:
        return _muxed(program, whole, pictures, is_stopped)
    if len(whole) > 1:
        raise MediaError(
            "its sound and its pictures came, but ffmpeg, which joins them, is not installed",
            left_out=True,
            again=True,
        )
    return whole[0]


def _append(piece: Piece, files: Mapping[str, Path], out: BinaryIO) -> None:
    with files[piece.url].open("rb") as source:
        source.seek(piece.start)
        if piece.key is not None and not (piece.is_head and _is_plain(source)):
            _decrypt(source, piece.length, files[piece.key.url], piece.key, out)
            return
        left = piece.length
        while data := source.read(_CHUNK if left is None else min(left, _CHUNK)):
            out.write(data)
            left = None if left is None else left - len(data)
        if left:
            raise MediaError("one of its pieces is shorter than the playlist says", again=True)


def _is_plain(source: BinaryIO) -> bool:
    """Tell whether what goes before the pieces is not encrypted, as it is in some streams."""
    place = source.tell()
    head = source.read(8)
    source.seek(place)
    return head[4:8] == b"ftyp"


def _skip_tags(source: BinaryIO) -> None:
    """Go behind ID3 tags, which stand before pieces of bare sound of any format."""
    while True:
        place = source.tell()
        head = source.read(10)
        if head[:3] != b"ID3" or len(head) < 10:
            source.seek(place)
            return
        size = sum(
            (byte & 0x7F) << shift for byte, shift in zip(head[6:], (21, 14, 7, 0), strict=True)
        )
        source.seek(size, os.SEEK_CUR)


def _decrypt(source: BinaryIO, length: int | None, key_file: Path, key: Key, out: BinaryIO) -> None:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.padding import PKCS7

    try:
        cipher = Cipher(algorithms.AES128(key_file.read_bytes()), modes.CBC(key.iv)).decryptor()
        padding, left = PKCS7(128).unpadder(), length
        while data := source.read(_CHUNK if left is None else min(left, _CHUNK)):
            out.write(padding.update(cipher.update(data)))
            left = None if left is None else left - len(data)
        out.write(padding.update(cipher.finalize()) + padding.finalize())
    except ValueError as error:
        raise MediaError("its pieces cannot be decrypted with the key the server gives") from error


def _muxed(
    program: str, tracks: Sequence[Joined], pictures: bool, is_stopped: Callable[[], bool]
) -> Joined:
    """Have ffmpeg put tracks into one file, of a format that takes them."""
    is_webm = all(track.content_type == "video/webm" for track in tracks)
    said = ""
    for muxer, video, audio in _WEBM if is_webm else _CONTAINERS:
        path = tracks[0].path.with_name(f"joined.{muxer}")
        command = [program, "-nostdin", "-hide_banner", "-loglevel", "error", "-y"]
        for track in tracks:
            command += ["-protocol_whitelist", "file", "-f", _FORMATS[track.content_type]]
            command += ["-i", f"file:{track.path}"]
        for number in range(len(tracks)):
            command += ["-map", f"{number}:v?", "-map", f"{number}:a?"]
        command += ["-c", "copy", "-fflags", "+bitexact", "-map_metadata", "-1"]
        command += ["-movflags", "+faststart"] if muxer == "mp4" else []
        command += ["-f", muxer, f"file:{path}"]
        said = _run(command, path.with_name("said"), _seconds_for(tracks), is_stopped)
        if not said and path.stat().st_size:
            return Joined(path, video if pictures else audio)
        path.unlink(missing_ok=True)
    raise MediaError(f"ffmpeg cannot join its pieces ({said or 'nothing came out'})")


def _seconds_for(tracks: Sequence[Joined]) -> float:
    return _SECONDS + sum(track.path.stat().st_size for track in tracks) / _BYTES_A_SECOND


def _run(command: Sequence[str], said: Path, seconds: float, is_stopped: Callable[[], bool]) -> str:
    """Run a program in its own session: Ctrl-C is for us. Return why it failed, "" if it did not.

    Args:
        command: the program with its arguments.
        said: file for what it says.
        seconds: it may take.
        is_stopped: asked often whether to break off.
    """
    with (
        said.open("wb") as errors,
        subprocess.Popen(  # noqa: S603 - ffmpeg, and files of ours
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        ) as process,
    ):
        late = time.monotonic() + seconds
        while process.poll() is None:
            try:
                process.wait(_LOOK)
            except subprocess.TimeoutExpired:
                if is_stopped() or time.monotonic() > late:
                    process.kill()
        if is_stopped():
            raise MediaError("it was stopped", left_out=True)
    if not process.returncode:
        return ""
    if time.monotonic() > late:
        raise MediaError("ffmpeg takes too long to join it")
    with said.open("rb") as written:
        written.seek(max(said.stat().st_size - _CHUNK, 0))
        lines = written.read().decode(errors="replace").strip().splitlines()
    return lines[-1][-200:] if lines else f"exit code {process.returncode}"
