"""Work on pages in several processes, which read no archive.

They are given pages, and give back what they make of them, in the order asked for.
"""

import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from mmcrawl.store.child_process import signals_to

logger = logging.getLogger(__name__)

_AHEAD = 4  # pages for each process that are read ahead

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def in_processes(
    make: Callable[[_Given], _Made], given: Iterable[_Given], processes: int
) -> Iterator[tuple[_Given, _Made]]:
    """Yield each item with its result.

    Args:
        make: A function of a module; it must not fail. If the processes die, for want of memory
            maybe, it continues in this one.
        given: What can be handed to another process.
        processes: How many to start, from 1.
    """
    # Forked processes would share connections and locks with this one.
    context = multiprocessing.get_context("spawn")
    waiting: deque[tuple[_Given, Future[_Made]]] = deque()
    with ProcessPoolExecutor(processes, context, initializer=begin_beside) as pool:
        try:
            for one in given:
                waiting.append((one, _submitted(pool, make, one)))
                if len(waiting) > _AHEAD * processes:
                    yield _result(make, *waiting.popleft())
            while waiting:
                yield _result(make, *waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)


def _submitted(
    pool: ProcessPoolExecutor, make: Callable[[_Given], _Made], given: _Given
) -> Future[_Made]:
    try:
        with _undisturbed():
            return pool.submit(make, given)
    except BrokenProcessPool as error:
        failed: Future[_Made] = Future()
        failed.set_exception(error)
        return failed


def _result(
    make: Callable[[_Given], _Made], given: _Given, future: Future[_Made]
) -> tuple[_Given, _Made]:
    try:
        return given, future.result()
    except BrokenProcessPool:
        logger.debug("A process that reads pages died; this one continues alone")
        return given, make(given)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off Ctrl-C and SIGTERM: a process half started would say so with a traceback."""
    caught: list[int] = []
    try:
        with signals_to(caught.append):
            yield
    finally:
        if caught:
            signal.raise_signal(caught[0])


def begin_beside() -> None:
    """Let the other process decide when this one ends, also by dying."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> NoReturn:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
