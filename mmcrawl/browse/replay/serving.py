"""Archived pages as they were: ``/replay/20240517083000/http://h.test/a``.

What is shown is the version seen nearest to the time; another time leads to the exact one. Links
and embedded files lead into the archive. See :mod:`mmcrawl.browse.replay.addresses` for what keeps
archived pages from doing harm, :class:`~mmcrawl.browse.replay.addresses.Mode` for what else can be
had: the bytes as they came, the blocks outlined, scripts.
"""

import re
import time
from calendar import monthrange
from collections.abc import Callable, Iterator
from heapq import nsmallest
from itertools import chain, islice
from urllib.parse import urlsplit

from starlette.convertors import PathConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mmcrawl.archive.model import Version
from mmcrawl.archive.rewriting import rewrite_html
from mmcrawl.archive.warc.heads import sort_key
from mmcrawl.blocks.drawing import draw
from mmcrawl.blocks.partition import partition
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.replay.addresses import (
    ALONE,
    PLACE,
    REPLAY,
    History,
    Memento,
    Mode,
    Place,
    archived_url,
    charset_label,
    declared_charset,
    essence,
    history_of,
    http_date,
    locked,
    original_headers,
    policy,
    read_stamp,
    replay_address,
    replaying_links,
    served_type,
    stamp,
    written_url,
)
from mmcrawl.browse.replay.memento import memento_links, origin_of, requested_url
from mmcrawl.page.requisites import rewrite_css
from mmcrawl.page.urls import joined_url

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60}")
_VALUES: dict[str, Callable[[Version], str]] = {
    "urlkey": lambda version: sort_key(written_url(version.url)),
    "timestamp": lambda version: stamp(version.time),
    "original": lambda version: written_url(version.url),
    "mimetype": lambda version: kind if _TYPE.fullmatch(kind := essence(version)) else "unk",
    "statuscode": lambda version: str(version.status),
    "digest": lambda version: version.digest,
    "length": lambda version: str(version.size),
}
"""The fields of a capture, without blanks: they part the fields of a line."""
FIELDS = tuple(_VALUES)
DEFAULT_LIMIT = 1_000
LARGEST_LIMIT = 10_000

_PARAMETERS = ("url", "matchType", "from", "to", "limit", "output", "fl", "closest", "sort")
_MATCHES = ("exact", "prefix", "host", "domain")
_SHARE_OF_TIME = 0.8  # of what a request may take, after which the search ends with what it has


def cdx_routes(context: Context) -> list[Route]:
    return [context.route("/cdx", lambda context, given: _Asked(context, given).response())]


class _Asked:
    """What a request asks for; times are whole Unix seconds. Problem (400) if that is not clear."""

    def __init__(self, context: Context, given: Arguments) -> None:
        for name in given.values.keys() - {*_PARAMETERS}:
            raise Problem(400, "parameter", name=name[:50], choices=", ".join(_PARAMETERS))
        url, match = given.url(), given.choice("matchType", _MATCHES)
        if not match:  # as wildcards: below an address, or a domain
            match = "domain" if url.startswith("*.") else "prefix" if url.endswith("*") else "exact"
            url = url.removeprefix("*.") if match == "domain" else url.removesuffix("*")
        self._url, self._match = url, match
        self._fields = [one.strip() for one in (given.text("fl") or ",".join(FIELDS)).split(",")]
        if unknown := {*self._fields} - {*FIELDS}:
            raise Problem(400, "choice", name="fl", value=min(unknown), choices=", ".join(FIELDS))
        # With `closest` it is the order anyway; without, as pywb asks when it wants all, there is
        # none.
        given.choice("sort", ("closest",))
        self._since, self._until = _time(given, "from", "0001"), _time(given, "to", "9999")
        self._limit = given.whole("limit", DEFAULT_LIMIT, most=LARGEST_LIMIT)
        self._output = given.choice("output", ("text", "json"), "text")
        self._near = _time(given, "closest", "") if given.text("closest") else None
        self._archive = context.archive
        self._end = time.monotonic() + context.limits.seconds * _SHARE_OF_TIME
        self._late = False

    def response(self) -> Response:
        near, most = self._near, self._limit + 1
        captures = self._captures()
        if near is None:
            found = list(islice(captures, most))
        else:
            found = nsmallest(most, captures, lambda version: abs(version.time - near))
        lines = [[_VALUES[name](version) for name in self._fields] for version in found]
        headers = {"Cache-Control": "no-cache"}
        if self._late or len(lines) > self._limit:
            headers["X-Limited"] = "time" if self._late else "limit"
        lines = lines[: self._limit]
        if self._output == "json":
            return JSONResponse([self._fields, *lines] if lines else [], headers=headers)
        return PlainTextResponse("".join(" ".join(line) + "\n" for line in lines), headers=headers)

    def _captures(self) -> Iterator[Version]:
        for url in self._urls():
            for version in self._archive.versions(url):
                if self._since <= version.time < self._until + 1:
                    yield version
            if time.monotonic() > self._end:
                self._late = True
                return

    def _urls(self) -> Iterator[str]:
        url = archived_url(self._url, "")
        if self._match == "exact":
            return iter([url])
        if self._match == "prefix":
            return chain.from_iterable(self._archive.urls(prefix=p) for p in _prefixes(self._url))
        host = (urlsplit(url).hostname or "").lower()
        if self._match == "host":
            return self._archive.urls(host=host)
        hosts = (h for h in self._archive.hosts() if h == host or h.endswith(f".{host}"))
        return chain.from_iterable(self._archive.urls(host=h) for h in hosts)


