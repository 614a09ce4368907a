"""Cutting the pages of a crawl into blocks, once, beside the crawl.

To cut a page takes longer than all else that a crawl does with it, and threads share one
interpreter: a process of its own does it, where there is a core for it. A page that cannot be cut
goes on without blocks; the crawl never waits for a process that is gone.
"""

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

from mmcrawl.archive.format.cutting import stored_blocks
from mmcrawl.archive.model import StoredBlock
from mmcrawl.blocks.link_kinds import link_kinds
from mmcrawl.blocks.partition import partition
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL
from mmcrawl.blocks.partitioners.registry import make_partitioner
from mmcrawl.errors import raise_if_fatal
from mmcrawl.store.child_process import ChildProcess, Questions

logger = logging.getLogger(__name__)

_GROUP_PAGES = 64
_GROUP_BYTES = 8 << 20

_values_of = attrgetter(*(field.name for field in fields(StoredBlock)))


@dataclass(frozen=True, slots=True)
class UncutPage:
    """A page as received, with its address and the Python codec name of its encoding."""

    url: str
    encoding: str
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class CutPage:
    """What cutting a page came to.

    Attributes:
        blocks: Each before those inside of it; None if the page could not be cut.
        link_kinds: The kind of the block that each link stands in, by its address.
    """

    blocks: tuple[StoredBlock, ...] | None = None
    link_kinds: Mapping[str, str] = field(default_factory=dict)


class Cutter:
    """Cuts pages in the order in which they are given, several at a time where several wait.

    Args:
        method: How, with options if any, see :func:`mmcrawl.blocks.partition`.
        beside: Whether a process of its own is to do it, rather than a thread of this one.

    Raises:
        BlockError: there is no such method, or it does not take such an option.
    """

    def __init__(self, method: str, *, beside: bool = True) -> None:
        make_partitioner(method)
        self._method = method
        self._beside = beside
        self._child: ChildProcess | None = None
        self._given: deque[tuple[UncutPage, Future[CutPage]]] = deque()
        self._thread = ThreadPoolExecutor(1, "page-cutter")

    def cut(self, page: UncutPage) -> Future[CutPage]:
        """Take in a page; the future ends when it is cut, and never in an error."""
        future: Future[CutPage] = Future()
        self._given.append((page, future))
        self._thread.submit(self._cut_what_waits)
        return future

    def close(self) -> None:
        """Cut what waits, then end the process."""
        self._thread.shutdown()
        self._end()

    def _cut_what_waits(self) -> None:
        group: list[tuple[UncutPage, Future[CutPage]]] = []
        size = 0
        while self._given and len(group) < _GROUP_PAGES and size < _GROUP_BYTES:
            group.append(self._given.popleft())
            size += len(group[-1][0].body)
        if not group:
            return  # an earlier call took what this one was made for
        for (_, future), cut in zip(group, self._cut([page for page, _ in group]), strict=True):
            future.set_result(cut)

    def _cut(self, pages: Sequence[UncutPage]) -> list[CutPage]:
        if not self._beside:
            return [cut_page(page, self._method) for page in pages]
        try:
            child = self._child = self._child or self._started()
        except OSError as error:
            logger.warning(
                "The process that cuts pages does not start (%s): the crawl cuts them itself, and"
                " is slower",
                error.strerror,
            )
            self._beside = False
            return self._cut(pages)
        try:
            question = [[page.url, page.encoding] for page in pages]
            answer = child.ask(question, [page.body for page in pages])
            return [_of_plain(*plain) for plain in answer]
        except (EOFError, OSError, ValueError):
            self._end()
        if len(pages) > 1:  # one of them is at fault: the others are cut
            return [cut for page in pages for cut in self._cut([page])]
        logger.warning(
            "%s is not cut into blocks: the process that did so ended (exit status %s)",
            pages[0].url,
            child.process.returncode,
        )
        return [CutPage()]

    def _started(self) -> ChildProcess:
        child = ChildProcess(__name__)
        child.ask(self._method)
        return child

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


def cut_page(page: UncutPage, method: str) -> CutPage:
    """Cut a page; one that a method fails at, as one of another package may, is left uncut."""
    try:
        cut = partition(
            page.body, method=method, level=DEFAULT_LEVEL, encoding=page.encoding, url=page.url
        )
        return CutPage(tuple(stored_blocks(cut)), link_kinds(cut, page.url, page.encoding))
    except Exception as error:
        raise_if_fatal(error)
        logger.exception("%s is not cut into blocks", page.url)
        return CutPage()


def serve() -> None:
    """In the other process: cut what comes in."""
    questions = Questions()
    method, _ = questions.next()
    questions.answer(None)
    while True:
        plain, bodies = questions.next()
        pages = [
            UncutPage(url, encoding, body)
            for (url, encoding), body in zip(plain, bodies, strict=True)
        ]
        questions.answer([_plain(cut_page(page, method)) for page in pages])


def _plain(cut: CutPage) -> list[Any]:
    blocks = None if cut.blocks is None else [*map(_values_of, cut.blocks)]
    return [blocks, cut.link_kinds]


def _of_plain(blocks: list[list[Any]] | None, link_kinds: dict[str, str]) -> CutPage:
    return CutPage(
        None if blocks is None else tuple(StoredBlock(*block) for block in blocks), link_kinds
    )
