"""Fetches and keeps the media that a crawl found: `scrapy collect -a store=crawl.db`."""

import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.asyncio import call_later, create_looping_call, run_in_thread
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy_spider_metadata import Args
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from mmcrawl.cluster.views.found import FoundMedia
from mmcrawl.crawl.spider_params import CollectParams
from mmcrawl.engine.components import COLLECT, use_components
from mmcrawl.engine.crawls import with_stored_web
from mmcrawl.engine.downloads import DOWNLOAD, BrokenOffError, ReplayMediaHandler, TooSlowError
from mmcrawl.engine.hosts import reason_of
from mmcrawl.engine.threads import in_thread, use_monotonic_clock
from mmcrawl.errors import MediaError, MmcrawlError, StoreError, fatal_error
from mmcrawl.frontier.urls import PrivateHosts, host_of
from mmcrawl.media.collector import LEASE, Collector
from mmcrawl.media.download import Download, bundle_of
from mmcrawl.media.hosted import Players, YtDlp
from mmcrawl.media.index import MediaFile, State, Summary
from mmcrawl.media.parts import open_collection
from mmcrawl.media.sizes import as_size
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page
from mmcrawl.replay.handler import replay_settings
from mmcrawl.settings import value_of
from mmcrawl.text.writing import counted, size_of, time_left

logger = logging.getLogger(__name__)

_VISITED = "mmcrawl_visited"  # in a request's meta: a page that is asked for its cookies, or was
_IN_PLACE = "mmcrawl_in_place"  # in a request's meta: the file in whose place a page came
_REFUSED = frozenset({401, 403})
_MOST_VISITS = 5  # pages of a host that are asked for their cookies
_LARGEST_PAGE = 4 << 20  # bytes
_UNDER_WAY = 128  # files that are taken at once; each has two open
_PER_HOST = 32
_LOOK = 2.0  # seconds between two looks at a crawl that runs, and
_LOOK_SHARE = 10.0  # as many times what a look took
_COMMITTED = 600.0  # seconds until a page that was visited is in the store, at most
_TICK = 0.5
_LINE = 10.0
_HANDLER = f"{ReplayMediaHandler.__module__}.{ReplayMediaHandler.__name__}"


@dataclass(frozen=True, slots=True)
class Collected:
    """The result of a collecting run.

    Attributes:
        kept, kept_bytes: files that came in this run.
    """

    place: str
    kept: int
    kept_bytes: int
    seconds: float
    summary: Summary
    ending: str = ""  # why it stopped early, "" if it did not; `problem` says it in a sentence
    problem: str = ""


