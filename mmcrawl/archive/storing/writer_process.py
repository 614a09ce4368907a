"""An archive written by a process of its own.

Threads share one interpreter, and storing a page takes about a fifth of the CPU of everything else
a crawl does with it. The process receives groups of visits and answers each. It ends when told to
close. If its crawl has died, it finishes the group it was given and ends without closing, as if it
had been killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TypeVar

from mmcrawl.archive.model import Capture
from mmcrawl.archive.storing.intake import Answers, ArchiveStore, Visited
from mmcrawl.archive.uris import shown
from mmcrawl.errors import StoreError
from mmcrawl.store.child_process import ChildProcess, Questions
from mmcrawl.store.plain_values import PlainForm

T = TypeVar("T")

_CLOSE = None
_Opening = tuple[str, bool, str | None, bool]
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
            self._child = ChildProcess(__name__)
        except OSError as error:
            raise StoreError(
                f"the process that writes archive {self._name} does not start ({error.strerror});"
                " make room for it, or crawl without an archive"
            ) from error
        # The URI may hold a password, which the list of processes must not show.
        failure = self._ask(_OPENING.write((uri, create, method, keep_blocks)), _FAILURE)
        if failure is not None:
            self._child.end()
            raise failure

    def store(self, visits: Sequence[Visited]) -> Answers:
        """Store visits; a StoreError if the process has ended."""
        captured = [visit.body for visit in visits if isinstance(visit, Capture)]
        return self._ask(_VISITS.write(_with_bodies(visits, repeat(b""))), _ANSWERS, captured)

    def close(self) -> None:
        """Close the archive and end the process.

        Raises:
            StoreError: the archive fails on closing; what was acknowledged is safe.
        """
        if self._child.process.poll() is not None:  # waiting callers have been told
            self._child.end()
            return
        try:
            failure = self._ask(_CLOSE, _FAILURE)
        finally:
            self._child.end()
        if failure is not None:
            raise failure

    def _ask(self, question: object, form: PlainForm[T], bodies: Sequence[bytes] = ()) -> T:
        try:
            return form.read(self._child.ask(question, bodies))
        except (EOFError, OSError, ValueError) as error:
            self._child.end()
            raise StoreError(
                f"the process that writes archive {self._name} ended unexpectedly"
                f" (exit status {self._child.process.returncode});"
                " start the crawl again to continue"
            ) from error


def _with_bodies(visits: Iterable[Visited], bodies: Iterable[bytes]) -> list[Visited]:
    """Return visits with other bodies: these are no text, and are sent beside it."""
    of_captures = iter(bodies)
    return [
        replace(visit, body=next(of_captures)) if isinstance(visit, Capture) else visit
        for visit in visits
    ]


def serve() -> None:
    """In the other process: store what arrives until the archive is to be closed."""
    questions = Questions()
    uri, create, method, keep_blocks = _OPENING.read(questions.next()[0])
    try:
        store = ArchiveStore.open(uri, create=create, method=method, keep_blocks=keep_blocks)
    except StoreError as error:
        questions.answer(_FAILURE.write(error))
        return
    questions.answer(_FAILURE.write(None))
    while (question := questions.next())[0] is not _CLOSE:
        plain, bodies = question
        questions.answer(_ANSWERS.write(store.store(_with_bodies(_VISITS.read(plain), bodies))))
    questions.in_thread(questions.next)  # ends this process if its crawl is gone
    failure = None
    try:
        store.close()
    except StoreError as error:
        failure = error
    questions.answer(_FAILURE.write(failure))
