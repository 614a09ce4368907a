"""Archived pages as they were: ``/replay/20240517083000/http://h.test/a``.

What is shown is the version seen nearest to the time; another time leads to the exact one. Links
and embedded files lead into the archive. See :mod:`mmcrawl.browse.replay.answers` for what keeps
archived pages from doing harm, :class:`~mmcrawl.browse.replay.addresses.Mode` for what else can be
had: the bytes as they came, the blocks outlined, scripts.
"""

import re

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mmcrawl.archive.model import Version
from mmcrawl.blocks.drawing import draw
from mmcrawl.blocks.partition import partition
from mmcrawl.browse.arguments import Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.replay.addresses import (
    REPLAY,
    History,
    Memento,
    Mode,
    history_of,
    http_date,
    place_of,
    read_stamp,
    replay_address,
    stamp,
)
from mmcrawl.browse.replay.answers import (
    ALONE,
    charset_label,
    declared_charset,
    locked,
    original_headers,
    policy,
    served_type,
)
from mmcrawl.browse.replay.html import rewrite_html
from mmcrawl.browse.replay.links import Links, rewrite_css
from mmcrawl.browse.replay.memento import memento_links, origin_of, requested_url
from mmcrawl.errors import MmcrawlError

_TIME = re.compile(r"([0-9]{1,20})([a-z]{2}_)?")
_RANGE = re.compile(r"bytes=([0-9]{1,18})-([0-9]{0,18})")
_REDIRECTS = (301, 302, 303, 307, 308)
_WITHOUT_BODY = (204, 205, 304)
_FRAMES = ("iframe", "frame")


