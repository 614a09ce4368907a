"""An archive that is written by a process of its own.

Storing a page takes about as much of the interpreter as a fifth of all else that a crawl does with
it, and threads share one interpreter. The process gets groups of visits through a pipe and answers
each through another: JSON after its length, then the bodies. It ends when it is told to close, or
when its crawl is gone: then at once, as if it had been killed, once the group is stored that it was
given.

It is no child of :mod:`multiprocessing`: that would import again, in the child, whatever script
runs the crawl.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import struct
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from logging.handlers import QueueHandler
from typing import Any, BinaryIO, TypeVar, cast

from mmcrawl.archive.intake import Answers, ArchiveStore, Visited
from mmcrawl.archive.model import Capture
from mmcrawl.archive.uris import shown
from mmcrawl.errors import StoreError
from mmcrawl.stores.plain_values import PlainForm

T = TypeVar("T")

_PROGRAM = """
import sys
sys.path[:] = {path!r}
from mmcrawl.archive.writer_process import serve
serve()
"""
_CLOSE = None
_LENGTH = struct.Struct("<Q")
_Opening = tuple[str, bool, str | None, bool, int]
_OPENING = PlainForm[_Opening](_Opening)
_VISITS = PlainForm[list[Visited]](list[Visited])
_ANSWERS = PlainForm[Answers](Answers)
_FAILURE = PlainForm[StoreError | None](StoreError | None)


class ProcessStore:
    """Stores groups in an archive by means of another process.

    What is logged there is logged here with the next answer.

    Args:
        uri, create, method, keep_blocks: As :meth:`ArchiveStore.open` takes them.

    Raises:
        StoreError: as :func:`~mmcrawl.archive.open_archive` does, or the process does not start.
    """

    def __init__(
        self, uri: str, *, create: bool, method: str | None = None, keep_blocks: bool = True
    ) -> None:
        self._name = shown(uri)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, this program
                [sys.executable, "-c", _PROGRAM.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the crawl, which closes the archive
            )
        except OSError as error:
            raise StoreError(
                f"the process that writes archive {self._name} does not start ({error.strerror});"
                " make room for it, or crawl without an archive"
            ) from error
        self._questions = cast("BinaryIO", self._process.stdin)
        self._answers = cast("BinaryIO", self._process.stdout)
        # The URI may hold a password, which the list of processes must not show.
        level = logging.getLogger().getEffectiveLevel()
        opening = (uri, create, method, keep_blocks, level)
        failure = self._ask(_OPENING.write(opening), _FAILURE)
        if failure is not None:
            self._end()
            raise failure

    def store(self, visits: Sequence[Visited]) -> Answers:
        """Store visits.

        Raises:
            StoreError: the process has ended.
        """
        captured = [visit.body for visit in visits if isinstance(visit, Capture)]
        return self._ask(_VISITS.write(_with_bodies(visits, repeat(b""))), _ANSWERS, captured)

    def close(self) -> None:
        """Close the archive and end the process.

        Raises:
            StoreError: the archive fails on closing; what was acknowledged is safe.
        """
        if self._process.poll() is not None:  # whoever waited for an answer was told
            self._end()
            return
        try:
            failure = self._ask(_CLOSE, _FAILURE)
        finally:
            self._end()
        if failure is not None:
            raise failure

    def _ask(self, question: object, form: PlainForm[T], bodies: Sequence[bytes] = ()) -> T:
        try:
            _send(question, self._questions, bodies)
            (plain, records), _ = _received(self._answers)
            answer = form.read(plain)
        except (EOFError, OSError, ValueError) as error:
            self._end()
            raise StoreError(
                f"the process that writes archive {self._name} ended unexpectedly"
                f" (exit status {self._process.returncode}); start the crawl again to go on"
            ) from error
        for record in map(logging.makeLogRecord, records):
            logging.getLogger(record.name).handle(record)
        return answer

    def _end(self) -> None:
        """Let the process go and wait for it."""
        try:
            self._process.communicate()
        except (OSError, ValueError):  # the pipe is broken, or was closed before
            self._process.wait()


def _with_bodies(visits: Iterable[Visited], bodies: Iterable[bytes]) -> list[Visited]:
    """Return visits with other bodies: these are no text, and are sent beside it."""
    of_captures = iter(bodies)
    return [
        replace(visit, body=next(of_captures)) if isinstance(visit, Capture) else visit
        for visit in visits
    ]


def _send(message: object, pipe: BinaryIO, bodies: Sequence[bytes] = ()) -> None:
    text = json.dumps([message, [len(body) for body in bodies]]).encode()
    for part in (_LENGTH.pack(len(text)), text, *bodies):
        pipe.write(part)
    pipe.flush()


def _received(pipe: BinaryIO) -> tuple[Any, list[bytes]]:
    """Return what the other side sent, and the bodies beside it.

    Raises:
        EOFError: there is an end of it.
    """
    (length,) = _LENGTH.unpack(_read(pipe, _LENGTH.size))
    message, lengths = json.loads(_read(pipe, length))
    return message, [_read(pipe, length) for length in lengths]


def _read(pipe: BinaryIO, length: int) -> bytes:
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return data


# -- the other process --------------------------------------------------------------------------


def serve() -> None:
    """Store what comes in by standard input until there is an end of it."""
    # Whoever ends a crawl ends it through the crawl, which has this process close the archive.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but answers goes to the crawl
    try:
        _serve(questions, answers)
    except (EOFError, BrokenPipeError):
        os._exit(1)  # the crawl is gone; nobody waits for tails to be sealed


def _serve(questions: BinaryIO, answers: BinaryIO) -> None:
    uri, create, method, keep_blocks, level = _OPENING.read(_received(questions)[0])
    logged: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    logging.getLogger().addHandler(QueueHandler(logged))  # without a format: the crawl has one
    logging.getLogger().setLevel(level)

    def answer(what: object) -> None:
        _send([what, [_plain_record(logged.get()) for _ in range(logged.qsize())]], answers)

    try:
        store = ArchiveStore.open(uri, create=create, method=method, keep_blocks=keep_blocks)
    except StoreError as error:
        answer(_FAILURE.write(error))
        return
    answer(_FAILURE.write(None))
    while (question := _received(questions))[0] is not _CLOSE:
        plain, bodies = question
        answer(_ANSWERS.write(store.store(_with_bodies(_VISITS.read(plain), bodies))))
    try:
        store.close()
    except StoreError as error:
        answer(_FAILURE.write(error))
    else:
        answer(_FAILURE.write(None))


def _plain_record(record: logging.LogRecord) -> dict[str, Any]:
    """Return what `logging.makeLogRecord` makes a record of; its text is complete already."""
    return {
        name: value
        for name, value in vars(record).items()
        if value is None or isinstance(value, str | int | float)
    }
