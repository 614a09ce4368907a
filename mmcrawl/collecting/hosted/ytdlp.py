"""yt-dlp, run as a program."""

import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mmcrawl.collecting.hosted.proxy import GuardedProxy
from mmcrawl.collecting.leash import started
from mmcrawl.collecting.magic import HEAD, kind_of, type_of
from mmcrawl.collecting.model import MediaFile
from mmcrawl.collecting.sizes import Budget, Room
from mmcrawl.errors import MediaError, MmcrawlError
from mmcrawl.frontier.addresses import PrivateHosts

_LOOK = 0.2
_STALLED = 5.0  # as many times the time a server has to answer
_LONGEST_RUN = 6 * 3600.0
_UNFINISHED = (".part", ".ytdl", ".json", ".temp")


class YtDlp:
    """Fetches what players of other sites play.

    Args:
        program: name or path of yt-dlp.
        private: the private hosts that may be asked.
        pause: seconds between two requests that it makes for pages.
        timeout: seconds in which a server has to answer.

    Raises:
        MmcrawlError: there is no such program.
    """

    def __init__(
        self, program: str, private: PrivateHosts, pause: float = 0.0, timeout: float = 60.0
    ) -> None:
        beside = os.path.dirname(sys.executable)  # where pip puts it, though no one is told
        found = shutil.which(program) or shutil.which(program, path=beside)
        if found is None:
            raise MmcrawlError(
                f"program {program} is not there, which hosted= needs; pip install yt-dlp, or name"
                " it with -s MMCRAWL_YTDLP=PROGRAM"
            )
        self._program, self._private = found, private
        self._pause, self._timeout = pause, timeout
        self._next_at = 0.0

    def fetch(
        self, url: str, folder: Path, room: Room, is_stopped: Callable[[], bool]
    ) -> tuple[Path, str]:
        """Fetch a medium; go on where a former run stopped.

        Args:
            url: of the page with the player.
            folder: of this address alone.
            room: how much may come.
            is_stopped: asked often whether to break off.

        Returns:
            Where it is, and its MIME type.

        Raises:
            MediaError: it cannot be had, or was stopped.
            OSError: the folder cannot be used.
        """
        folder.mkdir(parents=True, exist_ok=True)
        while time.monotonic() < self._next_at and not is_stopped():
            time.sleep(_LOOK)
        with GuardedProxy(self._private) as proxy:
            said = self._run(self._command(url, folder, room, proxy.url), folder, room, is_stopped)
            self._next_at = time.monotonic() + self._pause
            if said and proxy.refused:
                said = f"it leads to {proxy.refused[0]}, which is on a private network"
        if said:
            raise MediaError(said, again=True)
        return _found_in(folder, room)

    def _command(self, url: str, folder: Path, room: Room, proxy: str) -> list[str]:
        command = [
            self._program,
            "--ignore-config",
            "--no-cache-dir",
            "--no-playlist",
            "--continue",
        ]
        command += ["--quiet", "--no-warnings", "--no-progress", "--no-mtime", "--no-update"]
        command += ["--proxy", proxy, "--socket-timeout", f"{self._timeout:g}", "--retries", "3"]
        command += ["--sleep-requests", f"{self._pause:g}", "--max-filesize", str(room.size)]
        command += ["--format-sort", "ext:mp4:m4a", "--paths", str(folder)]
        command += ["--output", "media.%(ext)s"]
        if shutil.which("ffmpeg") is not None:
            command += ["--embed-metadata"]
        return [*command, "--", url]

    def _run(
        self, command: list[str], folder: Path, room: Room, is_stopped: Callable[[], bool]
    ) -> str:
        """Run it to its end; return why it failed, "" if it did not."""
        begun = moved = time.monotonic()
        before = -1
        with started(command) as (process, tail):
            while process.poll() is None:
                time.sleep(_LOOK)
                now, size = time.monotonic(), _size_of(folder)
                if size != before:
                    before, moved = size, now
                if is_stopped():
                    raise MediaError("it was stopped", left_out=True, again=True)
                if size > room.size:
                    raise MediaError(room.reason, left_out=True)
                if now - moved > _STALLED * self._timeout or now - begun > _LONGEST_RUN:
                    raise MediaError("yt-dlp does not get on", again=True)
            return _complaint(bytes(tail)) if process.returncode else ""


def _complaint(tail: bytes) -> str:
    lines = tail.decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")] or lines[-1:] or ["it failed"]
    text = " ".join(errors[-1].removeprefix("ERROR:").split()).partition("; please report")[0]
    return f"yt-dlp: {text[:200]}"


def _size_of(folder: Path) -> int:
    size = 0
    for path in folder.iterdir():
        with suppress(OSError):  # it may be renamed meanwhile
            size += path.stat().st_size
    return size


def _found_in(folder: Path, room: Room) -> tuple[Path, str]:
    for path in sorted(folder.iterdir()):
        if path.suffix in _UNFINISHED:
            continue
        with path.open("rb") as file:
            content_type = type_of(file.read(HEAD), "")
        if path.stat().st_size > room.size:
            break
        return path, content_type
    raise MediaError(room.reason, left_out=True)  # it says nothing of what is too large


@dataclass(slots=True)
class Players:
    """What fetches the media of players, and how much of them.

    Attributes:
        program: fetches one.
        most: bytes of all of them.
        used: bytes of those that are held.
    """

    program: YtDlp
    most: int
    used: int = 0

    def fetch(
        self, file: MediaFile, folder: Path, budget: Budget, is_stopped: Callable[[], bool]
    ) -> tuple[Path, str]:
        """Fetch what a player plays; return where it is, and its MIME type.

        Args:
            file: the record of the player.
            folder: where it comes.
            budget: how much may be kept of all media.
            is_stopped: asked often whether to break off.

        Raises:
            MediaError: it cannot be had, there is no room, or it was stopped.
            OSError: the folder cannot be used.
        """
        folder.mkdir(parents=True, exist_ok=True)
        own = Room(self.most - self.used, f"no room within hosted ({self.most:,} bytes)")
        room = min(budget.room(file.kind, shutil.disk_usage(folder).free), own)
        if room.size <= 0:
            raise MediaError(room.reason, left_out=True)
        path, content_type = self.program.fetch(file.url, folder, room, is_stopped)
        if not kind_of(content_type, file.kind):
            raise MediaError(f"yt-dlp brings {content_type or 'what nothing tells'}, no medium")
        size = path.stat().st_size
        self.used += size
        budget.promise(file.kind, size)
        return path, content_type
