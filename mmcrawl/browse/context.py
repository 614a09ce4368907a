"""What all handlers share: the opened archive, its search index, ranks, limits, options."""

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from threading import BoundedSemaphore
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.comparing.changes import BlockChange
from mmcrawl.archive.comparing.watching import Watch, watched_blocks
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import Version, Visit
from mmcrawl.archive.opening import open_archive
from mmcrawl.archive.search.searching import Search, open_search
from mmcrawl.browse.arguments import Arguments, Form, Problem
from mmcrawl.browse.catalogue import WorksOfStore
from mmcrawl.browse.exports import Exports
from mmcrawl.browse.figures import Surveyor
from mmcrawl.browse.learning import TopicDesk
from mmcrawl.browse.runs import CrawlRuns, CrawlWatch
from mmcrawl.cluster.views.found import FoundMedia
from mmcrawl.errors import RankError, StoreError
from mmcrawl.page.structured import title_in
from mmcrawl.rank.results import open_duplicates, open_ranks

_R = TypeVar("_R")


class Pool:
    """Runs work in threads.

    A thread cannot be stopped: work that takes too long is answered for, and goes on. It counts
    until it ends, so there is never more of it than `threads`.

    Args:
        threads: At work at once, at least 1.
        waiting: Pieces of work that may wait for a thread; more are refused.
        seconds: Until work, waiting included, is given up.
    """

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="browse")
        self._places = BoundedSemaphore(threads + waiting)
        self._seconds = seconds

    async def run(self, work: Callable[[], _R]) -> _R:
        """Return what work returns, or raise what it raises."""
        if not self._places.acquire(blocking=False):
            raise Problem(503, "busy")
        try:
            future = self._executor.submit(work)
        except BaseException:
            self._places.release()
            raise
        future.add_done_callback(lambda _: self._places.release())
        result = asyncio.wrap_future(future)
        try:
            await asyncio.wait({result}, timeout=self._seconds)
            if result.done():
                return result.result()
        finally:
            result.cancel()  # what waits for a thread still is not begun
        raise Problem(504, "slow", seconds=f"{self._seconds:g}")

    def close(self) -> None:
        """Accept no more work; running work continues."""
        self._executor.shutdown(wait=False, cancel_futures=True)


logger = logging.getLogger(__name__)

