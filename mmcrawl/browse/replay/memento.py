"""Memento (RFC 7089): datetime negotiation for clients that know the address a page had.

``/timegate/URL`` leads to the version seen nearest to ``Accept-Datetime``; ``/timemap/link/URL``
lists all versions. Mementos themselves are what :mod:`mmcrawl.browse.replay.serving` serves.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mmcrawl.browse.context import Context
from mmcrawl.browse.replay.addresses import (
    REPLAY,
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

_LONGEST_RELATED = 1_500  # characters of a URL that is repeated for each relation
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DAYS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
_DATE = re.compile(
    rf"(?:{_DAYS}), ([0-9]{{2}}) ({'|'.join(_MONTHS)}) ([0-9]{{4}})"
    r" ([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT"
)


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
        raise ValueError(f"the address has {len(url):,} characters; {longest:,} are allowed")
    if url == "http://":
        raise ValueError("no address is given; put it at the end: http://…")
    return url


@dataclass(frozen=True, slots=True)
class Related:
    """The addresses of one URL: original, TimeGate, TimeMaps, mementos."""

    origin: str
    url: str

    @property
    def original(self) -> str:
        return written_url(self.url)

    @property
    def timegate(self) -> str:
        return f"{self.origin}/timegate/{self.original}"

    @property
    def timemap(self) -> str:
        return f"{self.origin}/timemap/link/{self.original}"

    def memento(self, memento: Memento) -> str:
        return self.origin + replay_address(self.url, memento.time, place=REPLAY)

    def entries(self, history: History) -> Iterator[str]:
        """Yield links to all mementos, each with its datetime."""
        ends = history.mementos[:1], history.mementos[-1:]
        for memento in history.mementos:
            words = [
                word for word, end in zip(("first", "last"), ends, strict=True) if [memento] == end
            ]
            yield link(
                self.memento(memento),
                " ".join([*words, "memento"]),
                datetime=http_date(memento.time),
            )


def link(target: str, rel: str, **parameters: str) -> str:
    """Return a link as headers and link lists write it (RFC 8288)."""
    return "; ".join(
        [
            f"<{target}>",
            f'rel="{rel}"',
            *(f'{name}="{value}"' for name, value in parameters.items()),
        ]
    )


def memento_links(origin: str, url: str, history: History, current: Memento | None = None) -> str:
    """Return the ``Link`` header of a TimeGate or a memento."""
    related = Related(origin, url)
    links = [
        link(related.original, "original"),
        link(related.timegate, "timegate"),
        link(related.timemap, "timemap", type=LINK_FORMAT),
    ]
    if history.mementos and len(related.original) <= _LONGEST_RELATED:
        links += _neighbours(related, history, current)
    return ", ".join(links)


def _neighbours(related: Related, history: History, current: Memento | None) -> Iterator[str]:
    """Yield links to the first, previous, current, next and last memento, each once."""
    before, behind = history.around(current) if current else (None, None)
    relations: dict[Memento, list[str]] = {}
    for memento, word in (
        (history.mementos[0], "first"),
        (before, "prev"),
        (current, ""),
        (behind, "next"),
        (history.mementos[-1], "last"),
    ):
        if memento is not None:
            relations.setdefault(memento, []).extend([word] if word else [])
    for memento, words in relations.items():
        rel = " ".join([*words, "memento"])
        yield link(related.memento(memento), rel, datetime=http_date(memento.time))


def _timemap(context: Context, request: Request) -> Response:
    try:
        url = requested_url(request, 2, context.limits.longest_url)
    except ValueError as error:
        return PlainTextResponse(f"{error}\n", 400)
    url, history = history_of(context.archive, url)
    if not history.mementos:
        return PlainTextResponse("This address is not in the archive.\n", 404)
    related = Related(origin_of(request), url)
    ends = (("from", history.mementos[0]), ("until", history.mementos[-1]))
    span = {name: http_date(memento.time) for name, memento in ends}
    links = [
        link(related.original, "original"),
        link(related.timegate, "timegate"),
        link(related.timemap, "self", type=LINK_FORMAT, **span),
        *related.entries(history),
    ]
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
    found = _DATE.fullmatch(text.strip(" \t"))
    if found is None:
        raise ValueError(f"{text[:100]!r} is no date; write it as Thu, 31 May 2007 20:35:00 GMT")
    day, month, year, hour, minute, second = found.groups()
    at = datetime(
        int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second)
    )
    return at.replace(tzinfo=UTC).timestamp()


def _timegate(context: Context, request: Request) -> Response:
    headers = {"Vary": "accept-datetime", "Cache-Control": "no-cache"}
    try:
        url = requested_url(request, 1, context.limits.longest_url)
    except ValueError as error:
        return PlainTextResponse(f"{error}\n", 400, headers)
    url, history = history_of(context.archive, url)
    origin = origin_of(request)
    headers["Link"] = memento_links(origin, url, history)
    arguments = request.headers.get("accept-datetime")
    try:
        time = read_http_date(arguments) if arguments is not None else float("inf")
    except ValueError as error:
        return PlainTextResponse(f"Accept-Datetime: {error}\n", 400, headers)
    if not history.mementos:
        return PlainTextResponse("This address is not in the archive.\n", 404, headers)
    memento = history.nearest(time)
    headers["Link"] = memento_links(origin, url, history, memento)
    headers["Location"] = Related(origin, url).memento(memento)
    return Response(status_code=302, headers=headers)
