"""What changed lately: a list of changed blocks, and the same as an Atom feed."""

import time
from functools import lru_cache
from itertools import islice
from math import inf

from starlette.responses import Response

from mmcrawl.archive.comparing.atom import MEDIA_TYPE, atom_feed, feed_title
from mmcrawl.archive.comparing.change_kinds import CHANGE_KINDS
from mmcrawl.archive.comparing.watching import Watch, WatchedChange, watched_changes
from mmcrawl.archive.revisits import COUNTED
from mmcrawl.blocks.selecting import LONGEST_SELECTOR, ElementSelector
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page
from mmcrawl.browse.text import address, when
from mmcrawl.errors import SearchError
from mmcrawl.store.uris import shown

_MOST = 10  # changes on a page: to compare two versions takes 10 ms or more
_MOST_IN_FEED = 30  # a reader that asks once a day should miss none
_MOST_SEEN_BLOCKS = 8  # of a change
_ALL = "all"
_SHARE_OF_TIME = 0.6  # of what a request may take, after which no more is compared
_INSTANT = 2e-6  # seconds; as finely as a time is written
_selector = lru_cache(16)(ElementSelector)  # the same one for the same words: pairs are kept by it


def watch_page(context: Context, arguments: Arguments) -> Response:
    form = _form(arguments)
    changes: list[WatchedChange] = []
    following, late, wrong = None, None, ""
    try:
        changes, following, late = _changes(context, arguments, form, _MOST)
    except SearchError as error:
        wrong = str(error)
    return page(
        arguments,
        "watch",
        status=400 if wrong else 200,
        form=form,
        kinds=CHANGE_KINDS,
        most=_MOST_SEEN_BLOCKS,
        changes=changes,
        feed="" if wrong else address("/watch.atom", **form),
        until="" if following is None else _written(following + _INSTANT),
        late=late,
        wrong=wrong,
    )


def watch_feed(context: Context, arguments: Arguments) -> Response:
    form = _form(arguments)
    browser = str(arguments.request.base_url)
    feed = atom_feed(
        _changes(context, arguments, form, _MOST_IN_FEED)[0],
        title=feed_title(form["url"] or form["site"], form["kind"], form["css"]),
        archive=shown(context.uri),
        browser=browser,
        own=browser.rstrip("/") + address("/watch.atom", **form),
    )
    return Response(feed, media_type=MEDIA_TYPE)


def _changes(
    context: Context, arguments: Arguments, form: dict[str, str], most: int
) -> tuple[list[WatchedChange], float | None, float | None]:
    """Return some changes, the newest first, and of the next the time, None if these are all.

    The last is that time too if there was no time to compare more.
    """
    since, until = arguments.time("since"), arguments.time("until")
    watch = Watch(
        _kinds(form),
        _selector(form["css"]) if form["css"] else None,
        since=-inf if since is None else since,
        until=inf if until is None else until,
    )
    deadline = time.monotonic() + _SHARE_OF_TIME * context.limits.seconds
    late = None

    def stop(at: float) -> bool:
        nonlocal late
        late = at if time.monotonic() > deadline else None
        return late is not None

    urls = _urls(context, form)
    found = watched_changes(context.archive, urls, watch, compare=context.watched, stop=stop)
    changes = list(islice(found, most + 1))
    return changes[:most], changes[most].time if len(changes) > most else late, late


def _urls(context: Context, form: dict[str, str]) -> dict[str, float]:
    url, site, archive = form["url"], form["site"].lower(), context.archive
    if url:
        versions = archive.versions(url)
        if not versions:
            raise Problem(404, "url", url=url)
        return {versions[0].url: inf}
    if site and next(archive.urls(site), None) is None:
        raise Problem(404, "host", host=site)
    return archive.changed_urls(site or None)


def _form(arguments: Arguments) -> dict[str, str]:
    since = arguments.time("since")
    return {
        "kind": arguments.choice("kind", (_ALL, *CHANGE_KINDS)),
        "css": arguments.text("css", longest=LONGEST_SELECTOR),
        "since": "" if since is None else _written(since),
        "site": arguments.text("site", longest=300),
        "url": arguments.text("url", longest=arguments.longest_url),
    }


def _kinds(form: dict[str, str]) -> frozenset[str] | None:
    """Return the kinds that are watched: where none is named, those that the page is there for."""
    kind = form["kind"]
    if kind == _ALL or (form["css"] and not kind):
        return None
    return frozenset({kind}) if kind else COUNTED


def _written(at: float) -> str:
    text = when(at, "%Y-%m-%dT%H:%M:%S.%f")
    return text.removesuffix(".000000").removesuffix("T00:00:00")