# How many are remembered: readers go from one version to the next, and to the next list.
_PAGES, _PAIRS, _TITLES = 8, 200, 10_000
_SMALL = 1 << 20  # bytes of a page that is remembered: with its blocks it takes many times as many
_LARGE_PAIR = 1 << 19  # bytes of changes that are not remembered, roughly
_LARGE = frozenset({"/diff", "/version"})  # they cut whole pages into blocks, which may be large
_RANKS_SECONDS = 30.0  # between two looks whether there are new ranks, or groups of pages


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may take.

    Attributes:
        threads: Requests that are worked on at once.
        comparing: Threads besides, for pages that read whole versions: large ones take a minute.
        waiting: Requests that may wait for these; more are refused (503).
        seconds: Until a request is given up (504).
        per_page: Entries of a list that one page shows.
        longest_url: Characters of an archived URL in a request (400 beyond).
        largest_body: Bytes of an archived page that is drawn or replayed as a page.
        largest_form: Bytes of a form that is posted.
        arriving: Seconds in which a request has to arrive whole, from the begin of the connection
            or the end of the answer before; and in which something is taken of an answer.
        connections, connections_each: Open at once, in all and of one address.
    """

    threads: int = 4
    comparing: int = 3
    waiting: int = 200
    seconds: float = 15.0
    per_page: int = 50
    longest_url: int = 8_000
    largest_body: int = 16 << 20
    largest_form: int = 256 << 10
    arriving: float = 10.0
    connections: int = 400
    connections_each: int = 100


@dataclass(frozen=True, slots=True)
class Options:
    """What the user chose.

    Attributes:
        store: URI of the crawl store whose crawls and works are shown, "" for none.
        media: Where its media are, as the setting MMCRAWL_MEDIA says it; None for beside the store.
        ruffle: Folder with ``ruffle.js``, None if it is not installed.
        threshold: Of a page on topic, as the setting MMCRAWL_TOPIC_THRESHOLD says it.
        token: That must be given to see anything, "" if none is needed.
    """

    store: str = ""
    media: str | None = None
    threshold: float = 0.5
    ruffle: Path | None = None
    token: str = ""
    host: str = "127.0.0.1"
    port: int = 8000


def numbers_of(visits: Iterable[Visit]) -> list[int]:
    """Return the numbers of the versions in order of time."""
    return [visit.version for visit in visits if visit.changed and visit.version]


class Context:
    """What handlers share.

    Attributes:
        uri: Of the archive.
        search: Its index; any thread may ask it.
        surveyor: Counts the archive beside the requests.
        catalogue: The works of the crawls, if they are described.
        watch: Where the crawls of the store stand.
        runs: Crawls that were started here.
        topics: Topics that are learnt from marked pages.
        exports: Of collections.
        form_key: Stands in every form of ours that changes something, and nowhere else.
    """

    def __init__(
        self,
        uri: str,
        archive: Archive,
        search: Search,
        options: Options | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.uri, self.archive, self.search = uri, archive, search
        self.options, self.limits = options or Options(), limits or Limits()
        self.pool = Pool(self.limits.threads, self.limits.waiting, self.limits.seconds)
        self._for_large = Pool(self.limits.comparing, self.limits.waiting, self.limits.seconds)
        self.surveyor = Surveyor(self.archive, self.search)
        self.catalogue = WorksOfStore(self.options.store, self.options.media)
        self.runs = CrawlRuns(self.catalogue, self.uri, self.options.ruffle)
        self.watch = CrawlWatch(self.options.store, self.runs.is_running)
        self.topics = TopicDesk(self.catalogue, self.archive, self.uri)
        self.exports = Exports(self.catalogue)
        self._secret = self.options.token.encode() or secrets.token_bytes(16)
        self.form_key = self.derived("form")
        self._small_page = lru_cache(_PAGES)(self._read_page)
        self._pairs: dict[tuple[Version, Version, Watch], tuple[BlockChange, ...]] = {}
        self.title = lru_cache(_TITLES)(self._read_title)
        self._ranks = lru_cache(1)(lambda _: _kept(open_ranks, uri))
        self._alike = lru_cache(1)(lambda _: _kept(open_duplicates, uri))

    def derived(self, purpose: str) -> str:
        """Return a secret for a purpose: 64 hexadecimal digits, the same as long as this runs."""
        return hmac.new(self._secret, purpose.encode(), sha256).hexdigest()

    def form(self, path: str, act: "Act") -> Route:
        """Return a route (POST) of a form that changes something; `act` runs in the pool."""

        async def endpoint(request: Request) -> Response:
            form = Form(request, await request.body(), self.limits.longest_url, self.form_key)
            key = form.values.get("form_key", "")
            if not hmac.compare_digest(key.encode(), self.form_key.encode()):
                raise Problem(403, "form")
            answer = await self.pool.run(lambda: act(self, form))
            return RedirectResponse(answer, 303) if isinstance(answer, str) else answer

        return Route(path, endpoint, methods=["POST"])

    def route(self, path: str, view: "View") -> Route:
        """Return a route (GET and HEAD) whose answers are made in a thread of the pool."""

        def answer(request: Request) -> Response:
            return view(self, Arguments(request, self.limits.longest_url, self.form_key))

        return self.raw_route(path, answer)

    def raw_route(self, path: str, answer: Callable[[Request], Response]) -> Route:
        pool = self._for_large if path in _LARGE else self.pool

        async def endpoint(request: Request) -> Response:
            return await pool.run(lambda: answer(request))

        return Route(path, endpoint)

    def visits(self, url: str) -> list[Visit]:
        """Return the visits of a URL, in order of time; Problem (404) if it is not stored."""
        visits = self.archive.visits(url)
        if not visits:
            raise Problem(404, "url", url=url)
        return visits

    def version(self, arguments: Arguments, visits: Iterable[Visit]) -> Version:
        """Return the version that ``?n=`` asks for; Problem (404) if there is none."""
        url, number = arguments.url(), arguments.whole("n", most=(1 << 32) - 1)
        if number not in {visit.version for visit in visits}:
            raise Problem(404, "version", url=url, number=number)
        return self.archive.version(url, number)

    def ranks(self) -> Mapping[str, float]:
        """Return the rank of each page by its URL as stored; empty if there are no ranks."""
        return self._ranks(time.monotonic() // _RANKS_SECONDS)

    def alike(self) -> Mapping[str, int]:
        """Return the groups of pages that say nearly the same, by URL; empty if none are known."""
        return self._alike(time.monotonic() // _RANKS_SECONDS)

    def page(self, version: Version) -> ArchivedPage:
        """Return a version with its bytes and blocks, as it is shown and compared."""
        return (self._small_page if version.size < _SMALL else self._read_page)(version)

    def watched(self, old: Version, new: Version, watch: Watch) -> tuple[BlockChange, ...]:
        """Return what changed of what is watched; it is remembered if it takes little memory."""
        key = old, new, watch
        if (found := self._pairs.get(key)) is None:
            found = watched_blocks(self.page(old), self.page(new), watch)
            if sum(len(word.text) + 999 for one in found for word in one.words) < _LARGE_PAIR:
                if len(self._pairs) >= _PAIRS:
                    self._pairs.clear()
                self._pairs[key] = found
        return found

    def _read_page(self, version: Version) -> ArchivedPage:
        stored = self.archive.page(version)
        return replace(stored, kept=stored.blocks)

    def _read_title(self, url: str, number: int) -> str:
        """Return the title of a version of a page, "" if it has none or cannot be read."""
        try:
            version = self.archive.version(url, number)
            return title_in(self.archive.rebuild(version).body, version.encoding or "ascii")
        except StoreError:
            return ""

    def close(self) -> None:
        self.runs.close()
        self.topics.programs.close()
        self.catalogue.close()
        self.surveyor.stop()
        self.pool.close()
        self._for_large.close()
        self.search.close()


def _kept(
    read: Callable[[str], AbstractContextManager[Mapping[str, _R]]], uri: str
) -> Mapping[str, _R]:
    """Return what is kept of the pages of an archive by URL, empty if nothing can be read."""
    try:
        with read(uri) as kept:
            return dict(kept)
    except RankError:
        pass
    except StoreError as error:
        logger.warning("%s", error)
    return {}


def found_media(context: Context, job: str) -> FoundMedia:
    """Return what a crawl of the store found; Problem (404) if there is no such crawl."""
    try:
        return FoundMedia(context.options.store, job)
    except StoreError:
        raise Problem(404, "crawl", name=job) from None


View = Callable[[Context, Arguments], Response]
"""Answers a request, in a thread of the pool. May raise Problem, or StoreError, shown as 503."""

Act = Callable[[Context, Form], str | Response]
"""Does what a form says; returns the address shown then, or the form with what is wrong."""


@contextmanager
def open_context(
    uri: str, *, options: Options | None = None, limits: Limits | None = None
) -> Iterator[Context]:
    """Open an archive to browse it.

    The index is opened to be kept up to date where that is possible, else to be read.

    Raises:
        StoreError: the archive is missing, or cannot be read.
    """
    with open_archive(uri, create=False, read_only=True) as archive:
        try:
            search = open_search(uri, archive)
        except StoreError:
            search = open_search(uri, archive, read_only=True)
        context = Context(uri, archive, search, options, limits)
        try:
            yield context
        finally:
            context.close()
