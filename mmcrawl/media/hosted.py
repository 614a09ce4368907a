"""Players of other sites (YouTube, Vimeo, Bilibili …): yt-dlp fetches their media.

yt-dlp is a separate program, installed by users, and runs for one address at a time. Its requests
go through a proxy of ours, so that it reaches only addresses that pages may reach too. The proxy
understands CONNECT and requests with a whole URL.
"""

import os
import select
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import BinaryIO, Self, cast
from urllib.parse import urlsplit

from mmcrawl.errors import MediaError, MmcrawlError
from mmcrawl.frontier.urls import PrivateHosts, host_of, is_private_address, port_of
from mmcrawl.media.index import MediaFile
from mmcrawl.media.magic import HEAD, kind_of, type_of
from mmcrawl.media.sizes import Budget, Room

_LOOK = 0.2
_TAIL = 4_096
_MOST_MEMORY = 2 << 30  # bytes of one process
# Ends itself, the program and what that started, as soon as standard input ends: all are of one
# process group. Whoever holds the other end of it does the same if this process is killed alone.
# What it starts reads pages of strangers, of any length, into memory: each process gets 2 GB.
_LEASH = f"""
import os, resource, signal, subprocess, sys, threading
hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
most = {_MOST_MEMORY} if hard == resource.RLIM_INFINITY else min({_MOST_MEMORY}, hard)
resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
def watch():
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=watch, daemon=True).start()
code = program.wait()
os._exit(code if 0 <= code < 256 else 1)
"""


@contextmanager
def started(command: Sequence[str]) -> Iterator[tuple["subprocess.Popen[bytes]", bytearray]]:
    """Start a program in its own session without proxies, give its last messages, and end it."""
    clean = {
        name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
    }
    process = subprocess.Popen(  # noqa: S603 - what the user named, or ffmpeg
        [sys.executable, "-c", _LEASH, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=clean,
        start_new_session=True,
    )
    tail = bytearray()
    reader = Thread(target=_read, args=(process.stderr, tail), daemon=True)
    reader.start()
    try:
        yield process, tail
        reader.join(1.0)
    finally:
        cast("BinaryIO", process.stdin).close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(command: Sequence[str], seconds: float, is_stopped: Callable[[], bool]) -> str:
    """Run a program with a time limit; return its complaint, "" if it succeeded."""
    late = time.monotonic() + seconds
    with started(command) as (process, tail):
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK)
            if is_stopped():
                raise MediaError("it was stopped", left_out=True)
            if process.returncode is None and time.monotonic() > late:
                raise MediaError(f"{os.path.basename(command[0])} takes too long to join it")
    lines = tail.decode(errors="replace").strip().splitlines()
    failed = lines[-1][-200:] if lines else f"exit code {process.returncode}"
    return failed if process.returncode else ""


def _read(stream: BinaryIO, tail: bytearray) -> None:
    """Keep the last bytes received."""
    with suppress(ValueError), stream:
        while data := os.read(stream.fileno(), 65_536):
            tail += data
            del tail[:-_TAIL]


_LONGEST_HEAD = 65_536
_IDLE = 120.0  # seconds
_CHUNK = 65_536
_REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_UNREACHABLE = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_OF_PROXIES = (b"proxy-", b"connection:", b"keep-alive:")


class GuardedProxy:
    """A running proxy with its `url`, and the private hosts it `refused`; a context manager."""

    def __init__(self, private: PrivateHosts) -> None:
        self.refused: list[str] = []
        self._server = _Server(("127.0.0.1", 0), _Connection)
        self._server.private, self._server.refused = private, self.refused
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="mmcrawl-proxy", daemon=True
        ).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    private: PrivateHosts
    refused: list[str]

    def handle_error(self, *_: object) -> None:
        """Do not report broken connections."""


