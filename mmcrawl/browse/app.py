"""The application: routes, static files, and what is said when something is wrong."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from math import inf
from time import monotonic
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from mmcrawl.archive.uris import shown
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context, Limits
from mmcrawl.browse.oai import oai_routes
from mmcrawl.browse.rendering import page
from mmcrawl.browse.replay.memento import memento_routes
from mmcrawl.browse.replay.serving import cdx_routes, replay_routes
from mmcrawl.browse.safety import guarded
from mmcrawl.browse.views.collections import CollectionViews
from mmcrawl.browse.views.crawls import CrawlViews
from mmcrawl.browse.views.home import HomeViews
from mmcrawl.browse.views.media import MediaViews, SearchViews
from mmcrawl.browse.views.pages import PageViews, SiteViews
from mmcrawl.browse.views.topics import TopicViews, TopicWordViews
from mmcrawl.browse.views.versions import VersionViews, WatchViews
from mmcrawl.browse.views.works import WorkViews
from mmcrawl.errors import MmcrawlError

logger = logging.getLogger(__name__)

_PROGRAMS = (
    ("/search.json?q=…", "help.search.json"),
    ("/crawls.json", "help.crawls.json"),
    ("/watch.atom?kind=…&css=…", "help.watch.atom"),
    ("/timegate/http://…", "help.timegate"),
    ("/timemap/link/http://…", "help.timemap"),
    ("/cdx?url=http://…", "help.cdx"),
    ("/oai?verb=Identify", "help.oai"),
)


def create_app(context: Context) -> ASGIApp:
    """Return the application."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        context.surveyor.start()
        context.runs.watch()
        yield

    app = Starlette(
        routes=[
            *_routes(context),
            *replay_routes(context),
            *memento_routes(context),
            *cdx_routes(context),
            *oai_routes(context),
        ],
        exception_handlers={
            Problem: _answer_to(_of_problem),
            MmcrawlError: _answer_to(_of_store),
            OSError: _answer_to(_of_disk),
            HTTPException: _answer_to(_of_http),
            Exception: _answer_to(_of_fault),
        },
        lifespan=lifespan,
    )
    return guarded(app, context)


def _routes(context: Context) -> list[BaseRoute]:
    sites, search = SiteViews(context), SearchViews(context)
    pages, versions = PageViews(context), VersionViews(context)
    media, watch = MediaViews(context), WatchViews(context)
    works, collections = WorkViews(context), CollectionViews(context)
    topics, topic_words = TopicViews(context), TopicWordViews(context)
    crawls = CrawlViews(context)
    routes: list[BaseRoute] = [
        context.route("/", HomeViews(context).home),
        context.route("/sites", sites.sites),
        context.route("/site", sites.site),
        context.route("/search", search.page),
        context.route("/search.json", search.json),
        context.route("/find", pages.find),
        context.route("/page", pages.through_time),
        context.route("/page/blocks", pages.blocks),
        context.route("/version", versions.version),
        context.route("/view", versions.view),
        context.route("/diff", versions.diff),
        context.route("/watch", watch.page),
        context.route("/watch.atom", watch.feed),
        context.route("/media", media.gallery),
        context.route("/media/item", media.item),
        context.route("/works", works.works),
        context.form("/works/describe", works.describe),
        context.form("/works/change", works.change),
        context.route("/work", works.work),
        context.form("/work/correct", works.correct),
        context.route("/work/picture", works.picture),
        context.raw_route("/work/file/{id}/{number:int}/{path:path}", works.file, "file"),
        context.route("/collections", collections.collections),
        context.form("/collections/add", collections.add),
        context.route("/collection", collections.collection),
        context.form("/collection", collections.change),
        context.route("/collection/export", collections.download),
        context.form("/collection/export", collections.export),
        context.route("/topics", topics.topics),
        context.route("/topic", topics.topic),
        context.form("/topic/mark", topics.mark),
        context.form("/topic/learn", topics.learn),
        context.route("/topic/words", topic_words.words),
        context.form("/topic/words", topic_words.save),
        context.route("/topic/suggestions", topic_words.suggestions),
        context.form("/topic/suggestions", topic_words.suggest),
        context.form("/topic/suggestions/decide", topic_words.decide),
        context.route("/crawls", crawls.crawls),
        context.route("/crawls.json", crawls.json),
        context.form("/crawls", crawls.start),
        context.route("/crawl", crawls.crawl),
        context.form("/crawl", crawls.act),
        context.form("/crawl/near", crawls.mark_near),
        context.route("/reports/{name}", crawls.report),
        Route("/help", _help(context), name="help"),
        Mount("/static", StaticFiles(directory=str(files("mmcrawl.browse") / "static"))),
    ]
    if context.options.ruffle is not None:
        routes.append(Mount("/ruffle", StaticFiles(directory=context.options.ruffle)))
    return routes


def _help(context: Context) -> Callable[[Request], Response]:
    def show(request: Request) -> Response:
        return page(Arguments(request), "help", programs=_PROGRAMS, archive=shown(context.uri))

    return show


def _answer_to(
    problem_of: Callable[[Request, Exception], Problem],
) -> Callable[[Request, Exception], Response]:
    """Return a handler that shows what an exception means, to programs as JSON."""

    def handle(request: Request, error: Exception) -> Response:
        problem = problem_of(request, error)
        arguments = Arguments(request)
        words, values = arguments.words, problem.values
        if "field" in values:
            error_of_field = arguments.entry(str(values["field"]), values["error"])
            values = {**values, "error": error_of_field}
        what = words(f"problem.{problem.name}", **values)
        do = words(f"problem.{problem.name}.do", **values)
        headers = {"Retry-After": "5"} if problem.status == 503 else {}
        if request.url.path.endswith(".json"):
            return JSONResponse({"error": what, "do": do}, problem.status, headers)
        return page(
            arguments,
            "problem",
            status=problem.status,
            headers=headers,
            code=problem.status,
            what=what,
            do=do,
        )

    return handle


