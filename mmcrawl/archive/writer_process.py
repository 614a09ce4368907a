"""An archive that is written by a process of its own.

Storing a page takes about as much of the interpreter as a fifth of all else that a crawl does with
it, and threads share one interpreter. The process gets groups of visits through a pipe and answers
each through another. It ends when it is told to close, or when its crawl is gone: then at once, as
if it had been killed, once the group is stored that it was given.

It is no child of :mod:`multiprocessing`: that would import again, in the child, whatever script
runs the crawl.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import signal
import subprocess
import sys
from collections.abc import Sequence
from logging.handlers import QueueHandler
from typing import Any, BinaryIO, cast

from mmcrawl.archive.groups import Answers, ArchiveStore, Visited
from mmcrawl.archive.places import shown
from mmcrawl.errors import StoreError

__all__ = ["ProcessStore", "serve"]

_PROGRAM = """
import sys
sys.path[:] = {path!r}
from mmcrawl.archive.writer_process import serve
serve()
"""
_CLOSE = None


class ProcessStore:
    """Stores groups in an archive by means of another process.

    What is logged there is logged here with the next answer.

    Args:
        uri, create: As :func:`~mmcrawl.archive.open_archive` takes them.

    Raises:
        StoreError: as :func:`~mmcrawl.archive.open_archive` does, or the process does not start.
    """

    def __init__(self, uri: str, *, create: bool) -> None:
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
        failure = self._ask((uri, create, logging.getLogger().getEffectiveLevel()))
        if failure is not None:
            self._end()
            raise failure

    def store(self, visits: Sequence[Visited]) -> Answers:
        """Store visits.

        Raises:
            StoreError: the process has ended.
        """
        answers: Answers = self._ask(list(visits))
        return answers

    def close(self) -> None:
        """Close the archive and end the process.

        Raises:
            StoreError: the archive fails on closing; what was acknowledged is safe.
        """
        if self._process.poll() is not None:  # whoever waited for an answer was told
            self._end()
            return
        try:
            failure = self._ask(_CLOSE)
        finally:
            self._end()
        if failure is not None:
            raise failure

    def _ask(self, question: object) -> Any:
        try:
            _send(question, self._questions)
            answer, records = pickle.load(self._answers)  # noqa: S301 - of a process started here
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            self._end()
            raise StoreError(
                f"the process that writes archive {self._name} ended unexpectedly"
                f" (exit status {self._process.returncode}); start the crawl again to go on"
            ) from error
        for record in records:
            logging.getLogger(record.name).handle(record)
        return answer

    def _end(self) -> None:
        """Let the process go and wait for it."""
        try:
            self._process.communicate()
        except (OSError, ValueError):  # the pipe is broken, or was closed before
            self._process.wait()


def _send(message: object, pipe: BinaryIO) -> None:
    pickle.dump(message, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


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
    uri, create, level = pickle.load(questions)  # noqa: S301 - of the process that started this one
    logged: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    logging.getLogger().addHandler(QueueHandler(logged))  # without a format: the crawl has one
    logging.getLogger().setLevel(level)

    def answer(what: object) -> None:
        _send((what, [logged.get() for _ in range(logged.qsize())]), answers)

    try:
        store = ArchiveStore.open(uri, create=create)
    except StoreError as error:
        answer(error)
        return
    answer(None)
    while (visits := pickle.load(questions)) is not _CLOSE:  # noqa: S301
        answer(store.store(visits))
    try:
        store.close()
    except StoreError as error:
        answer(error)
    else:
        answer(None)
