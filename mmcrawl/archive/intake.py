"""Taking captures into an archive while a crawl goes on.

The paper's page cache and thread controller (Song et al. 2008, section 3.1): what was fetched waits
in a queue, one thread has it stored. The thread takes all that waits, up to a bound, and has it
stored as one group, so that pages share the wait for the disk or the network; while a group is
stored, the next one gathers. More threads would gain nothing: one at a time writes.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from time import sleep

from mmcrawl.archive.groups import GroupStore, Unchanged, Visited
from mmcrawl.archive.model import Stored
from mmcrawl.errors import StoreError

__all__ = ["Intake", "Unchanged"]

logger = logging.getLogger(__name__)

_GROUP_PAGES = 64
_GROUP_BYTES = 8 << 20
_WAITS = (0.5, 1.0, 2.0, 4.0)
_GATHER = 0.05


@dataclass(frozen=True, slots=True)
class _Waiting:
    visit: Visited
    done: Future[Stored]

    @property
    def size(self) -> int:
        return 0 if isinstance(self.visit, Unchanged) else len(self.visit.body)


class Intake:
    """Has visits stored by a thread of its own.

    Args:
        store: Where they go; it is closed with the intake.
        waits: Seconds before each new attempt when the store fails. After the last the intake has
            failed: nothing more is stored, and all that waits is told the reason.
        gather: Seconds that the first page of a group waits for others to come, at most.
    """

    def __init__(
        self,
        store: GroupStore,
        *,
        waits: Sequence[float] = _WAITS,
        gather: float = _GATHER,
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
        :class:`~mmcrawl.archive.groups.RefusedError` when this visit alone cannot be kept.
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
        """Store what waits, then close the store.

        Raises:
            StoreError: the store fails on closing; what was acknowledged is safe.
        """
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        self._store.close()

    @property
    def _is_group(self) -> bool:
        """Whether as much waits as is stored at once."""
        return len(self._queue) >= _GROUP_PAGES or self._bytes >= _GROUP_BYTES

    # -- inside of the thread -----------------------------------------------------------------

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
            self._changed.wait_for(lambda: self._is_group or self._closing, self._gather)
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
