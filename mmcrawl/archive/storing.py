"""Stores captures while a crawl runs: a queue emptied by one thread, in this process or another.

The queue is the paper's page cache and thread controller (Song et al. 2008, section 3.1). The
thread stores everything that waits, up to a bound, as one group, so that pages share the wait for
the disk or the network; the next group gathers meanwhile. More threads would gain nothing, since
only one at a time can write.

Threads share one interpreter, and storing a page takes about a fifth of the CPU of everything else
a crawl does with it. So a process of its own can store the groups (:class:`ProcessStore`). It
answers each group and ends when told to close. If its crawl has died, it finishes the group it was
given and ends without closing, as if it had been killed.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import repeat
from time import monotonic, sleep
from typing import Protocol, Self, TypeVar

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.levels import LevelManager
from mmcrawl.archive.model import Capture, Stored, Unchanged, why_refused
from mmcrawl.archive.opening import open_archive
from mmcrawl.errors import MmcrawlError, StoreError, raise_if_fatal
from mmcrawl.store.child_process import ChildProcess, Questions
from mmcrawl.store.plain_values import PlainForm
from mmcrawl.store.uris import shown

logger = logging.getLogger(__name__)

_GROUP_PAGES = 64
_GROUP_BYTES = 8 << 20
_WAITS = (0.5, 1.0, 2.0, 4.0)
_GATHER = 0.05

Visited = Capture | Unchanged

T = TypeVar("T")

_CLOSE = None
_Opening = tuple[str, bool, str | None, bool]
_OPENING = PlainForm[_Opening](_Opening)
_VISITS = PlainForm[list[Visited]](list[Visited])

_FAILURE = PlainForm[StoreError | None](StoreError | None)


class RefusedError(MmcrawlError):
    """A visit cannot be kept for what it is; others can."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What storing a group came to.

    Attributes:
        of: For each visit what it came to when it is durable, or why it never will be; None for
            what the store failed at, which may be tried again.
    """

    of: list[Stored | RefusedError | None]
    failure: StoreError | None = None  # why the store failed; None if it did not


class GroupStore(Protocol):
    """Where groups of visits go."""

    def store(self, visits: Sequence[Visited]) -> Answers:
        """Store visits; a StoreError if the store has failed for good."""
        ...

    def close(self) -> None:
        """Close the store; a StoreError if that fails: what was acknowledged is safe."""
        ...


class ArchiveStore:
    """Stores groups in an open archive, which is closed with it; `levels` may change levels."""

    def __init__(
        self, archive: Archive, levels: LevelManager | None = None, method: str | None = None
    ) -> None:
        self._archive = archive
        self._levels = levels
        self._method = method

    @classmethod
    def open(
        cls, uri: str, *, create: bool, method: str | None = None, keep_blocks: bool = True
    ) -> Self:
        """Open an archive, as :func:`~mmcrawl.archive.open_archive` does; levels are chosen."""
        archive = open_archive(uri, create=create, keep_blocks=keep_blocks)
        return cls(archive, LevelManager(archive), method)

    def store(self, visits: Sequence[Visited]) -> Answers:
        """Store visits in one commit; what cannot be stored for what it is fails alone."""
        answers = Answers([None] * len(visits))
        try:
            self._keep(visits, range(len(visits)), answers)
        except StoreError as error:
            return Answers(answers.of, error)
        return answers

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()

    def _new_levels(self, visits: Sequence[Visited]) -> list[int | None]:
        """Return the levels of pages that are to be cut otherwise than before."""
        known = self._archive.known(v.url for v in visits if isinstance(v, Capture))
        return [
            self._new_level(visit.url)
            if isinstance(visit, Capture) and visit.url in known
            else None
            for visit in visits
        ]

    def _new_level(self, url: str) -> int | None:
        if self._levels is None:
            return None
        try:
            choice = self._levels.choose(url)
        except Exception as error:
            raise_if_fatal(error)
            logger.exception("No level could be chosen for %s; it keeps that it has", url)
            return None
        if not choice.is_new:
            return None
        logger.info("%s: %s", url, choice.reason)
        return choice.level

    def _keep(self, visits: Sequence[Visited], part: Sequence[int], answers: Answers) -> None:
        """Store a part of a group, or if that cannot be done, each of its visits."""
        some = [visits[n] for n in part]
        try:
            _check_each(some)
            stored = self._archive.store_many(
                some, method=self._method, levels=self._new_levels(some)
            )
        except Exception as error:  # noqa: BLE001 - passed on to the caller that waits for the page
            raise_if_fatal(error)
            if len(part) == 1:
                answers.of[part[0]] = _refusal(visits[part[0]], error)
                return
            for n in part:
                self._keep(visits, [n], answers)
            return
        for n, answer in zip(part, stored, strict=True):
            answers.of[n] = answer
            if not answer.noted:
                logger.warning(
                    "A visit of %s is not recorded: the archive has no earlier version of it; it"
                    " was removed, or the clock of this machine is slow",
                    visits[n].url,
                )


def _check_each(visits: Sequence[Visited]) -> None:
    for visit in visits:
        if reason := why_refused(visit):
            raise RefusedError(reason)


def _refusal(visit: Visited, error: Exception) -> RefusedError:
    if isinstance(error, RefusedError):
        return error
    logger.error("%s could not be archived", visit.url, exc_info=error)
    return RefusedError(f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class _Waiting:
    visit: Visited
    done: Future[Stored]
    since: float = field(default_factory=monotonic)

    @property
    def size(self) -> int:
        return 0 if isinstance(self.visit, Unchanged) else len(self.visit.body)


class Intake:
    """Has visits stored by a thread of its own.

    Args:
        store: Where they go; it is closed with the intake.
        waits: Seconds before each new attempt when the store fails. After the last the intake has
            failed: nothing more is stored, and all that waits is told the reason.
        gather: Seconds after which the first page of a group waits for no others to come.
    """

    def __init__(
        self, store: GroupStore, *, waits: Sequence[float] = _WAITS, gather: float = _GATHER
    ) -> None:
        self._store = store
        self._waits = waits
        self._gather = gather
        self._queue: deque[_Waiting] = deque()
        self._bytes = 0  # of what is in the queue
        self._changed = threading.Condition()
        self._closing = False
        self._failure: StoreError | None = None
        self._thread = threading.Thread(target=self._work, name="archive-intake", daemon=True)
        self._thread.start()

    def put(self, visit: Visited) -> Future[Stored]:
        """Take in a visit.

        The future ends when it is durable, or with StoreError when the store has failed, or with
        :class:`~mmcrawl.archive.storing.RefusedError` when this visit alone cannot be kept.
        """
        waiting = _Waiting(visit, Future())
        with self._changed:
            if self._failure is None:
                self._queue.append(waiting)
                self._bytes += waiting.size
                # To wake the thread for every page would have it take turns with the crawl.
                if len(self._queue) == 1 or self._is_group:
                    self._changed.notify()
                return waiting.done
        waiting.done.set_exception(self._failure)
        return waiting.done

    def close(self) -> None:
        """Store what waits and close the store; a StoreError if that fails: the rest is safe."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        self._store.close()

    @property
    def _is_group(self) -> bool:
        """Whether as much waits as is stored at once."""
        return len(self._queue) >= _GROUP_PAGES or self._bytes >= _GROUP_BYTES

    # -- inside the thread -----------------------------------------------------------------

    def _work(self) -> None:
        while group := self._next_group():
            try:
                self._store_patiently(group)
            except StoreError as error:
                self._fail(group, error)
            except Exception as error:
                logger.exception("A group of pages could not be archived")
                reason = f"the archive failed: {type(error).__name__}: {error}"
                self._fail(group, StoreError(reason))

    def _next_group(self) -> list[_Waiting]:
        """Wait for a group; an empty one says that all is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closing)
            if self._queue:  # what came while another group was stored has waited already
                left = self._queue[0].since + self._gather - monotonic()
                self._changed.wait_for(lambda: self._is_group or self._closing, max(left, 0.0))
            group: list[_Waiting] = []
            size = 0
            while self._queue and len(group) < _GROUP_PAGES and size < _GROUP_BYTES:
                group.append(self._queue.popleft())
                size += group[-1].size
            self._bytes -= size
            return group

    def _store_patiently(self, group: Sequence[_Waiting]) -> None:
        """Store a group, what the store fails at again and again."""
        for wait in (*self._waits, None):
            answers = self._store.store([waiting.visit for waiting in group])
            left = []
            for waiting, answer in zip(group, answers.of, strict=True):
                if answer is None:
                    left.append(waiting)
                elif isinstance(answer, Stored):
                    waiting.done.set_result(answer)
                else:
                    waiting.done.set_exception(answer)
            if answers.failure is None:
                return
            if wait is None:
                raise answers.failure
            logger.warning("%s; trying again in %g s", answers.failure, wait)
            sleep(wait)
            group = left

    def _fail(self, group: Sequence[_Waiting], error: StoreError) -> None:
        with self._changed:
            self._failure = error
            lost = [*group, *self._queue]
            self._queue.clear()
            self._bytes = 0
        for waiting in lost:
            if not waiting.done.done():
                waiting.done.set_exception(error)


_ANSWERS = PlainForm[Answers](Answers)


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
        """Close the archive and end the process; a StoreError as of :meth:`ArchiveStore.close`."""
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
