"""HLS streams (RFC 8216): which pieces make up a medium, and joining them.

A playlist is fetched and read, and its pieces are fetched one by one like all media; then they are
joined, and only the joined file is kept. `Stream` describes what is on the disk meanwhile.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO, TypeVar

from mmcrawl.errors import MediaError
from mmcrawl.media.download import Download, kept
from mmcrawl.media.files import MediaFiles, PartialFile
from mmcrawl.media.hosted import run
from mmcrawl.media.index import PART, MediaFile
from mmcrawl.media.magic import HEAD, type_of
from mmcrawl.media.sizes import Budget, Share
from mmcrawl.page.urls import absolute_url

MOST_PIECES = 20_000
"""Pieces of a track, at most: four seconds each in a day of film."""

_MOST_CHARACTERS = 32 << 20  # of the addresses of a track
_LONGEST_SECONDS = 1e9  # seconds
_SOUND = ("mp4a", "ac-3", "ec-3", "opus", "flac", "mp3")
_MOST_VARIANTS = 200
_DAMAGED = (ValueError, TypeError, LookupError, ArithmeticError)

_AT_ONCE = 2  # pieces that are asked for at the same time
_LONGEST = 8 << 20  # bytes of a playlist
_Result = TypeVar("_Result")
_Pieces = Generator[Download | None, None, _Result]
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

Joined = tuple[Path, str]  # where a joined medium is, and its MIME type


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
    """Return a playlist's qualities, best first, or its track; a MediaError if live or locked."""
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
        if not seconds < _LONGEST_SECONDS:  # nor is "nan"
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


