"""The bodies of the pages of an archive, handed to a function, by several processes if many."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import TypeVar

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.processes import in_processes
from mmcrawl.errors import StoreError
from mmcrawl.rank.reading import Reading
from mmcrawl.rank.records import Body

_MOST_PROCESSES = 4
_MANY = 64  # pages from which on starting processes is worth it

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
    for (number, body), made in in_processes(
        partial(_of_numbered, make), chain(first, found), processes
    ):
        yield body.url, number, made


def _of_numbered(make: Callable[[Body], _Made], numbered: tuple[int, Body]) -> _Made:
    return make(numbered[1])


def _bodies(archive: Archive, reading: Reading) -> Iterator[tuple[int, Body]]:
    for page, (url, number) in enumerate(reading.versions()):
        try:
            body = body_of(archive, url, number, page)
        except StoreError as error:
            reading.unreadable.append(str(error))
            continue
        if body.method:
            yield number, body
