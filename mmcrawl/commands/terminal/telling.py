"""Messages on standard error: a problem on one line, and the progress of long work.

On a terminal the progress line is redrawn, elsewhere it is printed now and then.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread, current_thread, main_thread
from time import monotonic
from types import TracebackType
from typing import Any, Self

from mmcrawl.text.writing import as_called, printable, program

_SHOWN_AFTER = 2.0  # seconds; where there is no terminal said again after twice as long
_DRAWN_EVERY = 0.5
_BROKEN_OFF_AFTER = 1.0
_SAID_WITHIN = 0.5
_DOING = {
    "indexing": "indexing new versions",
    "listing": "looking up URLs",
    "reading": "reading pages",
    "ranking": "computing ranks",
}
_CLEAR, _SHOW_CURSOR = "\r\x1b[K", "\x1b[?25h"


def complain(command: str, problem: object) -> None:
    """Print on one line what is wrong with a command's input, or with what it found."""
    room = "\r\x1b[K" if sys.stderr.isatty() else ""  # a line that is drawn again may stand there
    print(f"{room}{program()} {command}: {printable(as_called(str(problem)))}", file=sys.stderr)


class Telling:
    """Prints a command's progress on standard error; nothing for quick work.

    What is written to standard output meanwhile says enough: on a terminal the line makes room.

    Args:
        name: Of the command, as it begins its sentences.
        what: It does; may be changed at any time, "" says nothing.
    """

    def __init__(self, name: str, what: str) -> None:
        self.what = what
        self._name = name
        self._count: dict[str, str] = {}  # how far `what` is
        self._began = monotonic()
        self._over = Event()
        self._drawn = False
        self._live = sys.stderr.isatty()
        self._thread = Thread(target=self._tell, daemon=True)

    def __enter__(self) -> Self:
        self._stdout = sys.stdout
        if self._live:
            sys.stdout = _Noticed(sys.stdout, self._make_room)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._live:
            self._make_room()
            sys.stdout = self._stdout

    def progress(self, what: str, done: int, total: int) -> None:
        """Show how much is done; a total of 0 is unknown."""
        doing = _DOING.get(what, what)
        self._count = {doing: f": {done:,} of {total:,}" if total else f": {done:,}"}
        self.what = doing

    def _tell(self) -> None:
        wait, said, again = _SHOWN_AFTER, "", 0.0
        while not self._over.wait(wait):
            passed = monotonic() - self._began
            count = self._count.get(self.what, "")
            line = f"{self._name}: {self.what}{count} ({passed:.0f} s)"
            if self._live:
                wait = _DRAWN_EVERY
                if self.what and passed >= _SHOWN_AFTER:
                    self._drawn = True
                    print(_CLEAR + line, end="", file=sys.stderr, flush=True)
            elif self.what and (self.what != said or passed >= again):
                said, again = self.what, 2 * passed
                print(line, file=sys.stderr, flush=True)

    def _make_room(self) -> None:
        """Remove the line for a while."""
        self._began = monotonic() if not self._over.is_set() else self._began
        if self._drawn:
            self._drawn = False
            print(_CLEAR, end="", file=sys.stderr, flush=True)


class _Noticed:
    """A stream that tells before something is written to it."""

    def __init__(self, stream: Any, tell: Callable[[], None]) -> None:
        self._stream, self._tell = stream, tell

    def __getattr__(self, name: str) -> Any:
        if name in ("write", "writelines", "buffer"):
            self._tell()
        return getattr(self._stream, name)


@contextmanager
def broken_off_in_time(say: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM stop a command within two seconds.

    They raise KeyboardInterrupt, once, so that what is half made can be removed. Code that is not
    Python's does not hear it, as compression for many seconds, and removing may take its time: the
    process ends by itself after a while, as if it had been killed, which whatever stores expects.
    """
    if current_thread() is not main_thread():
        yield
        return
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN  # of a job in the background
    }
    over, heard, said, saying = Event(), list[int](), Event(), Lock()

    def say_once() -> None:
        if saying.acquire(timeout=_SAID_WITHIN):  # else another thread is stuck at it
            if not said.is_set():
                said.set()
                say()
            saying.release()

    def interrupt(number: int, _: object) -> None:
        heard.append(number)
        if len(heard) == 1:
            raise KeyboardInterrupt

    def watch() -> None:
        while number := ours.recv(1):
            if number[0] in before and not over.wait(_BROKEN_OFF_AFTER):
                print(_SHOW_CURSOR * sys.stderr.isatty(), end="", file=sys.stderr)
                say_once()
                _end_processes()
                os._exit(130)

    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    thread = Thread(target=watch, daemon=True)
    thread.start()
    # Handlers of Python wait until the code that runs comes back; this is written to at once.
    wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    for number in before:
        signal.signal(number, interrupt)
    ended = True
    try:
        yield
    except KeyboardInterrupt:
        ended = False  # Python still waits for threads when it ends
        say_once()
        raise
    finally:
        if ended:
            over.set()
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        theirs.close()
        if ended:
            thread.join()
            ours.close()


def _end_processes() -> None:
    """End the processes that read beside this one; their semaphores would outlive all of them."""
    if "multiprocessing.util" in sys.modules:
        import multiprocessing.util

        for process in multiprocessing.active_children():
            process.kill()
        multiprocessing.util._run_finalizers(0)  # type: ignore[attr-defined]