class Stream:
    """The pieces of a playlist, which stays where it is, until they are one file. Thread-safe."""

    def __init__(self, playlist: Download, budget: Budget) -> None:
        self.playlist = playlist
        path = playlist.rest()
        self._folder = path.with_name(f"{path.name}.pieces")
        self._share = Share(whole=budget, kind=playlist.file.kind)
        self._lock = RLock()
        self._tracks: list[Track] = []
        self._there: dict[str, Path] = {}
        self._lists: dict[str, Download | None] = {}  # further playlists, once they are there
        self._under_way: set[Download] = set()
        self._problem: MediaError | None = None
        self._pieces = self._found(path)

    @property
    def size(self) -> int:
        """Bytes that have come, or been promised."""
        return self._share.size

    def go_on(
        self, piece: Download | None = None, problem: MediaError | None = None
    ) -> list[Download] | None:
        """Add a piece, or the reason why it failed; none at the beginning.

        Returns:
            Those that are to be fetched now, none if enough are in progress; None, once, when all
            are there and can be joined.

        Raises:
            MediaError: the stream cannot be fetched, and no piece is in progress any more.
            StoreError: the disk cannot be used.
        """
        with self._lock:
            if piece is not None:
                self._under_way.discard(piece)
                if problem is None:
                    self._keep(piece)
                else:
                    piece.pause()
                    self._end(problem)
            return self._next()

    def join(self, files: MediaFiles, is_stopped: Callable[[], bool]) -> MediaFile:
        """Join the pieces into a file of the media store; return its record. May take long."""
        free, size = shutil.disk_usage(self._folder).free, self._share.size
        if reason := self._share.whole.refusal("", 0, 0, free - 2 * size):
            raise MediaError(reason, left_out=True)
        for left in self._folder.glob("join-*"):
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix="join-", dir=self._folder))
        path, content_type = join(self._tracks, self._there, folder, is_stopped)
        self._share.promise(PART, path.stat().st_size - size)
        file, place = self.playlist.file, self.playlist.place
        file = replace(file, final_url="" if place == file.url else place)
        return kept(file, path, content_type, files)

    def stop(self) -> None:
        """Keep what has arrived, and is in progress, for another attempt."""
        with self._lock:
            for piece in self._under_way:
                piece.pause()
            self._under_way.clear()

    def end(self, problem: MediaError | None = None) -> None:
        """Drop the partial pieces; after some problems, keep them for another attempt."""
        if problem is not None:
            self._share.promise(PART, -self._share.size)
        if problem is not None and not problem.left_out:
            # The pieces stay. The addresses in some playlists hold for a while only.
            for playlist in filter(None, (self.playlist, *self._lists.values())):
                playlist.give_up()
        elif problem is None or not problem.again:
            shutil.rmtree(self._folder, ignore_errors=True)
            self.playlist.give_up()

    # -- inside -------------------------------------------------------------------------------

    def _next(self) -> list[Download] | None:
        begun: list[Download] = []
        try:
            while self._problem is None and len(self._under_way) < _AT_ONCE:
                piece = next(self._pieces)
                if piece is None:
                    return begun
                self._under_way.add(piece)
                begun.append(piece)
        except StopIteration:
            return None
        except MediaError as error:
            self._end(error)
        if self._problem is not None and not self._under_way:
            raise self._problem
        return begun

    def _end(self, problem: MediaError) -> None:
        self._problem = self._problem or problem
        for piece in self._under_way:
            piece.is_stopped = True

    def _keep(self, piece: Download) -> None:
        url = piece.file.url
        self._there[url] = piece.rest()
        if url in self._lists:
            self._lists[url] = piece

    def _found(self, path: Path) -> _Pieces[None]:
        """Yield the pieces that are to be fetched; None where those in progress must come first."""
        base, data = self.playlist.place, _playlist(path)
        read = read_hls(data, base)
        self._tracks = [read] if isinstance(read, Track) else (yield from self._chosen(read))
        yield from self._missing(url for track in self._tracks for url in track.files)

    def _missing(self, urls: Iterable[str]) -> _Pieces[None]:
        file = self.playlist.file
        for url in dict.fromkeys(urls):
            if url in self._there:
                continue
            part = PartialFile(self._folder, url)
            part.resume()
            if not part.path.exists():  # its facts alone are of no use
                part.restart()
            record = MediaFile(url, PART, parent=file.url, page=file.page)
            piece = Download(record, part, self._share, ())
            if piece.is_whole:
                self._share.promise(PART, piece.size)
                self._keep(piece)
            else:
                yield piece
        while self._under_way:
            yield None

    def _chosen(self, variants: list[Variant]) -> _Pieces[list[Track]]:
        """Read the playlists of the best quality there is room for."""
        best, tracks = variants[0], (yield from self._tracks_of(variants[0]))
        seconds = max(track.seconds for track in tracks)
        chosen = best
        for chosen in (each for each in variants if each.has_pictures == best.has_pictures):
            if self._fits(int(chosen.bandwidth * seconds / 8)):
                break
        return tracks if chosen is best else (yield from self._tracks_of(chosen))

    def _tracks_of(self, variant: Variant) -> _Pieces[list[Track]]:
        self._lists = dict.fromkeys(variant.playlists) | self._lists
        yield from self._missing(variant.playlists)
        tracks = []
        for number, url in enumerate(variant.playlists):
            piece = self._lists[url]
            read = read_hls(_playlist(piece.path), piece.place) if piece else []
            if not isinstance(read, Track):
                raise MediaError("the playlists are nested too deeply")
            tracks.append(replace(read, has_pictures=variant.has_pictures and not number))
        return tracks

    def _fits(self, size: int) -> bool:
        free = shutil.disk_usage(self._folder.parent).free
        return not self._share.refusal(PART, size, size, free)


def _playlist(path: Path) -> bytes:
    if path.stat().st_size > _LONGEST:
        raise MediaError("the playlist is longer than 8 MB")
    return path.read_bytes()


# -- joining --------------------------------------------------------------------------------------


def join(
    tracks: Sequence[Track],
    files: Mapping[str, Path],
    folder: Path,
    is_stopped: Callable[[], bool],
) -> Joined:
    """Join the pieces of a medium.

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
            raise MediaError(f"its pieces are {kind or 'of an unknown type'} and cannot be joined")
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
    """Return the decryptor of a piece, and the function that removes its padding."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.padding import PKCS7

    cipher = Cipher(algorithms.AES128(key.read_bytes()), modes.CBC(piece.iv))
    return cipher.decryptor(), PKCS7(128).unpadder()


def _without_tags(source: BinaryIO) -> bytes:
    """Return the first bytes after ID3 tags, which may precede audio of any format."""
    while (head := source.read(HEAD))[:3] == b"ID3" and len(head) >= 10:
        size = sum(
            (byte & 0x7F) << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True)
        )
        source.seek(10 + size - len(head), os.SEEK_CUR)
    return head


def _muxed(
    program: str, tracks: Sequence[Joined], pictures: bool, is_stopped: Callable[[], bool]
) -> Joined:
    """Let ffmpeg join tracks into one file, in a format that allows them."""
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
