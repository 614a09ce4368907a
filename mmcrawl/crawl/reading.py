"""Reads the pages of a crawl in a separate process, each once and as one tree.

Parsing a page and cutting it into blocks takes longer than everything else a crawl does with it,
and threads share one interpreter. So a process of its own does it, if there is a core for it. A
page that cannot be cut continues without blocks; the crawl never waits for a dead process.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any

from mmcrawl.archive.model import StoredBlock
from mmcrawl.errors import raise_if_fatal
from mmcrawl.frontier.urls import page_digest
from mmcrawl.page.html.tree import read_tree
from mmcrawl.page.model import Link, LinkGroup, MediaResource, Page
from mmcrawl.page.parse import page_of, page_tree
from mmcrawl.page.requisites import page_requisites
from mmcrawl.store.child_process import ChildProcess, Questions

logger = logging.getLogger(__name__)

_GROUP_PAGES = 64
_GROUP_BYTES = 8 << 20
_LARGEST_CUT = 4 << 20  # bytes; a larger page would keep others waiting
_FIRST = b"<title>A</title><h1>A page</h1><div><p>Some words.</div><ul><li><a href=b>One</a></ul>"


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """A page as received, with its address and the two headers that count."""

    url: str
    body: bytes = field(repr=False)
    content_type: str | None = None
    refresh: str = ""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """The result of reading a page.

    Attributes:
        blocks: Each before those inside it; None if the page was not cut.
        requisites: Addresses of what it needs to be seen, if they were asked for.
    """

    page: Page  # as parsed; each link knows the kind of the block it is in, if there are blocks
    digest: int  # its `page_digest`
    blocks: tuple[StoredBlock, ...] | None = None
    requisites: tuple[str, ...] = ()


class PageReader:
    """Reads pages in the order in which they are given, several at a time where several wait.

    Args:
        method: How they are cut into blocks, see :func:`mmcrawl.blocks.partition`; None for none.
        beside: Whether a process of its own is to do it, rather than a thread of this one.
        requisites: Whether to find what pages need to be seen.
    """

    def __init__(
        self, method: str | None, *, beside: bool = True, requisites: bool = False
    ) -> None:
        self._method, self._requisites = method, requisites
        self._beside = beside
        self._child: ChildProcess | None = None
        self._given: deque[tuple[ReceivedPage, Future[ReadPage]]] = deque()
        self._thread = ThreadPoolExecutor(1, "page-reader")

    def start(self) -> None:
        """Begin to load the process; what is wrong with it is told when a page is read."""
        self._thread.submit(self._load)

    def read(self, page: ReceivedPage) -> Future[ReadPage]:
        """Queue a page; the future completes when it has been read."""
        future: Future[ReadPage] = Future()
        self._given.append((page, future))
        self._thread.submit(self._read_what_waits)
        return future

    def close(self) -> None:
        """Read what waits, then end the process."""
        self._thread.shutdown()
        self._end()

    def _read_what_waits(self) -> None:
        group: list[tuple[ReceivedPage, Future[ReadPage]]] = []
        size = 0
        while self._given and len(group) < _GROUP_PAGES and size < _GROUP_BYTES:
            group.append(self._given.popleft())
            size += len(group[-1][0].body)
        if not group:
            return  # an earlier call took what this one was made for
        try:
            pages = self._read([page for page, _ in group])
        except Exception as error:  # noqa: BLE001 - passed on to the waiting caller
            for _, future in group:
                future.set_exception(error)
            return
        for (_, future), page in zip(group, pages, strict=True):
            future.set_result(page)

    def _read(self, pages: Sequence[ReceivedPage]) -> list[ReadPage]:
        if not self._beside:
            return [read_page(page, self._method, self._requisites) for page in pages]
        try:
            child = self._child = self._child or self._started()
        except OSError as error:
            logger.warning(
                "The process that reads pages does not start (%s): the crawl reads them itself, and"
                " is slower",
                error.strerror,
            )
            self._beside = False
            return self._read(pages)
        try:
            question = [[page.url, page.content_type, page.refresh] for page in pages]
            answer = child.ask(question, [page.body for page in pages])
            return [_of_plain(*plain) for plain in answer]
        except (EOFError, OSError, ValueError):
            self._end()
        if len(pages) > 1:  # one of them is at fault: the others are cut
            return [read for page in pages for read in self._read([page])]
        logger.warning(
            "%s is not cut into blocks: the process that did so ended (exit status %s)",
            pages[0].url,
            child.process.returncode,
        )
        return [read_page(pages[0], None, self._requisites)]

    def _load(self) -> None:
        if self._beside:
            self._child = self._child or self._started()

    def _started(self) -> ChildProcess:
        child = ChildProcess(__name__)
        with suppress(EOFError, OSError, ValueError):  # it was killed: its first page tells
            child.ask([self._method, self._requisites])
        return child

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


def read_page(
    received: ReceivedPage, method: str | None = None, requisites: bool = False
) -> ReadPage:
    """Read a page from one tree; cut it if there is a method, unless that fails; requisites."""
    tree = page_tree(received.body, received.content_type)
    page = page_of(tree, received.url, received.refresh)
    digest = page_digest(received.url, received.body, (one.url for one in page.media))
    needed = page_requisites(tree, received.url) if requisites else ()
    if method is None or len(received.body) > _LARGEST_CUT:
        return ReadPage(page, digest, None, needed)
    # Slow to load, and not needed where nothing is cut.
    from mmcrawl.archive.format.cutting import stored_blocks
    from mmcrawl.blocks.link_kinds import link_kinds
    from mmcrawl.blocks.partition import partition_of

    blocks = None
    try:
        if tree.body != received.body:  # it was read without NULs, or as UTF-8
            tree = read_tree(received.body, encoding=page.encoding)
        cut = partition_of(tree, method=method, url=page.url)
        kinds = link_kinds(cut, page.url, page.encoding)
        links = tuple([link.in_block(kinds.get(link.url, "")) for link in page.links])
        page, blocks = replace(page, links=links), tuple(stored_blocks(cut))
        # Blocks and their page hold each other: they would wait for a garbage collection.
        cut.roots = cut.blocks = ()
    except Exception as error:
        raise_if_fatal(error)
        logger.exception("%s is not cut into blocks", page.url)
    return ReadPage(page, digest, blocks, needed)


# -- between the two processes ----------------------------------------------------------------


def serve() -> None:
    """In the other process: read what comes in."""
    questions = Questions()
    (method, requisites), _ = questions.next()
    questions.answer(None)
    # What loads with a first page would keep the crawl's waiting; robots.txt is still under way.
    read_page(ReceivedPage("http://a.test/", _FIRST), method, requisites)
    while True:
        plain, bodies = questions.next()
        pages = [
            ReceivedPage(url, body, content_type, refresh)
            for (url, content_type, refresh), body in zip(plain, bodies, strict=True)
        ]
        questions.answer([_plain(read_page(page, method, requisites)) for page in pages])


def _values_of(kind: type[Any], *left_out: str) -> Callable[[Any], tuple[Any, ...]]:
    return attrgetter(*(one.name for one in fields(kind) if one.name not in left_out))


_link_values = _values_of(Link, "media")  # only those that a feed names have some
_group_values, _media_values = _values_of(LinkGroup), _values_of(MediaResource)
_block_values = _values_of(StoredBlock)
_PARTS = {"links": _link_values, "groups": _group_values, "media": _media_values}
_NAMES = [one.name for one in fields(Page) if one.name not in (*_PARTS, "led_by")]


def _plain(read: ReadPage) -> list[Any]:
    """Return what JSON can write of a page that was read."""
    page = {name: getattr(read.page, name) for name in _NAMES}
    page |= {name: [*map(values, getattr(read.page, name))] for name, values in _PARTS.items()}
    blocks = None if read.blocks is None else [*map(_block_values, read.blocks)]
    return [page, read.digest, blocks, read.requisites]


def _of_plain(
    page: dict[str, Any], digest: int, blocks: list[list[Any]] | None, requisites: list[str]
) -> ReadPage:
    page["links"] = tuple([Link(*link) for link in page["links"]])
    page["groups"] = tuple([LinkGroup(*group) for group in page["groups"]])
    page["media"] = tuple([MediaResource(*(*one[:-1], tuple(one[-1]))) for one in page["media"]])
    page["named"] = tuple([(kind, address) for kind, address in page["named"]])
    kept = None if blocks is None else tuple([StoredBlock(*block) for block in blocks])
    return ReadPage(Page(**page), digest, kept, tuple(requisites))
