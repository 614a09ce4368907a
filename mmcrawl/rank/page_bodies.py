"""The bodies of an archive's pages, handed to a function, in several processes if there are many.

The processes read no archive: they are given bodies and give back what was made of them, in order.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TypeVar

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import RankError, StoreError
from mmcrawl.rank.reading import Reading
from mmcrawl.rank.records import Body

_MOST_PROCESSES = 4
_MANY = 64  # pages from which on starting processes is worth it
_AHEAD = 4  # pages for each process that are read ahead

_Made = TypeVar("_Made")


def body_of(archive: Archive, url: str, number: int, page: int) -> Body:
    """Return a page as received.

    Args:
        archive: Where it is.
        url, number: Of the version.
        page: Its id.

    Raises:
        StoreError: it cannot be read.
    """
    version = archive.version(url, number)
    body = archive.rebuild(version).body if version.method else b""
    return Body(page, url, version.encoding or "", version.method or "", version.level or 0, body)


def over_bodies(
    make: Callable[[Body], _Made], archive: Archive, reading: Reading
) -> Iterator[tuple[str, int, _Made]]:
    """Yield URL, number of the version, and what was made of each page of HTML.

    Args:
        make: A function of a module; it must not fail.
        archive: Where the pages are.
        reading: Of it: says which pages. Those that cannot be read are noted there.

    Raises:
        StoreError: the archive fails.
    """
    found = _bodies(archive, reading)
    first = list(islice(found, _MANY))
    processes = min(_MOST_PROCESSES, os.cpu_count() or 1)
    if len(first) < _MANY or processes < 2:
        for number, body in chain(first, found):
            yield body.url, number, make(body)
        return
    # Forked processes would share connections and locks with this one.
    context = multiprocessing.get_context("spawn")
    waiting: deque[tuple[str, int, Future[_Made]]] = deque()
    with ProcessPoolExecutor(processes, context, initializer=_begin) as pool:
        try:
            for number, body in chain(first, found):
                waiting.append((body.url, number, pool.submit(make, body)))
                if len(waiting) > _AHEAD * processes:
                    yield _result(waiting)
            while waiting:
                yield _result(waiting)
        except BrokenProcessPool as error:
            raise RankError("a process that reads pages died, for want of memory maybe") from error
        finally:
            pool.shutdown(cancel_futures=True)


def _result(waiting: deque[tuple[str, int, Future[_Made]]]) -> tuple[str, int, _Made]:
    url, number, future = waiting.popleft()
    return url, number, future.result()


def _bodies(archive: Archive, reading: Reading) -> Iterator[tuple[int, Body]]:
    for page, (url, number) in enumerate(reading.versions()):
        try:
            body = body_of(archive, url, number, page)
        except StoreError as error:
            reading.unreadable.append(str(error))
            continue
        if body.method:
            yield number, body


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that started this one stops it