def _of_problem(_: Request, error: Exception) -> Problem:
    assert isinstance(error, Problem)  # noqa: S101 - it is called for these only
    return error


def _of_store(request: Request, error: Exception) -> Problem:
    logger.warning("%s: %s", request.url.path, error)
    return Problem(503, "store", error=error)


def _of_disk(request: Request, error: Exception) -> Problem:
    logger.warning("%s: %s", request.url.path, error)
    return Problem(503, "disk", error=error)


def _of_http(request: Request, error: Exception) -> Problem:
    status = error.status_code if isinstance(error, HTTPException) else 500
    method = "method" if request.method == "POST" else "formonly"
    name = {404: "path", 405: method}.get(status, "fault")
    return Problem(status, name)


def _of_fault(_: Request, __: Exception) -> Problem:  # the server logs it
    return Problem(500, "fault")


# -- The server: uvicorn, with bounds on what a connection may take that uvicorn does not have ----
# A request has to arrive whole in some seconds, an answer has to be taken at some pace, and nobody
# holds more than some connections: of somebody with more, the one that has waited longest for a
# request is told to come back (503), so that who asks is answered at once.

# Bytes that the system keeps of an answer, of each connection. It would take megabytes, and nobody
# would see for long whether a slow reader takes any.
_KEPT = 64 << 10
_LINGER = 2.0  # seconds in which the answer of 503 is read: to close at once would reset it
_TOLD = b"Too many connections; try again in a moment.\n"
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nConnection: close\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s" % (len(_TOLD), _TOLD)
)


def server_of(app: ASGIApp, limits: Limits) -> uvicorn.Server:
    """Return what serves the application, on sockets that it is given."""
    config = uvicorn.Config(
        app,
        http=partial(_Connection, limits=limits),  # type: ignore[arg-type]
        ws="none",
        log_level="error",  # warnings are of what strangers send
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    return uvicorn.Server(config)


class _Connection(H11Protocol):
    """One connection.

    Attributes:
        counts: Whether it is one of those that are open; one that is being ended is not.
    """

    def __init__(self, *arguments: Any, limits: Limits, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.counts = True
        self._limits = limits
        self._since = monotonic()  # it has waited for a request since then, if it waits
        self._arriving: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None

    # -- how many there may be ------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; end another one if there are too many."""
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KEPT)
        super().connection_made(transport)
        self._watch()
        others = [one for one in self._all() if one.counts]
        count = Counter(one.host for one in others)
        if count[self.host] > self._limits.connections_each:
            self._make_room(one for one in others if one.host == self.host)
        elif len(others) > self._limits.connections:
            most = count.most_common(1)[0][0]
            self._make_room(one for one in others if one.host == most)

    def _make_room(self, among: Iterable[_Connection]) -> None:
        """Refuse the one that has waited longest for its reader, or this one if none waits."""
        min(
            among, key=lambda one: (one is self or not one.waits, one is not self, one._since)
        )._refuse()

    def _refuse(self) -> None:
        """Answer that there is no room, whatever is asked, and end it when that can be read."""
        refused = [one for one in self._all() if not one.counts]
        if len(refused) >= self._limits.connections:
            min(refused, key=lambda one: one._since)._end_soon()
        self.counts, self._since = False, monotonic()
        self._drop_timers()
        self.transport.write(_BUSY)
        self.transport.write_eof()
        self._arriving = self.loop.call_later(_LINGER, self._end)

    def _end_soon(self) -> None:
        """End it once all that has come is read: what is left unread would reset it."""
        self._since = inf
        self._drop_timers()
        self._arriving = self.loop.call_later(0, self._end)

    def _all(self) -> list[_Connection]:
        return [one for one in self.connections if isinstance(one, _Connection)]

    def _end(self) -> None:
        self.counts = False
        self.transport.abort()

    def _drop_timers(self) -> None:
        for timer in (self._arriving, self._taking):
            if timer is not None:
                timer.cancel()

    @property
    def host(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def waits(self) -> bool:
        """Whether it waits for its reader to ask; an answer that is begun is never broken off."""
        idle = self.cycle is None or self.cycle.response_complete
        return idle and not (self.transport.is_closing() or self.transport.get_write_buffer_size())

    # -- how long they may take -----------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self.counts:
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        self._since = monotonic()
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._drop_timers()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """See to it that what this waits for ends."""
        is_whole = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        if is_whole and self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None
        elif not is_whole and self._arriving is None:
            self._arriving = self.loop.call_later(self._limits.arriving, self._give_up)
        left = self.transport.get_write_buffer_size()
        if left and self._taking is None:
            self._taking = self.loop.call_later(self._limits.arriving, self._look_after, left)

    def _give_up(self) -> None:
        """End it, unless the answer before is still on its way."""
        self._arriving = None
        if self.transport.get_write_buffer_size():
            self._watch()
        else:
            self._end()

    def _look_after(self, before: int) -> None:
        """End it if its reader took nothing of what was written."""
        self._taking = None
        if self.transport.get_write_buffer_size() >= before:
            self._end()
        else:
            self._watch()