def _time(given: Arguments, name: str, default: str) -> int:
    """Return a time in seconds; of ``to`` the last one: ``2024`` is the whole year."""
    digits = given.text(name, default, longest=100) or default
    try:
        time = read_stamp(digits)
    except ValueError:
        raise Problem(400, "time", time=digits) from None
    if name == "to":
        days = monthrange(int(digits[:4]), int(digits[4:6] or 12))[1]
        time = read_stamp(digits + f"12{days}235959"[len(digits) - 4 :])  # what was left out
    return time


def _prefixes(url: str) -> list[str]:
    """Return how the addresses below one may begin: of both schemes if none is given."""
    whole = archived_url(url, "")
    if url.lower().startswith(("http:", "https:", "http%3a", "https%3a")):
        return [whole]
    return [whole, whole.replace("http://", "https://", 1)]


_TIME = re.compile(r"([0-9]{1,20})([a-z]{2}_)?")
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_STEPS = 5  # from one address to the next
_WITHOUT_BODY = (204, 205, 304)
_FRAMES = ("iframe", "frame")


def replay_routes(context: Context) -> list[Route]:
    register_url_convertor("anything", _Anything())
    path = f"{REPLAY}{{time}}/{{url:anything}}"
    return [context.raw_route(path, lambda request: _Replay(context, request).response())]


class _Anything(PathConvertor):
    """The rest of a path, line breaks included."""

    regex = "(?s:.*)"


class _Replay:
    def __init__(self, context: Context, request: Request) -> None:
        self._context, self._request = context, request
        self._place: Place = request.scope[PLACE]
        self._origin = origin_of(request)
        self._headers: dict[str, str] = dict(ALONE)
        if request.headers.get("sec-fetch-dest") == "font":
            self._headers["Access-Control-Allow-Origin"] = "*"  # asked for by pages of no origin

    def response(self) -> Response:
        """Return the archived answer, or a redirect to its exact time."""
        found = _TIME.fullmatch(self._request.path_params["time"])
        if found is None or (found[2] or "") not in set(Mode):
            raise Problem(400, "moment")
        self._digits, self._mode = found[1], Mode(found[2] or "")
        try:
            self._time = read_stamp(self._digits)
        except ValueError:
            raise Problem(400, "time", time=self._digits) from None
        url = requested_url(self._request, 2, self._context.limits.longest_url)
        is_opened = self._request.headers.get("sec-fetch-dest") == "document"
        if self._mode is Mode.SCRIPTS and is_opened:
            raise Problem(403, "scripts")
        return self._nearest(url)

    def _nearest(self, url: str, steps: int = 0) -> Response:
        """Return what an address, to which redirects led, answered nearest to the time.

        What archived pages ask for is answered in place of every redirect: browsers follow none for
        them (`Connection-Allowlist`).
        """
        url, history = history_of(self._context.archive, url)
        if not history.mementos:
            raise Problem(404, "url", url=url)
        memento = history.nearest(self._time)
        if stamp(memento.time) != self._digits and not self._place.keyed:
            return self._redirect(302, replay_address(url, memento.time, self._mode, REPLAY))
        return self._replayed(url, history, memento, steps)

    def _redirect(self, status: int, address: str) -> Response:
        self._headers |= {
            "Location": address,
            "Cache-Control": "no-cache",
            "Content-Security-Policy": locked(keyed=self._place.keyed),
        }
        return Response(status_code=status, headers=self._headers)

    def _replayed(self, url: str, history: History, memento: Memento, steps: int) -> Response:
        version = self._context.archive.version(url, memento.number)
        self._headers |= {
            **original_headers(version.headers),
            "Memento-Datetime": http_date(memento.time),
            "Link": memento_links(self._origin, url, history, memento),
        }
        self._links = replaying_links(
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
                raise Problem(404, "outside", url=location)
            if self._place.keyed and steps < _MOST_STEPS:
                return self._nearest(joined_url(version.url, location), steps + 1)
            return self._redirect(version.status, target)
        return self._body(version)

    def _body(self, version: Version) -> Response:
        kind, to_save = served_type(version, raw=self._mode is Mode.BYTES)
        shown = kind == "text/html" and self._mode is not Mode.BYTES
        if shown and version.size > self._context.limits.largest_body:
            raise Problem(413, "large", url=version.url)
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
            body = body.decode(codec, "replace").encode("utf-8", "replace")
            codec = label = "utf-8"
        return rewrite_html(body, codec, self._links), label

    def _blocks(self, version: Version, body: bytes, shown: bool) -> Response:
        if not shown or not version.method:
            raise Problem(404, "nopage", url=version.url)
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
        if status == 200:
            status, told, part = ranged(self._request.headers.get("range", ""), len(body))
            self._headers |= told
            body = body[part.start : part.stop]
        # Given as a header: a charset would be added to the media type of a response.
        return Response(body, status, {**self._headers, "Content-Type": media_type})


def ranged(wanted: str, size: int) -> tuple[int, dict[str, str], range]:
    """Return status and headers of an answer, and which of its bytes a header ``Range`` asks for.

    All of them where it is no range; none if it is behind the end (416).

    >>> ranged("bytes=-4", 10)[2], ranged("bytes=12-", 10)[0], ranged("lines=1-2", 10)[2]
    (range(6, 10), 416, range(0, 10))
    """
    found = _RANGE.fullmatch(wanted.strip())
    first, last = found.groups() if found else ("", "")
    if first and not (last and int(last) < int(first)):
        part = range(int(first), min(int(last) + 1, size) if last else size)
    elif last and not first:
        part = range(max(0, size - int(last)), size)
    else:
        return 200, {"Accept-Ranges": "bytes"}, range(size)
    if not part:
        return 416, {"Content-Range": f"bytes */{size}"}, range(0)
    told = {"Accept-Ranges": "bytes", "Content-Range": f"bytes {part[0]}-{part[-1]}/{size}"}
    return 206, told, part
