"""Reading versions for the index, in several processes when there is much to read.

A page that was not cut into blocks yet is cut now, which takes most of the time of an update. The
processes read no archive: they are given bodies, and give back blocks, in the order asked for.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import NoReturn

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import StoredBlock, Version, leaves
from mmcrawl.archive.pages import blocks_of_page
from mmcrawl.archive.search_documents import IndexedBlock, indexed_blocks
from mmcrawl.errors import StoreError

__all__ = ["ReadVersion", "Wanted", "read_versions"]

logger = logging.getLogger(__name__)

_MANY = 32  # versions from which on starting processes is worth it
_AHEAD = 4  # versions for each process that are read ahead


@dataclass(frozen=True, slots=True)
class Wanted:
    """A version to be read; blocks with a digest in `known(encoding)` need not be."""

    url: str
    number: int
    known: Callable[[str], frozenset[int]]


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """What was read of a version; `problem` says why it cannot be, "" if it can."""

    language: str = ""
    encoding: str = ""
    blocks: tuple[IndexedBlock, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Page:
    """What a process needs to cut and read a page; `kept` are its blocks, None if not cut."""

    version: Version
    body: bytes
    kept: list[StoredBlock] | None
    known: frozenset[int]


def read_versions(
    archive: Archive, wanted: Iterable[Wanted], count: int, processes: int
) -> Generator[ReadVersion, None, None]:
    """Yield what was read of each version, in order.

    Args:
        archive: Where they are.
        wanted: Which.
        count: How many these are about.
        processes: How many to use at most; 1 reads in this one.

    Raises:
        StoreError: the archive fails altogether.
    """
    pages = (_page(archive, one) for one in wanted)
    if processes < 2 or count < _MANY:
        yield from map(_finished, pages)
        return
    # Forked processes would share connections and locks with this one.
    context = multiprocessing.get_context("spawn")
    waiting: deque[tuple[_Page | ReadVersion, Future[ReadVersion]]] = deque()
    with ProcessPoolExecutor(min(processes, count), context, initializer=_begin) as pool:
        try:
            for page in pages:
                waiting.append((page, _submitted(pool, page)))
                if len(waiting) > _AHEAD * processes:
                    yield _result(*waiting.popleft())
            while waiting:
                yield _result(*waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, page: _Page | ReadVersion) -> Future[ReadVersion]:
    try:
        return pool.submit(_finished, page)
    except BrokenProcessPool as error:
        failed: Future[ReadVersion] = Future()
        failed.set_exception(error)
        return failed


def _result(page: _Page | ReadVersion, future: Future[ReadVersion]) -> ReadVersion:
    """Return what a process read; if it died, for want of memory maybe, read it here."""
    try:
        return future.result()
    except BrokenProcessPool:
        logger.debug("A process that reads pages died; this one goes on alone")
        return _finished(page)


def _page(archive: Archive, wanted: Wanted) -> _Page | ReadVersion:
    try:
        version = archive.version(wanted.url, wanted.number)
        if not version.encoding:
            return ReadVersion(version.language)
        kept, body = archive.kept_blocks(version), archive.rebuild(version).body
    except StoreError as error:
        archive.visits(wanted.url)  # if the store fails altogether, so does this
        return ReadVersion(problem=str(error))
    return _Page(version, body, kept, wanted.known(version.encoding))


def _finished(page: _Page | ReadVersion) -> ReadVersion:
    if isinstance(page, ReadVersion):
        return page
    version, blocks = page.version, page.kept
    if blocks is None:
        blocks = blocks_of_page(
            page.body,
            url=version.url,
            encoding=version.encoding,
            method=version.method,
            level=version.level,
        )
    found = indexed_blocks(page.body, version.encoding, leaves(blocks), page.known)
    return ReadVersion(version.language, version.encoding, tuple(found))


def _begin() -> None:
    """Let the other process decide when this one ends, also by dying."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> NoReturn:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
