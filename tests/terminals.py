"""Terminals of a test's own."""

import fcntl
import os
import pty
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.waiting import HANG


@contextmanager
def terminal(columns: int) -> Iterator[tuple[int, list[bytes]]]:
    """Give a terminal: the file that a program writes to, and the pieces that it wrote so far."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    pieces: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(ours, 65_536):
                pieces.append(piece)
        except OSError:
            return  # the other side is closed

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield theirs, pieces
    finally:
        os.close(theirs)
        reader.join(HANG)
        os.close(ours)
