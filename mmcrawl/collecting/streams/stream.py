"""A medium that a playlist names, on its way: its pieces in a folder of their own.

The folder, beside the bytes of the playlist, has each further playlist, key and piece as a file on
its way. A stream that is taken up again asks for what is not whole. When all is there it is joined
in a folder within; one that was broken off in this is joined anew.
"""

import shutil
import tempfile
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock

from mmcrawl.collecting.download import Download, kept
from mmcrawl.collecting.files import MediaFiles
from mmcrawl.collecting.magic import DASH
from mmcrawl.collecting.model import PART, MediaFile
from mmcrawl.collecting.partial import PartialFile
from mmcrawl.collecting.sizes import Budget
from mmcrawl.collecting.streams.dash import read_dash
from mmcrawl.collecting.streams.hls import Variant, read_hls
from mmcrawl.collecting.streams.joining import Joined, join
from mmcrawl.collecting.streams.model import Track
from mmcrawl.errors import MediaError

_AT_ONCE = 2  # pieces that are asked for at the same time
_LONGEST = 8 << 20  # bytes of a playlist

_Steps = Generator[list[str], None, None]


@dataclass(slots=True)
class _Share(Budget):
    """What the pieces of a stream have of a budget: they count as one file of its kind."""

    whole: Budget = field(default_factory=Budget)
    kind: str = ""
    size: int = 0

    def refusal(self, kind: str, more: int, size: int, free: int) -> str:
        return self.whole.refusal(self.kind, more, self.size + more, free)

    def promise(self, kind: str, size: int) -> None:
        with self._lock:
            self.size += size
        self.whole.promise(self.kind, size)


