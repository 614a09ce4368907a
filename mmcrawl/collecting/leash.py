"""Programs on a leash: they end, with what they started, when we stop, or are gone."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import BinaryIO, cast

from mmcrawl.errors import MediaError

_LOOK = 0.2
_TAIL = 4_096
# Ends the program and what it started, as soon as standard input ends.
_LEASH = """
import os, signal, subprocess, sys, threading
program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
def watch():
    sys.stdin.buffer.read()
    os.killpg(program.pid, signal.SIGKILL)
threading.Thread(target=watch, daemon=True).start()
code = program.wait()
try:
    os.killpg(program.pid, signal.SIGKILL)
except OSError:
    pass
os._exit(code if 0 <= code < 256 else 1)
"""


@contextmanager
def started(command: Sequence[str]) -> Iterator[tuple["subprocess.Popen[bytes]", bytearray]]:
    """Start a program, with the end of what it complains of; end it afterwards.

    It is in a session of its own, since Ctrl-C is for us, and knows no proxies.
    """
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
        process.kill()
        process.wait()


def run(command: Sequence[str], seconds: float, is_stopped: Callable[[], bool]) -> str:
    """Run a program for so many seconds at most; return what it complains of, "" if it is done.

    Raises:
        MediaError: it takes longer, or was stopped.
    """
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
    """Keep the last bytes of what comes."""
    with suppress(ValueError), stream:
        while data := os.read(stream.fileno(), 65_536):
            tail += data
            del tail[:-_TAIL]
