"""The application: routes, static files, and what is said when something is wrong."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from mmcrawl.archive.uris import shown
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.oai import oai_routes
from mmcrawl.browse.rendering import page
from mmcrawl.browse.replay.memento import memento_routes
from mmcrawl.browse.replay.serving import cdx_routes, replay_routes
from mmcrawl.browse.runs import CrawlWatch
from mmcrawl.browse.safety import guarded
from mmcrawl.browse.text import sentences
from mmcrawl.browse.views.collections import CollectionViews
from mmcrawl.browse.views.crawls import CrawlViews
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
    crawls = CrawlViews(context, CrawlWatch(context.options.store), context.runs)
    routes: list[BaseRoute] = [
        context.route("/", sites.home),
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
        words = Arguments(request).words
        if (entry := f"entry.{problem.values.get('field')}") in sentences():
            problem.values["error"] = words(entry)
        what = words(f"problem.{problem.name}", **problem.values)
        do = words(f"problem.{problem.name}.do", **problem.values)
        headers = {"Retry-After": "5"} if problem.status == 503 else {}
        if request.url.path.endswith(".json"):
            return JSONResponse({"error": what, "do": do}, problem.status, headers)
        return page(
            Arguments(request),
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