class Stream:
    """What a playlist names, until it is one file. For several threads.

    Args:
        playlist: that has come, and stays where it is until the stream is forgotten.
        kind: audio or video, as the page names it.
        budget: how much may be kept.
    """

    def __init__(self, playlist: Download, kind: str, budget: Budget) -> None:
        self.playlist = playlist
        path = playlist.rest()
        self._folder = path.with_name(f"{path.name}.pieces")
        self._share = _Share(whole=budget, kind=kind)
        self._lock = RLock()
        self._tracks: list[Track] = []
        self._there: dict[str, Path] = {}
        self._lists: dict[str, Download | None] = {}  # further playlists, once they are there
        self._wanted: list[str] = []
        self._under_way: set[Download] = set()
        self._problem: MediaError | None = None
        self._steps = self._read(path)

    @property
    def size(self) -> int:
        """Bytes that have come, or been promised."""
        return self._share.size

    def begin(self) -> list[Download] | None:
        """Return the first pieces that are to be fetched; for the rest see `came`."""
        with self._lock:
            return self._next()

    def came(self, piece: Download) -> list[Download] | None:
        """Take a piece.

        Returns:
            Those that are to be fetched now, none if enough are under way; None, once, when all
            are there and can be joined.

        Raises:
            MediaError: it cannot be had, and no piece is under way any more.
            StoreError: the disk cannot be used.
        """
        with self._lock:
            self._under_way.discard(piece)
            self._keep(piece)
            return self._next()

    def failed(self, piece: Download, problem: MediaError) -> list[Download] | None:
        """Note that a piece cannot be had; as for `came`."""
        with self._lock:
            self._under_way.discard(piece)
            piece.pause()
            self._end(problem)
            return self._next()

    def join(self, is_stopped: Callable[[], bool]) -> Joined:
        """Put all together; for errors see `mmcrawl.collecting.streams.joining`."""
        free, size = shutil.disk_usage(self._folder).free, self._share.size
        reason = self._share.whole.refusal("", 0, 0, free - 2 * size)
        if reason:
            raise MediaError(reason, left_out=True)
        for left in self._folder.glob("join-*"):
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix="join-", dir=self._folder))
        joined = join(self._tracks, self._there, folder, is_stopped)
        self._share.promise(PART, joined.path.stat().st_size - size)
        return joined

    def keep(self, joined: Joined, files: MediaFiles) -> MediaFile:
        """Put what was joined into the media store; return its record. May take long."""
        file, place = self.playlist.file, self.playlist.place
        file = replace(file, final_url="" if place == file.url else place)
        return kept(file, joined.path, joined.content_type, files)

    def stop(self) -> None:
        """Leave what has come, and is under way, for another time."""
        with self._lock:
            for piece in self._under_way:
                piece.pause()
            self._under_way.clear()

    def pause(self) -> None:
        """Leave what has come for another time."""
        self._share.promise(PART, -self._share.size)

    def pause_pieces(self) -> None:
        """Leave the pieces for another time, for which the playlists are to be fetched anew.

        The addresses in some hold for a while only.
        """
        self.pause()
        for playlist in (self.playlist, *self._lists.values()):
            if playlist is not None:
                playlist.give_up()

    def forget(self) -> None:
        """Drop all that was on its way."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self.playlist.give_up()

    def give_up(self) -> None:
        """Drop all, and count it no more."""
        self.pause()
        self.forget()

    # -- inside -------------------------------------------------------------------------------

    def _next(self) -> list[Download] | None:
        begun: list[Download] = []
        while self._problem is None and len(self._under_way) < _AT_ONCE:
            try:
                piece = self._begun()
            except MediaError as error:
                self._end(error)
                break
            if piece is None:
                return begun if self._under_way else None
            if not piece.is_whole:
                self._under_way.add(piece)
                begun.append(piece)
        if self._problem is not None and not self._under_way:
            raise self._problem
        return begun

    def _end(self, problem: MediaError) -> None:
        self._problem = self._problem or problem
        for piece in self._under_way:
            piece.is_stopped = True

    def _begun(self) -> Download | None:
        """Return the next piece, which may be there; None if the others must come first, if any."""
        while not self._wanted:
            step = None if self._under_way else next(self._steps, None)
            if step is None:
                return None
            self._wanted = [url for url in dict.fromkeys(step) if url not in self._there]
        url = self._wanted.pop(0)
        part = PartialFile(self._folder, url)
        part.resume()
        if not part.path.exists():  # its facts alone are of no use
            part.restart()
        file = self.playlist.file
        record = MediaFile(url, PART, parent=file.url, page=file.page)
        piece = Download(record, part, self._share, ())
        if piece.is_whole:
            self._share.promise(PART, piece.size)
            self._keep(piece)
        return piece

    def _keep(self, piece: Download) -> None:
        url = piece.file.url
        self._there[url] = piece.rest()
        if url in self._lists:
            self._lists[url] = piece

    def _read(self, path: Path) -> _Steps:
        """Find the pieces; yield the addresses of what must be there to go on."""
        if path.stat().st_size > _LONGEST:
            raise MediaError("it is a playlist of more than 8 MB")
        base, data = self.playlist.place, path.read_bytes()
        if self.playlist.content_type == DASH:
            self._tracks = read_dash(data, base, self._fits)
        else:
            read = read_hls(_text(data), base)
            self._tracks = [read] if isinstance(read, Track) else (yield from self._chosen(read))
        yield [url for track in self._tracks for url in track.files]

    def _chosen(self, variants: list[Variant]) -> Generator[list[str], None, list[Track]]:
        """Read the playlists of the best quality there is room for."""
        best, tracks = variants[0], (yield from self._tracks_of(variants[0]))
        seconds = max(track.seconds for track in tracks)
        of_its_kind = [each for each in variants if each.has_pictures == best.has_pictures]
        for variant in of_its_kind:
            chosen = variant
            if self._fits(int(variant.bandwidth * seconds / 8)):
                break
        return tracks if chosen is best else (yield from self._tracks_of(chosen))

    def _tracks_of(self, variant: Variant) -> Generator[list[str], None, list[Track]]:
        for url in variant.playlists:
            self._lists.setdefault(url)
        yield [*variant.playlists]
        tracks = []
        for number, url in enumerate(variant.playlists):
            piece = self._lists[url]
            if piece is None or piece.size > _LONGEST:
                raise MediaError("it is a playlist of more than 8 MB")
            read = read_hls(_text(piece.path.read_bytes()), piece.place)
            if not isinstance(read, Track):
                raise MediaError("it is a playlist of playlists of playlists")
            pictures = variant.has_pictures and not number
            tracks.append(Track(read.pieces, read.seconds, pictures))
        return tracks

    def _fits(self, size: int) -> bool:
        free = shutil.disk_usage(self._folder.parent).free
        return not self._share.refusal(PART, size, size, free)


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", errors="replace")
