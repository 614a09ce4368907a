"""Taking captures into an archive while a crawl goes on.

The paper's page cache and thread controller (Song et al. 2008, section 3.1): what was fetched waits
in a queue, one thread stores it. The thread takes all that waits, up to a bound, and stores it in
one commit, so that pages share the wait for the disk; while it commits, the next ones gather. More
threads would gain nothing: one at a time writes, and what takes long of a page (digests,
compression, the disk) lets other threads run.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.levels import LevelManager
from mmcrawl.archive.model import Capture, Stored
from mmcrawl.errors import StoreError

__all__ = ["Intake", "Unchanged"]

logger = logging.getLogger(__name__)

_GROUP_PAGES = 64
_GROUP_BYTES = 8 << 20
_WAITS = (0.5, 1.0, 2.0, 4.0)
_GATHER = 0.02


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A visit that found nothing new, or nothing at all; its URL has a version.

    Attributes:
        url: As stored.
        time: Of the request, in Unix seconds.
        status: HTTP status of the answer, 304 mostly; 0 if there was none.
    """

    url: str
    time: float
    status: int = 304


@dataclass(frozen=True, slots=True)
class _Waiting:
    visit: Capture | Unchanged
    done: Future[Stored]

    @property
    def size(self) -> int:
        return len(self.visit.body) if isinstance(self.visit, Capture) else 0


class Intake:
    """Stores what it is given in a thread of its own.

    Args:
        archive: Open; it is closed with the intake.
        levels: Chooses the levels of pages that were stored before; None leaves them as they are.
        waits: Seconds before each new attempt when the store fails. After the last the intake has
            failed: nothing more is stored, and all that waits is told the reason.
        gather: Seconds that the first page of a group waits for others to come.
    """

    def __init__(
        self,
        archive: Archive,
        levels: LevelManager | None = None,
        *,
        waits: Sequence[float] = _WAITS,
        gather: float = _GATHER,
    ) -> None:
        self._archive = archive
        self._levels = levels
        self._waits = waits
        self._gather = gather
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._failure: StoreError | None = None
        self._thread = threading.Thread(target=self._work, name="archive-intake", daemon=True)
        self._thread.start()

    def put(self, visit: Capture | Unchanged) -> Future[Stored]:
        """Take in a visit; the future ends when it is durable, or with the error that it met."""
        waiting = _Waiting(visit, Future())
        with self._changed:
            if self._failure is None:
                self._queue.append(waiting)
                self._changed.notify()
                return waiting.done
        waiting.done.set_exception(self._failure)
        return waiting.done

    def close(self) -> None:
        """Store what waits, then close the archive.

        Raises:
            StoreError: the archive fails on closing; what was acknowledged is safe.
        """
        with self._changed:
            self._closing.set()
            self._changed.notify()
        self._thread.join()
        self._archive.close()

    # -- inside of the thread -----------------------------------------------------------------

    def _work(self) -> None:
        while group := self._next_group():
            try:
                for part, level in self._parts(group):
                    self._store_patiently(part, level)
            except StoreError as error:
                self._fail(group, error)

    def _next_group(self) -> list[_Waiting]:
        with self._changed:
            while not self._queue and not self._closing.is_set():
                self._changed.wait()
        self._closing.wait(self._gather)
        with self._changed:
            group: list[_Waiting] = []
            size = 0
            while self._queue and len(group) < _GROUP_PAGES and size < _GROUP_BYTES:
                group.append(self._queue.popleft())
                size += group[-1].size
            return group

    def _parts(self, group: Sequence[_Waiting]) -> Iterator[tuple[list[_Waiting], int | None]]:
        """Yield what is to be stored together, in order; a page with a new level goes alone."""
        together: list[_Waiting] = []
        for waiting in group:
            level = self._new_level(waiting.visit)
            if level is None:
                together.append(waiting)
                continue
            yield together, None
            yield [waiting], level
            together = []
        yield together, None

    def _new_level(self, visit: Capture | Unchanged) -> int | None:
        if self._levels is None or not isinstance(visit, Capture):
            return None
        try:
            choice = self._levels.choose(visit.url)
        except Exception:
            logger.exception("No level could be chosen for %s; it keeps that it has", visit.url)
            return None
        if not choice.is_new:
            return None
        logger.info("%s: %s", visit.url, choice.reason)
        return choice.level

    def _store_patiently(self, part: Sequence[_Waiting], level: int | None) -> None:
        for wait in self._waits:
            try:
                self._store(part, level)
            except StoreError as error:
                logger.warning("%s; trying again in %g s", error, wait)
                self._closing.wait(wait)
            else:
                return
        self._store(part, level)

    def _store(self, part: Sequence[_Waiting], level: int | None) -> None:
        """Store a part of a group; what cannot be stored for what it is fails alone."""
        try:
            self._store_together(part, level)
        except StoreError:
            raise
        except Exception as error:
            if len(part) == 1:
                logger.exception("%s could not be archived", part[0].visit.url)
                part[0].done.set_exception(error)
                return
            for waiting in part:
                self._store([waiting], level)

    def _store_together(self, part: Sequence[_Waiting], level: int | None) -> None:
        captures = [(w, w.visit) for w in part if isinstance(w.visit, Capture)]
        if level is not None:
            stored = [self._archive.store(capture, level=level) for _, capture in captures]
        elif captures:
            stored = self._archive.store_many(capture for _, capture in captures)
        else:
            stored = []
        for waiting in part:
            if isinstance(waiting.visit, Unchanged):
                self._note(waiting.visit)
        for (waiting, _), answer in zip(captures, stored, strict=True):
            waiting.done.set_result(answer)
        for waiting in part:
            if isinstance(waiting.visit, Unchanged):
                waiting.done.set_result(Stored(None))

    def _note(self, visit: Unchanged) -> None:
        try:
            self._archive.note_unchanged(visit.url, visit.time, visit.status)
        except StoreError:
            if self._archive.visits(visit.url):
                raise
            logger.warning("%s was removed from the archive while it was visited", visit.url)

    def _fail(self, group: Sequence[_Waiting], error: StoreError) -> None:
        with self._changed:
            self._failure = error
            lost = [*group, *self._queue]
            self._queue.clear()
        for waiting in lost:
            if not waiting.done.done():
                waiting.done.set_exception(error)
