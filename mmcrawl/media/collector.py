"""One process's share of collecting: what to fetch next, and the outcome.

The process holds a lock as long as it lives. If the lock of another process on this machine is
free, that process has died, and what it had taken is fetched by others at once. Leases of other
machines have to expire.
"""

import secrets
import shutil
import socket
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from mmcrawl.errors import ListingError, MediaError, StoreError
from mmcrawl.frontier.urls import host_of
from mmcrawl.media.download import Download, bundle_of, kept
from mmcrawl.media.files import PartialFile, digest_of
from mmcrawl.media.hosted import Players
from mmcrawl.media.index import PART, MediaFile, State
from mmcrawl.media.magic import DASH
from mmcrawl.media.parts import DEEPEST, depth_of, parts_to_fetch
from mmcrawl.media.parts import Collection as MediaCollection
from mmcrawl.media.sizes import Budget
from mmcrawl.media.streams import Stream
from mmcrawl.page.lists.playlists import read_playlist
from mmcrawl.page.media import PLAYED, hosted_kind, media_kind
from mmcrawl.page.urls import without_tracking
from mmcrawl.text.media_kinds import DOCUMENT, SIMULATION

_PLAYER = "it is a page with a player, not a file"
_DASH = "it is a playlist of DASH, which yt-dlp fetches: hosted=5GB"
LEASE = 120.0
"""Seconds without a sign of life after which others may fetch what a process has taken."""


