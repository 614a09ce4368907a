"""Memento (RFC 7089): datetime negotiation for clients that know the address a page had.

``/timegate/URL`` leads to the version seen nearest to ``Accept-Datetime``; ``/timemap/link/URL``
and ``/timemap/json/URL`` list all versions, in pages where there are many. Mementos themselves are
what :mod:`mmcrawl.browse.replay` serves.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mmcrawl.browse.context import Context
from mmcrawl.browse.memento_links import Related, asked_url, memento_links, origin_of
from mmcrawl.browse.memento_maps import TimeMap
from mmcrawl.browse.replay_history import history_of

__all__ = ["memento_routes", "read_http_date"]

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DAYS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
_DATE = re.compile(
    rf"(?:{_DAYS}), ([0-9]{{2}}) ({'|'.join(_MONTHS)}) ([0-9]{{4}})"
    r" ([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT"
)


def memento_routes(context: Context) -> list[Route]:
    """Return the routes of TimeGate and TimeMaps."""

    def answer_to(request: Request) -> Response:
        return _TimeGate(context, request).response()

    def list_for(request: Request) -> Response:
        return TimeMap(context, request).response()

    async def timegate(request: Request) -> Response:
        return await context.pool.run(lambda: answer_to(request))

    async def timemap(request: Request) -> Response:
        return await context.pool.run(lambda: list_for(request))

    return [
        Route("/timegate/{url:path}", timegate, name="timegate"),
        Route("/timemap/{form}/{url:path}", timemap, name="timemap"),
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


class _TimeGate:
    def __init__(self, context: Context, request: Request) -> None:
        self._context, self._request = context, request

    def response(self) -> Response:
        headers = {"Vary": "accept-datetime", "Cache-Control": "no-cache"}
        try:
            url = asked_url(self._request, 1, self._context.limits.longest_url)
        except ValueError as error:
            return PlainTextResponse(f"{error}\n", 400, headers)
        url, history = history_of(self._context.archive, url)
        origin = origin_of(self._request)
        headers["Link"] = memento_links(origin, url, history)
        asked = self._request.headers.get("accept-datetime")
        try:
            time = read_http_date(asked) if asked is not None else float("inf")
        except ValueError as error:
            return PlainTextResponse(f"Accept-Datetime: {error}\n", 400, headers)
        if not history.mementos:
            return PlainTextResponse("This address is not in the archive.\n", 404, headers)
        memento = history.nearest(time)
        headers["Link"] = memento_links(origin, url, history, memento)
        headers["Location"] = Related(origin, url).memento(memento)
        return Response(status_code=302, headers=headers)
