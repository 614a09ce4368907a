"""Commands of mmcrawl that the browser starts: each is a process of its own, which ends with it.

The browser holds the other end of the process's standard input, and never writes to it. When that
end is closed, by `end` or since the browser is gone, however it ended, the process is interrupted
as by Ctrl-C: a crawl can go on later, and what an export has written so far is removed.
"""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from mmcrawl.browse.arguments import Problem

_MOST = 4  # exports, or topics that are learnt: each takes a processor, and memory
_PATIENCE = 20.0  # seconds for a crawl to end when the browser is ended
_AGAIN = 60.0  # seconds after which one that was interrupted is so at any price

_PROGRAM = """
import os, signal, sys, threading, time
from mmcrawl.commands.program import main

def watch(thread):
    while os.read(0, 1):
        pass
    while True:  # an interruption in a callback, or while a module is loaded, is lost
        signal.pthread_kill(thread, signal.SIGINT)
        time.sleep({again})

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
arguments = (threading.main_thread().ident,)
try:
    threading.Thread(target=watch, args=arguments, daemon=True).start()
    main()
except KeyboardInterrupt:
    sys.exit(130)
"""


def begin(
    arguments: Sequence[str], said: IO[bytes], *, whole: bool = False
) -> subprocess.Popen[bytes]:
    """Begin a command; what it says is written to a file, and its results too if that is whole."""
    return subprocess.Popen(  # noqa: S603 - a program of ours
        [sys.executable, "-c", _PROGRAM.format(again=_AGAIN), *arguments],
        stdin=subprocess.PIPE,
        stdout=said if whole else subprocess.DEVNULL,
        stderr=said,
        start_new_session=True,  # Ctrl-C in the terminal is for the browser
    )


def end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a command; it is interrupted again only where that has not ended it for a while.

    Scrapy takes a second interruption for "at any price".
    """
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


def end_all(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """Interrupt commands and wait for them; those that take too long are ended by force."""
    ending = list(processes)
    for process in ending:
        end(process)
    for process in ending:
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def failure(process: subprocess.Popen[bytes], said: Path) -> str:
    """Return the last thing that a command wrote to a file when it failed, "" if it did not."""
    if process.poll() in (None, 0):
        return ""
    return said.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]


def require_room(begun: Iterable[subprocess.Popen[bytes]]) -> None:
    """Refuse one more command where as many run as may at once."""
    if sum(map(runs, begun)) >= _MOST:
        raise Problem(503, "programs", most=_MOST)


def is_ending(process: subprocess.Popen[bytes]) -> bool:
    return process.stdin is not None and process.stdin.closed


def runs(process: subprocess.Popen[bytes] | None) -> bool:
    return process is not None and process.poll() is None
