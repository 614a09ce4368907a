"""The application: routes, static files, and what is said when something is wrong."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.resources import files
from math import inf
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from mmcrawl.archive.search.index import DamagedError
from mmcrawl.browse.arguments import Arguments, Problem, wrong_entry
from mmcrawl.browse.context import Act, Context, Limits, View
from mmcrawl.browse.oai import oai_routes
from mmcrawl.browse.rendering import page
from mmcrawl.browse.replay.addresses import REPLAY
from mmcrawl.browse.replay.memento import memento_routes
from mmcrawl.browse.replay.serving import cdx_routes, replay_routes
from mmcrawl.browse.safety import guarded
from mmcrawl.browse.views import (
    collections,
    crawls,
    home,
    media,
    pages,
    search,
    topics,
    versions,
    watch,
    works,
)
from mmcrawl.errors import EntryError, MissingRecordError, MmcrawlError, SearchError, TopicError
from mmcrawl.store.uris import shown

logger = logging.getLogger(__name__)

_TOLD_PLAINLY = (REPLAY, "/cdx", "/timegate/", "/timemap/")


PAGES: Mapping[str, View] = {
    "/": home.home,
    "/sites": pages.sites_page,
    "/site": pages.site_page,
    "/search": search.search_page,
    "/search.json": search.search_json,
    "/find": pages.find_page,
    "/page": pages.history_page,
    "/version": versions.version_page,
    "/view": versions.view_page,
    "/diff": versions.diff_page,
    "/watch": watch.watch_page,
    "/watch.atom": watch.watch_feed,
    "/media/item": media.media_item,
    "/works": works.works_page,
    "/work": works.work_page,
    "/work/picture": works.work_picture,
    "/work/file/{id}/{number:int}/{path:path}": works.work_file,
    "/collections": collections.collections_page,
    "/collection": collections.collection_page,
    "/collection/export": collections.download_export,
    "/topics": topics.topics_page,
    "/topic": topics.topic_page,
    "/topic/words": topics.words_page,
    "/topic/suggestions": topics.suggestions_page,
    "/crawls": crawls.crawls_page,
    "/crawls.json": crawls.crawls_json,
    "/crawl": crawls.crawl_page,
    "/help": lambda context, given: page(given, "help", archive=shown(context.uri)),
}
FORMS: Mapping[str, Act] = {
    "/works/describe": works.describe_works,
    "/works/change": works.change_works,
    "/work/correct": works.correct_work,
    "/collections/add": collections.add_to_collection,
    "/collection": collections.change_collection,
    "/collection/export": collections.export_collection,
    "/topic/mark": topics.mark_page,
    "/topic/learn": topics.learn_topic,
    "/topic/words": topics.save_words,
    "/topic/suggestions": topics.suggest_words,
    "/topic/suggestions/decide": topics.decide_suggestion,
    "/crawls": crawls.start_crawl,
    "/crawl": crawls.act_on_crawl,
    "/crawl/near": crawls.mark_near,
}


def create_app(context: Context) -> ASGIApp:
    """Return the application."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        context.surveyor.start()
        context.runs.watch()
        yield

    folders = {"/static": files("mmcrawl.browse") / "static", "/ruffle": context.options.ruffle}
    app = Starlette(
        routes=[
            *(context.route(path, view) for path, view in PAGES.items()),
            *(context.form(path, act) for path, act in FORMS.items()),
            *(Mount(path, StaticFiles(directory=str(one))) for path, one in folders.items() if one),
            *replay_routes(context),
            *memento_routes(context),
            *cdx_routes(context),
            *oai_routes(context),
        ],
        exception_handlers=problem_handlers(),
        lifespan=lifespan,
    )
    return guarded(app, context)


_PROBLEMS: Mapping[type[Exception], Callable[[Any], Problem]] = {
    Problem: lambda error: error,
    EntryError: lambda error: wrong_entry(error.field, error),
    ClientDisconnect: lambda _: Problem(400, "form"),
    TopicError: lambda error: Problem(400, "entry", error=error),
    MissingRecordError: lambda error: Problem(404, "record", name=error.name),
    SearchError: lambda error: Problem(400, "selector", error=error),
    DamagedError: lambda _: Problem(503, "index"),
    MmcrawlError: lambda error: Problem(503, "store", error=error),
    OSError: lambda error: Problem(503, "disk", error=error),
}
"""What an exception means to the reader; the first that it is of counts."""