class _Connection(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.request.settimeout(_IDLE)
        head, rest = self._head()
        if not head:
            return
        method, target, *_ = [*head.split(b"\r\n", 1)[0].split(b" "), b"", b""]
        is_tunnel = method == b"CONNECT"
        url = target.decode("latin-1")
        url = f"https://{url}" if is_tunnel else url
        try:
            there = self._connected(host_of(url), port_of(url))
        except PermissionError:
            self.server.refused.append(host_of(url))
            self.request.sendall(_REFUSED)
            return
        except (OSError, ValueError):
            self.request.sendall(_UNREACHABLE)
            return
        with there:
            if is_tunnel:
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                there.sendall(_forwarded(head, url) + rest)
                rest = b""
            there.sendall(rest)
            self._pass_on(there)

    def _head(self) -> tuple[bytes, bytes]:
        """Return the head of a request, and the bytes after it."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.request.recv(_CHUNK)
            data += more
            if not more or len(data) > _LONGEST_HEAD:
                return b"", b""
        head, _, rest = data.partition(b"\r\n\r\n")
        return head, rest

    def _connected(self, host: str, port: int) -> socket.socket:
        """Return a connection; PermissionError where all that the host stands for is private."""
        private = self.server.private
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        if not private.opened(host, port):
            found = [each for each in found if not is_private_address(str(each[4][0]))]
            if not found:
                raise PermissionError
        problem: OSError | None = None
        for *_, address in found:
            try:
                return socket.create_connection((str(address[0]), port), _IDLE)
            except OSError as error:
                problem = error
        raise problem or OSError("it has no address")

    def _pass_on(self, there: socket.socket) -> None:
        """Relay what either side sends, until one has ended."""
        sides = {self.request: there, there: self.request}
        with suppress(OSError):
            while ready := select.select([*sides], [], [], _IDLE)[0]:
                for side in ready:
                    data = side.recv(_CHUNK)
                    if not data:
                        return
                    sides[side].sendall(data)


def _forwarded(head: bytes, url: str) -> bytes:
    """Return the head of a request as the origin server expects it."""
    first, *fields = head.split(b"\r\n")
    method, _, version = first.split(b" ", 2)
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [each for each in fields if not each.lower().startswith(_OF_PROXIES)]
    line = b" ".join((method, path.encode("latin-1"), version))
    return b"\r\n".join((line, *kept, b"Connection: close", b"", b""))


# -- the proxy through which it asks the network --------------------------------------------------


_STALLED = 5.0  # as many times the time a server has to answer
_LONGEST_RUN = 6 * 3600.0
# Of other protocols, as rtmp, it has programs ask that know of no proxy.
_GUARDED = "[protocol~='^(http|m3u8)']"
_UNFINISHED = (".part", ".ytdl", ".json", ".temp")


class YtDlp:
    """Fetches the media of players of other sites.

    Args:
        private: the private hosts that may be asked.
        pause: seconds between two requests that it makes for pages.
        timeout: seconds in which a server has to answer.
    """

    def __init__(
        self, program: str, private: PrivateHosts, pause: float = 0.0, timeout: float = 60.0
    ) -> None:
        beside = os.path.dirname(sys.executable)  # where pip puts it, not on the PATH
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
        """Fetch a medium, or its rest; a MediaError if it fails, an OSError for the folder."""
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
            command += ["--embed-metadata", "--format", f"bv*{_GUARDED}+ba{_GUARDED}/b{_GUARDED}"]
        else:
            command += ["--format", f"b{_GUARDED}"]
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
    if any(line.startswith("MemoryError") for line in lines):
        return f"yt-dlp: it needs more than {_MOST_MEMORY >> 30} GB of memory"
    errors = [line for line in lines if line.startswith("ERROR:")] or lines[-1:] or ["it failed"]
    text = " ".join(errors[-1].removeprefix("ERROR:").split()).partition("; please report")[0]
    return f"yt-dlp: {text[:200]}"


def _size_of(folder: Path) -> int:
    size = 0
    for path in folder.iterdir():
        with suppress(OSError):  # it may have been renamed
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
    """The program that fetches media of players, and the limits."""

    program: YtDlp
    most: int
    used: int = 0

    def fetch(
        self, file: MediaFile, folder: Path, budget: Budget, is_stopped: Callable[[], bool]
    ) -> tuple[Path, str]:
        """Fetch a player's media; return path and MIME type; raises as :meth:`YtDlp.fetch`."""
        folder.mkdir(parents=True, exist_ok=True)
        own = Room(self.most - self.used, f"no room within hosted ({self.most:,} bytes)")
        room = min(budget.room(file.kind, shutil.disk_usage(folder).free), own)
        if room.size <= 0:
            raise MediaError(room.reason, left_out=True)
        path, content_type = self.program.fetch(file.url, folder, room, is_stopped)
        if not kind_of(content_type, file.kind):
            raise MediaError(f"yt-dlp returned {content_type or 'an unknown type'}, not a medium")
        size = path.stat().st_size
        self.used += size
        budget.promise(file.kind, size)
        return path, content_type