class _RefusedError(Exception):
    """Nothing can be replayed: a status and a sentence that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def replay_routes(context: Context) -> list[Route]:
    """Return the routes at which archived pages are replayed."""

    async def replay(request: Request) -> Response:
        try:
            return await context.pool.run(lambda: _Replay(context, request).response())
        except _RefusedError as refused:
            return _message(request, refused.status, str(refused))
        except Problem as problem:
            why = "This takes too long, or too much is asked at once; try again in a while."
            return _message(request, problem.status, why)
        except MmcrawlError as error:
            return _message(request, 503, f"The archive cannot be read: {error}.")

    register_url_convertor("anything", _Anything())
    return [Route("/replay/{time}/{url:anything}", replay, name="replay")]


class _Anything(Convertor[str]):
    """The rest of a path, line breaks included."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _Replay:
    def __init__(self, context: Context, request: Request) -> None:
        self._context, self._request = context, request
        self._place = place_of(request.scope)
        self._origin = origin_of(request)
        self._headers: dict[str, str] = dict(ALONE)

    def response(self) -> Response:
        """Return the archived answer, or a redirect to its exact time."""
        time, self._mode, url = self._arguments()
        url, history = history_of(self._context.archive, url)
        if not history.mementos:
            raise _RefusedError(404, f"This address is not in the archive: {url}")
        memento = history.nearest(time)
        if stamp(memento.time) != self._digits:
            return self._redirect(
                302, replay_address(url, memento.time, self._mode, self._own_path)
            )
        return self._replayed(url, history, memento)

    @property
    def _own_path(self) -> str:
        """Path by which this request may be sent on."""
        return self._place.path if self._place.keyed else REPLAY

    def _arguments(self) -> tuple[int, Mode, str]:
        found = _TIME.fullmatch(self._request.path_params["time"])
        if found is None or (found[2] or "") not in set(Mode):
            raise _RefusedError(
                400, "This is no time: give 14 digits as 20240517083000, and id_ for the bytes."
            )
        self._digits = found[1]
        try:
            time = read_stamp(found[1])
            url = requested_url(self._request, 2, self._context.limits.longest_url)
        except ValueError as error:
            raise _RefusedError(400, f"{error}.") from None
        mode = Mode(found[2] or "")
        if mode is Mode.SCRIPTS and self._request.headers.get("sec-fetch-dest") == "document":
            raise _RefusedError(
                403, "Scripts of archived pages run only within the frame of the interface."
            )
        return time, mode, url

    def _redirect(self, status: int, address: str) -> Response:
        self._headers |= {
            "Location": address,
            "Cache-Control": "no-cache",
            "Content-Security-Policy": locked(keyed=self._place.keyed),
        }
        return Response(status_code=status, headers=self._headers)

    def _replayed(self, url: str, history: History, memento: Memento) -> Response:
        version = self._context.archive.version(url, memento.number)
        self._headers |= {
            **original_headers(version.headers),
            "Memento-Datetime": http_date(memento.time),
            "Link": memento_links(self._origin, url, history, memento),
        }
        self._links = Links(
            version.url,
            version.encoding or "utf-8",
            self._digits,
            Mode.PAGE if self._mode is Mode.BLOCKS else self._mode,
            self._place.path,
        )
        location = version.header("location")
        if version.status in _REDIRECTS and location:
            target = self._links(location, "")
            if not target:
                raise _RefusedError(404, f"The page led out of the web, to: {location}")
            return self._redirect(version.status, target)
        return self._body(version)

    def _body(self, version: Version) -> Response:
        kind, to_save = served_type(version, raw=self._mode is Mode.BYTES)
        shown = kind == "text/html" and self._mode is not Mode.BYTES
        if shown and version.size > self._context.limits.largest_body:
            raise _RefusedError(
                413, "This page is too large to be shown. Ask for its bytes: id_ behind the time."
            )
        body = self._context.archive.rebuild(version).body
        keyed = self._place.keyed
        if self._mode is Mode.BLOCKS:
            return self._blocks(version, body, shown)
        self._headers |= {
            "Content-Security-Policy": policy(
                self._origin, self._place.path, scripts=self._mode is Mode.SCRIPTS, keyed=keyed
            ),
            # Links name the key of this run: a later run could not serve what they embed.
            "Cache-Control": "private, max-age=3600" if keyed else "no-cache",
            "Vary": "Sec-Fetch-Dest",
        }
        if kind.startswith(("font/", "application/font")):
            self._headers["Access-Control-Allow-Origin"] = "*"  # asked for by pages of no origin
        if to_save:
            self._headers["Content-Disposition"] = "attachment"
        if self._mode is not Mode.BYTES:
            body, label = self._rewritten(version, kind, body)
        else:
            label = declared_charset(version) or charset_label(version.encoding)
        status = version.status if 200 <= version.status < 600 else 200
        return self._sent(body, 200 if status in _WITHOUT_BODY else status, kind, label)

    def _rewritten(self, version: Version, kind: str, body: bytes) -> tuple[bytes, str]:
        """Return a body with its links rewritten, and the label of its encoding."""
        if kind == "text/css":
            label = declared_charset(version)
            if len(body) <= self._context.limits.largest_body:
                body = rewrite_css(body, "utf-8", self._links.embedded)
            return body, label
        if kind != "text/html":
            return body, declared_charset(version)
        codec, label = version.encoding or "utf-8", charset_label(version.encoding or "utf-8")
        if not label:  # ASCII is not ASCII in it
            body, codec, label = (
                body.decode(codec, "replace").encode("utf-8", "replace"),
                "utf-8",
                "utf-8",
            )
        return rewrite_html(body, codec, self._links), label

    def _blocks(self, version: Version, body: bytes, shown: bool) -> Response:
        if not shown or not version.method:
            raise _RefusedError(404, "This is no page: it has no blocks.")
        page = partition(
            body,
            method=version.method,
            level=version.level,
            encoding=version.encoding,
            url=version.url,
        )
        self._headers["Content-Security-Policy"] = locked(keyed=self._place.keyed)
        self._headers["Cache-Control"] = "private, max-age=3600"
        return self._sent(draw(page).encode(), 200, "text/html", "utf-8")

    def _sent(self, body: bytes, status: int, kind: str, label: str) -> Response:
        """Return the response, of a part of the body if that is asked for (to seek in a film)."""
        media_type = f"{kind}; charset={label}" if label and kind.startswith("text/") else kind
        self._headers["Accept-Ranges"] = "bytes"
        found = _RANGE.fullmatch(self._request.headers.get("range", ""))
        if found and status == 200:
            start, size = int(found[1]), len(body)
            end = min(int(found[2] or size), size - 1)
            if start > end:
                self._headers["Content-Range"] = f"bytes */{size}"
                return Response(status_code=416, headers=self._headers)
            self._headers["Content-Range"] = f"bytes {start}-{end}/{size}"
            body, status = body[start : end + 1], 206
        # Given as a header: a charset would be added to the media type of a response.
        return Response(body, status, {**self._headers, "Content-Type": media_type})


def _message(request: Request, status: int, sentence: str) -> Response:
    """Return a sentence in place of an archived page: it is shown in a frame."""
    policy_of_it = locked(keyed=place_of(request.scope).keyed)
    headers = {**ALONE, "Content-Security-Policy": policy_of_it, "Cache-Control": "no-cache"}
    return PlainTextResponse(sentence, status, headers)