class CollectSpider(Args[CollectParams], Spider):
    """Fetches media that crawls found, and keeps them.

    Addresses are taken from the collection's index, which says of each what came of it. They are
    fetched as pages are, by the same rules of robots.txt, delays and private networks; their bytes
    go to the disk.

    Attributes:
        follows: tells whether a crawl still runs whose media are collected; None for one that
            does not.
    """

    name = "collect"
    args: CollectParams
    follows: Callable[[], bool] | None = None
    private_hosts = PrivateHosts()

    outcome: Collected | None = None

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        use_components(settings, COLLECT)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        kwargs = with_stored_web(kwargs, crawler.settings)
        spider: Self = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(use_monotonic_clock, signals.spider_opened)
        spider._hosts = Counter()
        spider._downloads = set()
        spider._pages = {}
        spider._waiting = None
        spider._begun = time.monotonic()
        spider._calls = []
        try:
            spider._open(crawler.settings)
        except MmcrawlError as error:  # said when the spider begins: Scrapy would show a traceback
            spider._refused = error
        return spider

    def _open(self, settings: BaseSettings) -> None:
        found = self._found = FoundMedia(self.args.store_uri, self.args.job)
        webs = {self.args.web} if self.args.web else found.webs
        if len(webs) > 1:
            raise MmcrawlError(
                "some crawls in the store are of stored webs and some are not: say -a job=NAME"
            )
        [web] = webs
        if web:
            settings.setdict(replay_settings(web, _HANDLER), priority="spider")
        anywhere = bool(web or value_of(settings, "MMCRAWL_PRIVATE_NETWORKS"))
        self.private_hosts = PrivateHosts.of(found.seeds, all=anywhere)
        players = self._players(settings, web)
        collection = open_collection(self.args.store_uri, value_of(settings, "MMCRAWL_MEDIA"))
        self._collector = Collector(collection, self.args.budget(), self.args.wanted, players)

    def _players(self, settings: BaseSettings, web: str) -> Players | None:
        if not self.args.hosted:
            return None
        if web:
            raise MmcrawlError("hosted= asks the network, but the crawl is of a stored web")
        throttled = settings.getbool("AUTOTHROTTLE_ENABLED")
        program = YtDlp(
            value_of(settings, "MMCRAWL_YTDLP"),
            self.private_hosts,
            settings.getfloat("AUTOTHROTTLE_START_DELAY" if throttled else "DOWNLOAD_DELAY"),
            settings.getfloat("DOWNLOAD_TIMEOUT"),
        )
        return Players(program, as_size(self.args.hosted))

    _found: FoundMedia
    _collector: Collector | None = None
    _refused: MmcrawlError | None = None
    _hosts: Counter[str]
    _downloads: set[Download]
    _pages: dict[str, list[Download]]  # asked for their cookies, with what waits for them
    _waiting: Deferred[None] | None
    _player: Deferred[None] | None = None
    _failure: BaseException | None = None
    _begun: float
    _calls: list[Any]
    _problem: str = ""
    _renewed: float = 0.0

    async def start(self) -> AsyncIterator[Any]:
        """Request what waits, as long as anything does or the crawl runs."""
        if self._refused is not None:
            raise self._stopped(self._refused)
        for call, seconds in ((self._tick, _TICK), (self._say_progress, _LINE)):
            self._calls.append(create_looping_call(call))
            self._calls[-1].start(seconds, now=False)
        runs, look_at, all_known = True, 0.0, False
        try:
            await run_in_thread(self._work.begin, self.args.states_again)
            while True:
                crawls = self.follows is not None and self.follows()
                if runs and (not crawls or time.monotonic() > look_at):
                    runs = crawls
                    began = time.monotonic()
                    await self._look(all=not runs or not all_known)
                    all_known, ended = True, time.monotonic()
                    look_at = ended + max(_LOOK, _LOOK_SHARE * (ended - began))
                was_idle = self._is_idle
                downloads = await self._taken()
                self._fetch_player()
                for download in downloads:
                    yield self._request(download)
                if downloads or (self._is_idle and not was_idle):
                    continue  # of a host that was busy others may wait
                if self._is_idle and not runs:
                    return
                await self._next()
        except StoreError as error:
            raise self._stopped(error) from None

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        download: Download = response.meta[DOWNLOAD]
        try:
            if response.status in (200, 206):
                for piece in await run_in_thread(self._work.keep, download):
                    yield self._request(piece)
            else:
                await self._failed(download, State.FAILED, f"HTTP {response.status}")
        except StoreError as error:
            raise self._stopped(error) from None
        finally:
            self._done(download)

    async def visited(self, response: Response) -> AsyncIterator[Any]:
        """Ask for files again, with the cookies that their page has set."""
        for request in self._again(response.meta[_VISITED]):
            yield request

    async def not_visited(self, failure: Failure) -> AsyncIterator[Any]:
        """Ask for files again although their page does not come: the answer says why they fail."""
        for request in self._again(failure.request.meta[_VISITED]):  # type: ignore[attr-defined]
            yield request

    async def page_in_place(self, response: Response) -> AsyncIterator[Any]:
        """Ask for the medium of a page that came in place of a file: it takes the file's place.

        A page without one may be for who has no cookies: it asks to log in, or to agree.
        """
        download: Download = response.meta[_IN_PLACE]
        header = (response.headers.get("Content-Type") or b"").decode("latin-1")
        page = await run_in_thread(parse_page, response.body, response.url, header)
        download.file = replace(download.file, title=page.title)
        url = _medium_of(page, download.file)
        if not url and self._may_want_cookies(download):
            for request in self._visits(download):
                yield request
            return
        yield self._request(download, again=True, url=url)

    async def no_page_in_place(self, failure: Failure) -> AsyncIterator[Any]:
        """Ask for the file itself again: the answer says why it is none."""
        yield self._request(failure.request.meta[_IN_PLACE], again=True)  # type: ignore[attr-defined]

    async def errback(self, failure: Failure) -> AsyncIterator[Any]:
        """Record why a download failed; request it again with cookies where that may help."""
        download: Download = failure.request.meta[DOWNLOAD]  # type: ignore[attr-defined]
        problem = failure.value
        asked = failure.request.meta[_VISITED]  # type: ignore[attr-defined]
        is_refused = isinstance(problem, HttpError) and problem.response.status in _REFUSED
        if is_refused and not asked and self._may_want_cookies(download):
            for request in self._visits(download):
                yield request
            return
        if download.is_page and not (asked or self._is_stopping or _is_left_out(problem)):
            yield Request(
                download.file.url,
                callback=self.page_in_place,
                errback=self.no_page_in_place,
                meta={_IN_PLACE: download, "download_maxsize": _LARGEST_PAGE},
                dont_filter=True,
            )
            return
        try:
            fatal = fatal_error(problem)
            if fatal is not None:
                raise fatal
            if self._is_stopping:
                return
            state = State.SKIPPED if _is_left_out(problem) else State.FAILED
            await self._failed(download, state, _reason(failure))
        except StoreError as error:
            raise self._stopped(error) from None
        finally:
            self._done(download)

    async def closed(self, reason: str) -> None:
        """Put unsettled files back to waiting, and report the result."""
        for call in self._calls:
            if call.running:
                call.stop()
        if self._player is not None:
            self._work.is_stopped = True
            await maybe_deferred_to_future(self._player)
        if self._collector is not None:
            self.outcome = await run_in_thread(self._closed, self._collector, reason)

    # -- inside -------------------------------------------------------------------------------

    def _closed(self, collector: Collector, reason: str) -> Collected | None:
        try:
            collector.leave()
            summary = collector.collection.index.summary()
            return Collected(
                collector.collection.name,
                collector.kept,
                collector.kept_bytes,
                time.monotonic() - self._begun,
                summary,
                "" if reason == "finished" else reason,
                self._problem,
            )
        except StoreError as error:
            logger.error("%s", error)  # noqa: TRY400 - for a person
            return None
        finally:
            try:
                collector.close()
            except StoreError as error:
                logger.error("%s", error)  # noqa: TRY400 - for a person

    async def _look(self, *, all: bool) -> None:
        """Add what the crawls found: everything, or what is new since the last call."""
        since = 0.0 if all else time.time() - _COMMITTED
        await run_in_thread(self._work.add, self._found.since(since))

    async def _taken(self) -> list[Download]:
        """Take files, if there is room for many more; keep those that were already complete.

        None only if no other waits.
        """
        room = _UNDER_WAY - len(self._downloads)
        if room < _UNDER_WAY // 2 or self._is_stopping:
            return []  # what is taken while all is given back would wait for another run to end it
        busy = {host for host, count in self._hosts.items() if count >= _PER_HOST}
        taken: list[Download] = []
        while not taken and (given := await run_in_thread(self._work.take, room, busy)):
            for download in given:
                if download.is_whole:
                    taken += await run_in_thread(self._work.keep, download)
                else:
                    taken.append(download)
        return taken

    def _fetch_player(self) -> None:
        """Fetch the media of the next player, one at a time."""
        if self._failure is not None:
            raise self._failure
        if self._player is None and self._work.players_wait and not self._is_stopping:
            self._player = in_thread(self._work.fetch_player)
            self._player.addErrback(self._player_failed).addBoth(self._player_done)

    def _player_failed(self, failure: Failure) -> None:
        self._failure = failure.value

    def _player_done(self, _: object) -> None:
        self._player = None
        self._wake()

    def _visits(self, download: Download) -> Iterator[Request]:
        """Yield a request that may get a file which was refused, as to who has no cookies.

        The file stays in progress.
        """
        page = download.file.page
        if page not in self._pages:
            self._pages[page] = [download]
            yield Request(
                page,
                callback=self.visited,
                errback=self.not_visited,
                meta={_VISITED: page, "download_maxsize": _LARGEST_PAGE},
                dont_filter=True,
            )
        elif waiting := self._pages[page]:
            waiting.append(download)
        else:
            yield self._request(download, again=True)

    def _may_want_cookies(self, download: Download) -> bool:
        page = download.file.page
        if self._is_stopping or not page:
            return False
        # Many servers refuse for other reasons.
        host = host_of(page)
        visited = sum(host_of(one) == host for one in self._pages)
        return page in self._pages or visited < _MOST_VISITS

    def _again(self, page: str) -> Iterator[Request]:
        waiting, self._pages[page] = self._pages[page], []
        for download in waiting:
            yield self._request(download, again=True)

    def _request(self, download: Download, *, again: bool = False, url: str = "") -> Request:
        url = url or bundle_of(download.file.url)[0] or download.file.url
        if not again:
            self._downloads.add(download)
            self._hosts[host_of(url)] += 1
        return Request(
            url,
            callback=self.parse,
            errback=self.errback,
            headers={"Accept-Encoding": "identity", "Accept": "*/*"},
            meta={DOWNLOAD: download, _VISITED: again},
            dont_filter=True,
        )

    async def _failed(self, download: Download, state: State, reason: str) -> None:
        logger.info("%s: %s", download.file.url, reason)
        await run_in_thread(self._work.settle, download, state, reason)

    def _done(self, download: Download) -> None:
        host = host_of(download.file.url)
        self._hosts[host] -= 1
        if not self._hosts[host]:
            del self._hosts[host]
        self._downloads.discard(download)
        self._wake()

    async def _next(self) -> None:
        self._waiting = Deferred()
        call_later(_LOOK, self._wake)
        await maybe_deferred_to_future(self._waiting)

    def _wake(self) -> None:
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            waiting.callback(None)

    @property
    def _is_idle(self) -> bool:
        return not self._downloads and self._player is None

    @property
    def _is_stopping(self) -> bool:
        engine = self.crawler.engine
        return bool(self._problem) or engine is None or not engine.running

    def _tick(self) -> None:
        """Abort requests in progress when the spider is to stop; otherwise send a heartbeat."""
        if self._is_stopping:
            self._work.is_stopped = True
            for download in [*self._downloads]:
                download.stop()
            for slot in self.crawler.engine.downloader.slots.values():
                slot.delay = 0.0  # what it has waiting is not sent any more
        elif time.monotonic() - self._renewed > LEASE / 4:
            self._renewed = time.monotonic()
            in_thread(self._renew)

    def _renew(self) -> None:
        try:
            self._work.renew()
        except StoreError as error:  # the next one may do; who settles is told if none does
            logger.warning("%s", error)

    def _say_progress(self) -> None:
        received = sum(download.size for download in self._downloads)
        doing = f"{len(self._downloads)} in progress ({size_of(received)} received)"
        in_thread(lambda: self._tell(doing))

    def _tell(self, doing: str) -> None:
        try:
            settled, wait = self._work.progress()
        except StoreError:  # who settles is told
            return
        pace = settled / (time.monotonic() - self._begun)
        logger.info(
            f"{counted(self._work.kept, 'file')} downloaded ({size_of(self._work.kept_bytes)}),"
            f" {doing}, {wait} not yet{f', {time_left(wait, pace)}' if wait and settled else ''}"
        )

    @property
    def _work(self) -> Collector:
        assert self._collector is not None  # noqa: S101 - a spider that is refused does nothing
        return self._collector

    def _stopped(self, error: MmcrawlError) -> CloseSpider:
        """Record why collecting stops; return the exception that ends it."""
        if not self._problem:
            logger.error("%s", error)
        self._problem = str(error)
        self.crawler.stats.set_value("mmcrawl/store_error", str(error))
        return CloseSpider("store_error")


def _reason(failure: Failure) -> str:
    problem = failure.value
    if isinstance(problem, MediaError | BrokenOffError | TooSlowError):
        return str(problem)
    if isinstance(problem, IgnoreRequest) and "redirection" in str(problem):
        return "it is redirected in a circle, or too often"
    return reason_of(failure)


def _is_left_out(problem: BaseException | None) -> bool:
    return isinstance(problem, MediaError) and problem.left_out


def _medium_of(page: Page, file: MediaFile) -> str:
    """Return the medium of a file's page: that of the same name, else the first; "" for none."""
    urls = [one.url for one in page.media if one.kind == file.kind and one.url != file.url]
    name = file.url.rpartition("/")[2].rpartition(":")[2]
    same = (url for url in urls if url.rpartition("/")[2] == name)
    return next(same, next(filter(media_kind, urls), next(iter(urls), "")))
