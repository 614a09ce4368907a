"""Long work says what it does: on a terminal in a line that is drawn anew, else now and then."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread
from time import monotonic
from types import TracebackType
from typing import Any, Self

_SHOWN_AFTER = 2.0  # seconds, on a terminal
_SAID_AFTER = 10.0  # elsewhere, and then after twice as long again
_DRAWN_EVERY = 0.5
_CLEAR = "\r\x1b[K"


class Telling:
    """Says on standard error what a command does, while it does it; nothing of what is quick.

    What is written to standard output meanwhile says enough: on a terminal the line makes room.

    Args:
        name: Of the command, as it begins its sentences.
        what: It does; may be changed at any time, "" says nothing.
        said_after: Seconds until the first line where there is no terminal.
    """

    def __init__(self, name: str, what: str, *, said_after: float = _SAID_AFTER) -> None:
        self.what = what
        self._name, self._said_after = name, said_after
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

    def _tell(self) -> None:
        wait = _SHOWN_AFTER if self._live else self._said_after
        while not self._over.wait(wait):
            passed = monotonic() - self._began
            line = f"{self._name}: {self.what} ({passed:.0f} s)"
            if self._live:
                wait = _DRAWN_EVERY
                if self.what and passed >= _SHOWN_AFTER:
                    self._drawn = True
                    print(_CLEAR + line, end="", file=sys.stderr, flush=True)
            elif self.what:
                wait *= 2
                print(line, file=sys.stderr, flush=True)

    def _make_room(self) -> None:
        """Take the line away, for a while."""
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
def ended_at_once(says: str) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the process, also in the midst of code that is not Python's.

    For work that may be broken off anywhere, as closing what is durable already. A thread waits
    for the signal, since Python's handlers wait until compression comes back, many seconds later.

    Args:
        says: What is said then.
    """
    if current_thread() is not main_thread():
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    over = Event()

    def wait() -> None:
        if ours.recv(1) and not over.is_set():
            print(says, file=sys.stderr, flush=True)
            os._exit(130)

    thread = Thread(target=wait, daemon=True)
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        over.set()
        theirs.close()
        thread.join()
        ours.close()