class Collector:
    """Takes addresses, and settles them. Thread-safe.

    Args:
        budget: how much may be kept; what is held already is added to it.
        players: what fetches the media of players of other sites; None if they are not wanted.

    Attributes:
        kept: files that came, `kept_bytes` their bytes.
        is_stopped: set when all is to be left for another time, so that nothing long is begun.
    """

    def __init__(
        self,
        collection: MediaCollection,
        budget: Budget,
        kinds: Collection[str],
        players: Players | None = None,
    ) -> None:
        self.collection = collection
        self.kept = self.kept_bytes = 0
        self._counting = Lock()
        self._index = collection.index
        self._budget = budget
        self._kinds = frozenset(kinds)
        self._under_way: dict[str, Download] = {}
        self._streams: set[Stream] = set()
        self._pieces: dict[Download, Stream] = {}  # those in progress
        self._players = players
        self._at_players: deque[MediaFile] = deque()
        self.is_stopped = False
        self._settled_before = 0
        self._owners = collection.folder / "owners"
        self.owner = f"{socket.gethostname()}-{secrets.token_hex(8)}"
        self._lock = FileLock(self._owners / self.owner, timeout=0, thread_local=False)
        try:
            self._owners.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except OSError as error:
            collection.index.close()
            raise StoreError(
                f"folder {collection.folder} cannot be used ({error.strerror}); name another one"
                " with -s MMCRAWL_MEDIA=FOLDER"
            ) from error

    def begin(self, again: Collection[State] = ()) -> None:
        """Release what a dead process had taken, and what earlier limits left out."""
        for owner in self._index.owners():
            lock = self._owners / owner
            if lock.exists() and not _is_held(lock):  # else it is of another machine, or alive
                self._index.give_back(owner)
        self._index.again({State.SKIPPED, *again})
        summary = self._index.summary()
        self._budget.used.update(summary.held_bytes)
        self._settled_before = summary.settled
        if self._players is not None:
            held = self._index.files([State.HELD])
            self._players.used = sum(file.size for file in held if _not_fetched(file.url))

    def progress(self) -> tuple[int, int]:
        """Return how many addresses were settled since it began, and how many still wait."""
        summary = self._index.summary()
        settled = summary.settled - self._settled_before
        return settled, sum(summary.addresses.values()) - summary.settled

    def add(self, media: Iterable[tuple[str, str, str]]) -> int:
        """Add media, without parameters that track visitors; return how many addresses are new."""
        now = time.time()
        return self._index.add(
            MediaFile(without_tracking(url), kind, page=page, added_at=now)
            for url, kind, page in media
            if kind in self._kinds
        )

    def take(self, most: int, busy: Collection[str] = ()) -> list[Download]:
        """Take addresses to fetch, or to keep if complete; None if none waits but at players."""
        kinds = {*self._kinds, PART}
        downloads: list[Download] = []
        while not downloads:
            now = time.time()
            waiting = {host_of(file.url) for file in self._at_players}
            files = self._index.take(
                self.owner,
                now,
                now + LEASE,
                most,
                kinds=kinds,
                busy={*busy, *waiting},
                lives=lambda owner: _is_held(self._owners / owner),
            )
            if not files:
                break
            downloads = self._begun(files)
        return downloads

    def renew(self) -> None:
        self._index.renew(self.owner, time.time() + LEASE)

    def keep(self, download: Download) -> list[Download]:
        """Put a file, or what a playlist names, into the store; return the next pieces. Slow."""
        if piece_of := self._pieces.pop(download, None):
            return self._go_on(piece_of, download)
        try:
            if download.content_type == DASH:
                self._leave_to_player(download, _DASH)
                return []
            if download.is_playlist:
                stream = Stream(download, self._budget)
                self._streams.add(stream)
                return self._go_on(stream)
            if download.is_list:
                self._take_list(download)
                return []
            with self._writing():
                file = download.keep(self.collection.files)
        except MediaError as error:
            self.settle(download, State.FAILED, str(error))
            return []
        self._held(file)
        download.forget()
        return []

    def settle(self, download: Download, state: State, reason: str) -> None:
        """Record why a download failed; a partial file stays if another attempt can continue it."""
        if piece_of := self._pieces.pop(download, None):
            problem = MediaError(f"a piece of it: {reason}", left_out=state is State.SKIPPED)
            self._go_on(piece_of, download, problem)
            return
        size = download.size
        if download.is_page and self._players is not None:
            self._leave_to_player(download, reason)
            return
        if state is State.FAILED:
            download.pause()
        else:
            download.give_up()
        self._under_way.pop(download.file.url, None)
        file = replace(download.file, size=download.announced or size)
        self._index.settle([_noted(file, state, reason)], self.owner)

    def _leave_to_player(self, download: Download, reason: str) -> None:
        """Pass a page or playlist to yt-dlp; without yt-dlp, settle it with a reason."""
        file = download.file
        download.give_up()
        self._under_way.pop(file.url, None)
        if self._players is None:
            self._index.settle([_noted(file, State.SKIPPED, reason)], self.owner)
        else:
            self._at_players.append(file)

    @property
    def players_wait(self) -> bool:
        """Whether `fetch_player` has work."""
        return bool(self._at_players)

    def fetch_player(self) -> None:
        """Fetch the media of the next player. Takes long; call it from one thread at a time."""
        if self._players is None or self.is_stopped:
            return
        file = self._at_players[0]  # it stays there for its host to be busy
        folder = self.collection.partial / f"{digest_of(file.url)}.player"
        try:
            with self._writing():
                made = self._players.fetch(file, folder, self._budget, lambda: self.is_stopped)
                if not self.is_stopped:
                    self._held(kept(file, *made, self.collection.files))
        except MediaError as error:
            if not self.is_stopped:
                state = State.SKIPPED if error.left_out else State.FAILED
                self._index.settle([_noted(file, state, str(error))], self.owner)
            if self.is_stopped or error.again:  # what has come is for another time
                return
        finally:
            self._at_players.popleft()
        if not self.is_stopped:
            shutil.rmtree(folder, ignore_errors=True)

    def leave(self) -> None:
        """Release what was not settled, for the next process."""
        for stream in self._streams:
            stream.stop()
        for download in self._under_way.values():
            download.pause()
        self._streams.clear()
        self._under_way.clear()
        self._index.give_back(self.owner)

    def close(self) -> None:
        try:
            self.leave()
        finally:
            self._lock.release()
            with suppress(OSError):
                Path(self._lock.lock_file).unlink(missing_ok=True)
            self._index.close()

    def _take_list(self, download: Download) -> None:
        """Queue what a playlist names; the playlist itself is no file of the collection."""
        file, content = download.file, download.rest().read_bytes()
        if depth_of(file, self._index) >= DEEPEST:
            raise MediaError("the playlists are nested too deeply")
        try:
            named = read_playlist(content, download.place, download.declared)
        except ListingError as error:
            raise MediaError(str(error)) from error
        media = [(one.url, one.kind) for one in named.media if one.kind in self._kinds]
        self._index.add(
            MediaFile(url, kind, parent=file.url, page=file.page, added_at=time.time())
            for url, kind in (*media, *((link.url, file.kind) for link in named.links))
        )
        count = f"{len(named.media) + len(named.links):,}"
        self.settle(download, State.SKIPPED, f"it is a playlist, and names {count} to be fetched")

    def _go_on(
        self, stream: Stream, piece: Download | None = None, problem: MediaError | None = None
    ) -> list[Download]:
        """Advance a stream; return the pieces to fetch, or join them if all are there."""
        try:
            pieces = stream.go_on(piece, problem)
            if pieces is not None:
                self._pieces.update(dict.fromkeys(pieces, stream))
                return pieces
            with self._writing():
                file = stream.join(self.collection.files, lambda: self.is_stopped)
        except MediaError as error:
            if not self.is_stopped:
                self._streams.discard(stream)
                file, state = (
                    stream.playlist.file,
                    State.SKIPPED if error.left_out else State.FAILED,
                )
                file = _noted(replace(file, size=stream.size), state, str(error))
                stream.end(error)
                self._under_way.pop(file.url, None)
                self._index.settle([file], self.owner)
            return []
        self._held(file)
        stream.end()
        self._streams.discard(stream)
        return []

    def _held(self, file: MediaFile) -> None:
        if self._index.settle([file], self.owner):
            with self._counting:
                self.kept += 1
                self.kept_bytes += file.size
            self._index.add(parts_to_fetch(file, self.collection.files, self._index))
        self._under_way.pop(file.url, None)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"media store {self.collection.files.name} cannot be written"
                f" ({error.strerror or error}); mend that, or name another place with"
                " -s MMCRAWL_MEDIA=PLACE, and run the same command again"
            ) from error

    def _begun(self, files: Iterable[MediaFile]) -> list[Download]:
        """Return what can be fetched; settle the rest."""
        downloads, others = [], []
        for file in files:
            reason = _not_fetched(file.url)
            if reason == _PLAYER and self._players is not None:
                self._at_players.append(file)
                continue
            if reason:
                others.append(_noted(file, State.SKIPPED, reason))
                continue
            try:
                part = PartialFile(self.collection.partial, file.url)
            except MediaError as error:
                others.append(_noted(file, State.FAILED, str(error)))
                continue
            part.resume()
            download = Download(file, part, self._budget, self._kinds)
            self._under_way[file.url] = download
            downloads.append(download)
        if others:
            self._index.settle(others, self.owner)
        return downloads


def _noted(file: MediaFile, state: State, reason: str) -> MediaFile:
    return replace(file, state=state, reason=reason, changed_at=time.time())


def _not_fetched(url: str) -> str:
    """Return why an address is not even asked, "" if it is."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "it is no address"
    if parts.scheme not in ("http", "https"):
        return f"{parts.scheme}: is a protocol that is not fetched"
    hosted = hosted_kind(host_of(url), f"{parts.path}?{parts.query}" if parts.query else parts.path)
    if bundle_of(url)[0]:
        return ""
    if hosted in (SIMULATION, DOCUMENT) and media_kind(url) is None:
        return f"it is a page of its host that shows a {hosted}, and no file"
    return _PLAYER if hosted in PLAYED else ""


def _is_held(lock: Path) -> bool:
    """Return whether a process of this machine holds a lock; a lock of a dead one is removed."""
    try:
        with FileLock(lock, timeout=0) if lock.exists() else nullcontext():
            lock.unlink(missing_ok=True)
    except Timeout:
        return True
    return False
