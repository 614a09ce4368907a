"""Child processes that answer questions through pipes: JSON with its length first, then raw bytes.

They do not use :mod:`multiprocessing`, which would import the script that runs the crawl again in
each child. A child ends when its input is closed or its parent is gone. Ctrl-C is handled by the
parent, which ends its children. What a child logs is logged by the parent, with the next answer.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from logging.handlers import QueueHandler
from typing import Any, BinaryIO, cast

# -- How often Python looks for garbage in cycles of references -----------------------------------

_NEW_OBJECTS = 100_000, 20, 100
"""More than the new containers of a page, then after so many looks at the young, at the others."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def collect_seldom() -> None:
    """Collect garbage rarely, and never again what this process holds by now.

    A page becomes some ten thousands of objects, in no cycles, all gone with it. With Python's own
    thresholds these are walked through again and again while the page is read: a sixth of the time
    of parsing it, a fourth of that of naming the kinds and topics of its blocks.
    """
    gc.collect()
    gc.freeze()  # dictionaries and lexicons stay
    gc.set_threshold(*_NEW_OBJECTS)


# -- Signals ---------------------------------------------------------------------------------------


@contextmanager
def signals_to(handle: Callable[[int], object], *numbers: signal.Signals) -> Iterator[None]:
    """Let a function handle signals, by default those that ask to stop; in the main thread only."""
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in numbers or (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda number, _: handle(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# -- Processes that answer questions through pipes: JSON after its length, then bytes beside it ---

_PROGRAM = """
import sys
sys.path[:] = {path!r}
from {module} import serve
serve()
"""
_LENGTH = struct.Struct("<Q")


class ChildProcess:
    """A process of this interpreter that answers questions.

    One thread may send while another one receives; answers come in the order of the questions.

    Args:
        module: Its `serve` is run there, without arguments: see :class:`Questions`.

    Raises:
        OSError: the process does not start.
    """

    def __init__(self, module: str) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter, this program
            [sys.executable, "-c", _PROGRAM.format(path=sys.path, module=module)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._questions = cast("BinaryIO", self.process.stdin)
        self._answers = cast("BinaryIO", self.process.stdout)
        self.send(logging.getLogger().getEffectiveLevel())

    def ask(self, question: object, bodies: Sequence[bytes] = ()) -> Any:
        """Send a question and return the answer; for errors see `send` and `receive`."""
        self.send(question, bodies)
        return self.receive()

    def send(self, question: object, bodies: Sequence[bytes] = ()) -> None:
        """Send a question (JSON); an OSError or ValueError if the process has ended."""
        _send(question, self._questions, bodies)

    def receive(self) -> Any:
        """Return the next answer; an EOFError, OSError or ValueError if the process has ended."""
        (answer, records), _ = _received(self._answers)
        for record in map(logging.makeLogRecord, records):
            logging.getLogger(record.name).handle(record)
        return answer

    def end(self) -> None:
        """End the process by closing its input, and wait for it."""
        try:
            self.process.communicate()
        except (OSError, ValueError):  # the pipe is broken, or was closed before
            self.process.wait()


class Questions:
    """In the child: questions from standard input; stop signals are left to the parent."""

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        # Not `sys.stdin`: a thread that waits there at the end is a fatal error of Python.
        self._questions = os.fdopen(os.dup(0), "rb")
        self._answers = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._logged: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
        level, _ = self.next()
        logging.getLogger().addHandler(QueueHandler(self._logged))  # the parent has a format
        logging.getLogger().setLevel(level)
        collect_seldom()

    def next(self) -> tuple[Any, list[bytes]]:
        """Return the next question and its bytes; if the parent is gone the process ends here."""
        try:
            return _received(self._questions)
        except EOFError:
            os._exit(1)

    def in_thread(self, listen: Callable[[], object]) -> threading.Thread:
        """Listen in a thread; if that fails the process ends: its parent would wait for ever."""

        def run() -> None:
            try:
                listen()
            except BaseException:  # noqa: BLE001 - a want of memory too
                traceback.print_exc()
                os._exit(1)

        thread = threading.Thread(target=run, name="listener", daemon=True)
        thread.start()
        return thread

    def answer(self, what: object) -> None:
        """Answer the last question with what JSON can write; for the rest see `next`."""
        logged = [_plain_record(self._logged.get()) for _ in range(self._logged.qsize())]
        try:
            _send([what, logged], self._answers)
        except BrokenPipeError:
            os._exit(1)


def _send(message: object, pipe: BinaryIO, bodies: Sequence[bytes] = ()) -> None:
    text = json.dumps([message, [len(body) for body in bodies]]).encode()
    for part in (_LENGTH.pack(len(text)), text, *bodies):
        pipe.write(part)
    pipe.flush()


def _received(pipe: BinaryIO) -> tuple[Any, list[bytes]]:
    """Return what the other side sent, and its bodies; an EOFError if it closed the pipe."""
    (length,) = _LENGTH.unpack(_read(pipe, _LENGTH.size))
    message, lengths = json.loads(_read(pipe, length))
    return message, [_read(pipe, length) for length in lengths]


def _read(pipe: BinaryIO, length: int) -> bytes:
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _plain_record(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a record for `logging.makeLogRecord`, with its text completed."""
    return {
        name: value
        for name, value in vars(record).items()
        if value is None or isinstance(value, str | int | float)
    }
