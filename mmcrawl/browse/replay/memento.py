"""Memento (RFC 7089): datetime negotiation for clients that know the address a page had.

``/timegate/URL`` leads to the version seen nearest to ``Accept-Datetime``; ``/timemap/link/URL``
lists all versions. Mementos themselves are what :mod:`mmcrawl.browse.replay.serving` serves.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mmcrawl.browse.arguments import Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.replay.addresses import (
    History,
    Memento,
    archived_url,
    history_of,
    http_date,
    replay_address,
    written_url,
)

LINK_FORMAT = "application/link-format"
"""Content type of a TimeMap (RFC 6690)."""

_DAYS = ("Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,")
_LONGEST_RELATED = 1_500  # characters of a URL that is repeated for each relation


def origin_of(request: Request) -> str:
    """Return ``http://HOST:PORT`` as the client knows it."""
    return f"{request.url.scheme}://{request.url.netloc}"


def requested_url(request: Request, parts: int, longest: int) -> str:
    """Return the archived URL that stands at the end of a request's path, with its query.

    Args:
        parts: How many segments of the path come before.
    """
    raw = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    path = raw.split(b"?")[0].decode("latin-1").split("/", parts + 1)[-1]
    url = archived_url(path, request.scope["query_string"].decode("latin-1"))
    if len(url) > longest:
        raise Problem(400, "long", name="url", longest=longest)
    if url == "http://":
        raise Problem(400, "missing", name="url")
    return url


def _link(target: str, rel: str, **parameters: str) -> str:
    """Return a link as headers and link lists write it (RFC 8288)."""
    said = {"rel": rel, **parameters}
    return "; ".join([f"<{target}>", *(f'{name}="{value}"' for name, value in said.items())])


def _links(
    origin: str,
    url: str,
    named: Iterable[tuple[Memento | None, str]],
    relation: str = "timemap",
    **span: str,
) -> Iterator[str]:
    """Yield links to all that there is of a URL: original, TimeGate, TimeMap, mementos.

    Args:
        named: Mementos and what they are called; each is linked once, with all its names.
        relation, span: What the TimeMap is to who reads the links, and the times that it is of.
    """
    original = written_url(url)
    yield _link(original, "original")
    yield _link(f"{origin}/timegate/{original}", "timegate")
    yield _link(f"{origin}/timemap/link/{original}", relation, type=LINK_FORMAT, **span)
    relations: dict[Memento, list[str]] = {}
    for memento, word in named:
        if memento is not None:
            relations.setdefault(memento, []).extend([word] if word else [])
    for memento, words in relations.items():
        target, rel = origin + replay_address(url, memento.time), " ".join([*words, "memento"])
        yield _link(target, rel, datetime=http_date(memento.time))


def memento_links(origin: str, url: str, history: History, current: Memento | None = None) -> str:
    """Return the ``Link`` header of a TimeGate or a memento."""
    named: list[tuple[Memento | None, str]] = []
    if history.mementos and len(written_url(url)) <= _LONGEST_RELATED:
        before, behind = history.around(current) if current else (None, None)
        first, last = history.mementos[0], history.mementos[-1]
        named = [(first, "first"), (before, "prev"), (current, "")]
        named += [(behind, "next"), (last, "last")]
    return ", ".join(_links(origin, url, named))


def _asked(context: Context, request: Request, parts: int) -> tuple[str, History]:
    """Return the URL at the end of a path as it is stored, and its history; Problem without any."""
    url = requested_url(request, parts, context.limits.longest_url)
    url, history = history_of(context.archive, url)
    if not history.mementos:
        problem = Problem(404, "url", url=url)
        problem.headers["Link"] = memento_links(origin_of(request), url, history)
        raise problem
    return url, history


def _timemap(context: Context, request: Request) -> Response:
    url, history = _asked(context, request, 2)
    first, last = history.mementos[0], history.mementos[-1]
    named = [(first, "first"), *((one, "") for one in history.mementos), (last, "last")]
    span = {"from": http_date(first.time), "until": http_date(last.time)}
    links = _links(origin_of(request), url, named, "self", **span)
    headers = {"Cache-Control": "no-cache", "Content-Type": LINK_FORMAT}
    return Response(",\n".join(links) + "\n", headers=headers)


def memento_routes(context: Context) -> list[Route]:
    return [
        context.raw_route("/timegate/{url:path}", partial(_timegate, context)),
        context.raw_route("/timemap/link/{url:path}", partial(_timemap, context)),
    ]


def read_http_date(text: str) -> float:
    """Return Unix seconds of a date of RFC 1123, the only form that RFC 7089 allows.

    Raises:
        ValueError: it is none.

    >>> read_http_date("Thu, 31 May 2007 20:35:00 GMT")
    1180643700.0
    """
    text = text.strip(" \t")
    with suppress(ValueError):
        time = parsedate_to_datetime(text[:100]).timestamp()
        if text[:4] in _DAYS and http_date(time)[4:] == text[4:]:  # which day may be wrong
            return time
    raise ValueError(f"{text[:100]!r} is no date; write it as Thu, 31 May 2007 20:35:00 GMT")


def _timegate(context: Context, request: Request) -> Response:
    headers = {"Vary": "accept-datetime", "Cache-Control": "no-cache"}
    origin = origin_of(request)
    try:
        url, history = _asked(context, request, 1)
    except Problem as problem:
        problem.headers |= headers
        raise
    headers["Link"] = memento_links(origin, url, history)
    arguments = request.headers.get("accept-datetime")
    try:
        time = read_http_date(arguments) if arguments is not None else float("inf")
    except ValueError as error:
        return PlainTextResponse(f"Accept-Datetime: {error}\n", 400, headers)
    memento = history.nearest(time)
    headers["Link"] = memento_links(origin, url, history, memento)
    headers["Location"] = origin + replay_address(url, memento.time)
    return Response(status_code=302, headers=headers)
