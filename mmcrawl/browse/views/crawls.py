"""Crawls as they run, and one with what it found."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from starlette.responses import JSONResponse, Response

from mmcrawl.browse.arguments import NO_MISTAKES, Arguments, Form, Problem
from mmcrawl.browse.context import Context, found_media, numbers_of
from mmcrawl.browse.lists import table, wants_table
from mmcrawl.browse.rendering import page
from mmcrawl.browse.runs import CrawlNumbers, kind_of_error
from mmcrawl.browse.text import when
from mmcrawl.cluster.store import is_shared
from mmcrawl.cluster.views.found import FoundMedia
from mmcrawl.errors import TopicError
from mmcrawl.frontier.findings import MediaPageRecord, NearMiss
from mmcrawl.page.parse import parse_page
from mmcrawl.scoring.registry import algorithm_names
from mmcrawl.store.uris import shown
from mmcrawl.topic.loading import load_topic, own_topic_names, topic_names
from mmcrawl.works.collections import Mark, Marks

_AGAIN = 5  # seconds until the numbers of running crawls are shown anew,
_AT_FIRST = 0.4  # of a crawl that has few pages
_FEW = 50
RUNNING = ("running", "starting")
_PER_PAGE = 25
_MOST_PAGES = 400  # of the list of what a crawl found; those behind are read to get there
_LONGEST_SEEDS = 20_000  # characters

_COLUMNS: dict[str, Callable[[MediaPageRecord], object]] = {
    "work.title": lambda page: page.title,
    "media.address": lambda page: page.url,
    "crawl.score": lambda page: f"{page.topic_score:.2f}",
    "when": lambda page: when(page.visited_at),
    "nav.media": lambda page: tuple(one.url for one in page.resources),
}


def near_misses(context: Context, found: FoundMedia) -> tuple[list[NearMiss], list[Mark]]:
    """Return the near misses that nobody took or refused, and the marks of the others."""
    marks = Marks(context.catalogue).of(found.near_name)
    return found.near_misses(context.options.threshold, {mark.url for mark in marks}), marks


def _again(crawls: Sequence[CrawlNumbers]) -> float:
    """Return the seconds until the numbers are shown anew: few for a crawl that just began."""
    is_young = not crawls or any(one.state in RUNNING and one.pages < _FEW for one in crawls)
    return _AT_FIRST if is_young else _AGAIN


def crawls_page(
    context: Context, arguments: Arguments, wrong: Mapping[str, str] = NO_MISTAKES
) -> Response:
    """Show crawls, and the form that starts one with what was said and is wrong, by field."""
    said = arguments.values if wrong else {}
    crawls = context.watch.crawls()
    runs = any(crawl.state in RUNNING for crawl in crawls)
    if not runs:
        context.runs.prepare()
    return page(
        arguments,
        "crawls",
        status=400 if wrong else 200,
        said=defaultdict(str, said),
        wrong=wrong,
        store=shown(context.options.store),
        crawls=crawls,
        again=_again(crawls) if runs and not wrong else None,
        can_start=context.catalogue.can_keep,
        topics=[*own_topic_names(), *topic_names()],
        algorithms=algorithm_names(),
        takes_requisites=not is_shared(context.options.store),
    )


def crawl_page(context: Context, arguments: Arguments) -> Response:
    """Show where a crawl stands, and the pages with media that it found, the best first."""
    job = arguments.text("job", longest=300)
    crawl = next((crawl for crawl in context.watch.crawls() if crawl.name == job), None)
    runs = context.runs
    is_running, log = runs.is_running(job), runs.log(job)
    if crawl is None and not is_running and not log and runs.arguments(job) is None:
        raise Problem(404, "crawl", name=job)
    most = min(crawl.media_pages, _MOST_PAGES * _PER_PAGE) if crawl else 0
    part = arguments.list_page(most, _PER_PAGE)
    store = context.options.store
    media = FoundMedia(store, job) if crawl else None
    if media and wants_table(arguments):
        return table(arguments, job, _COLUMNS, media.best(0, _MOST_PAGES * _PER_PAGE))

    def last_version(url: str) -> int | None:
        return max(numbers_of(context.archive.visits(url)), default=None)

    near, marks = near_misses(context, media) if media else ([], [])
    goes_on = is_running or (crawl is not None and crawl.state in RUNNING)
    return page(
        arguments,
        "crawl",
        job=job,
        crawl=crawl,
        again=_again([crawl] if crawl else ()) if goes_on else None,
        found=media.best(part.start, _PER_PAGE) if media else (),
        last_version=last_version,
        near=near,
        marks=marks,
        results=media,
        topic=_topic(media) if media else "",
        most=most,
        part=part,
        log=log,
        is_running=is_running,
        runs=runs,
        kind_of_error=kind_of_error,
    )


def start_crawl(context: Context, form: Form) -> str | Response:
    said = {name: form.text(name, longest=_LONGEST_SEEDS) for name in form.values}
    try:
        return form.to("/crawl", job=context.runs.start(said))
    except Problem as problem:
        if problem.name != "entry":
            raise
        fields: Any = problem.values["fields"]
        wrong = {field: form.entry(field, problem.values["error"]) for field in fields}
        return crawls_page(context, form, wrong)


def act_on_crawl(context: Context, form: Form) -> str:
    job = form.text("job", longest=300)
    match form.choice("do", ("stop", "go-on", "leave")):
        case "stop":
            context.runs.stop(job)
        case do:
            rule = form.text("rule", longest=form.longest_url) if do == "leave" else ""
            crawls = context.watch.crawls()
            barren = {part.rule for one in crawls if one.name == job for part in one.barren}
            if rule and rule not in barren:
                raise Problem(404, "crawl", name=job)
            job = context.runs.go_on(job, form.text("max_pages", longest=9), rule)
    return form.to("/crawl", job=job)


def mark_near(context: Context, form: Form) -> str:
    """Take or refuse a near miss; marks of both are what can be learnt from."""
    job, url = form.text("job", longest=300), form.url()
    found = found_media(context, job)
    if is_good := form.choice("mark", ("good", "bad")) == "good":
        near = {one.url: one for one in found.near_misses(context.options.threshold)}
        if url not in near or not context.archive.visits(url):
            raise Problem(404, "url", url=url)
        capture = context.archive.rebuild(context.archive.get(url))  # as it was archived last
        media = parse_page(capture.body, url, capture.content_type).media
        found.take(MediaPageRecord(*near[url], (), capture.status, capture.time, media))
    context.topics.mark(found.near_name, url, is_good=is_good)
    return form.to("/crawl", job=job)


def _topic(found: FoundMedia) -> str:
    """Return the topic of a crawl if words can be added to it, else ""."""
    try:
        name = load_topic(str(found.jobs[0].arguments.get("topic", ""))).name
    except TopicError:
        return ""
    return name if name in topic_names() else ""


def crawls_json(context: Context, _: Arguments) -> Response:
    return JSONResponse({"crawls": [asdict(crawl) for crawl in context.watch.crawls()]})