def _problem_of(request: Request, error: Exception) -> Problem:
    if isinstance(error, TopicError) and request.method != "POST":
        return Problem(400, "topic", error=error)
    for kind, problem in _PROBLEMS.items():
        if isinstance(error, kind):
            return problem(error)
    status = error.status_code if isinstance(error, HTTPException) else 500
    wrong_method = "method" if request.method == "POST" else "formonly"
    return Problem(status, {404: "path", 405: wrong_method}.get(status, "fault"))


def _answer(request: Request, error: Exception) -> Response:
    """Show what is wrong, to programs as JSON or as a line of text, as in frames."""
    problem, arguments = _problem_of(request, error), Arguments(request)
    if isinstance(error, MmcrawlError | OSError) and problem.status == 503:
        logger.warning("%s: %s", request.url.path, error)
    words, values, status = arguments.words, problem.values, problem.status
    if "fields" in values:
        field: str = values["fields"][0]  # type: ignore[index]
        values = {**values, "error": arguments.entry(field, values["error"])}
    what = words(f"problem.{problem.name}", **values)
    do = words(f"problem.{problem.name}.do", **values)
    headers = {"Retry-After": "5"} if status == 503 else dict(getattr(error, "headers", None) or {})
    if request.url.path.startswith(_TOLD_PLAINLY):
        return PlainTextResponse(f"{what} {do}\n", status, headers)
    if request.url.path.endswith(".json"):
        return JSONResponse({"error": what, "do": do}, status, headers)
    return page(arguments, "problem", status=status, headers=headers, code=status, what=what, do=do)


def problem_handlers() -> dict[Any, Any]:
    """Return what shows the reader what is wrong, by the class of the exception."""
    return dict.fromkeys((*_PROBLEMS, Problem, HTTPException, Exception), _answer)


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
    return _Server(config)


class _Server(uvicorn.Server):
    async def on_tick(self, counter: int) -> bool:
        for one in [*self.server_state.connections]:
            if isinstance(one, _Connection):
                one.look()
        return await super().on_tick(counter)


class _Connection(H11Protocol):
    """One connection.

    Attributes:
        counts: Whether it is one of those that are open; one that is being ended is not.
    """

    def __init__(self, *arguments: Any, limits: Limits, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.counts = True
        self._limits = limits
        self._since = self.loop.time()  # it waits for a request
        self._taken = self._since  # some of an answer left
        self._left = 0  # bytes of answers that were not taken yet

    # -- how many there may be ------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; end another one if there are too many."""
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KEPT)
        super().connection_made(transport)
        others = [one for one in self._all() if one.counts]
        count = Counter(one.host for one in others)
        if count[self.host] > self._limits.connections_each:
            self._make_room(one for one in others if one.host == self.host)
        elif len(others) > self._limits.connections:
            most = count.most_common(1)[0][0]
            self._make_room(one for one in others if one.host == most)

    def _make_room(self, some: Iterable[_Connection]) -> None:
        """Refuse the one that has waited longest for its reader, or this one if none waits."""
        waiting = [one for one in some if one is not self and one.waits]
        min(waiting or [self], key=lambda one: one._since)._refuse()

    def _refuse(self) -> None:
        """Answer that there is no room, whatever is asked; `look` ends it when that can be read."""
        refused = [one for one in self._all() if not one.counts]
        if len(refused) >= self._limits.connections:
            oldest = min(refused, key=lambda one: one._since)
            oldest._since = inf
            # Once all that has come is read: what is left unread would reset it.
            self.loop.call_later(0, oldest._end)
        self.counts, self._since = False, self.loop.time()
        self.transport.write(_BUSY)
        with suppress(OSError):  # it has hung up
            self.transport.write_eof()

    def _all(self) -> list[_Connection]:
        return [one for one in self.connections if isinstance(one, _Connection)]

    def _end(self) -> None:
        self.counts = False
        self.transport.abort()

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

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def look(self) -> None:
        """End it if its reader neither asks whole requests nor takes anything of an answer."""
        now, left = self.loop.time(), self.transport.get_write_buffer_size()
        if not 0 < self._left <= left:
            self._taken = now
        self._left = left
        is_whole = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        since = self._taken if left else inf if is_whole and self.counts else self._since
        if now - since > (self._limits.arriving if self.counts else _LINGER):
            self._end()
