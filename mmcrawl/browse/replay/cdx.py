"""``/cdx``: the captures of an address, of all below it, of a host or a domain, line by line.

It takes the parameters, and gives the fields, that CDX servers of web archives have in common.
Without `limit`, :data:`DEFAULT_LIMIT` lines; what is left out is said by the ``X-Limited`` header.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain, islice
from urllib.parse import urlsplit

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Version
from mmcrawl.archive.warc.cdxj import sort_key
from mmcrawl.browse.context import Context
from mmcrawl.browse.replay.addresses import archived_url, read_stamp, stamp, written_url
from mmcrawl.browse.replay.answers import essence

FIELDS = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
DEFAULT_LIMIT = 1_000
LARGEST_LIMIT = 10_000

_PARAMETERS = ("url", "matchType", "from", "to", "limit", "output", "fl", "closest", "sort")
_MATCHES = ("exact", "prefix", "host", "domain")
_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60}")
_LAST_OF = "99991231235959"
_SHARE_OF_TIME = 0.8  # of what a request may take, after which the search ends with what it has


def cdx_routes(context: Context) -> list[Route]:
    """Return the route of the CDX server."""

    def lines(request: Request) -> Response:
        try:
            arguments = _arguments(request.query_params, context.limits.longest_url)
        except ValueError as error:
            return PlainTextResponse(f"{error}\n", 400)
        found = _Found(context.archive, arguments, context.limits.seconds * _SHARE_OF_TIME)
        return found.response()

    return [context.raw_route("/cdx", lines, "cdx")]


@dataclass(frozen=True, slots=True)
class _Query:
    """What a request asks for; times are whole Unix seconds."""

    url: str
    match: str
    since: int
    until: int
    limit: int
    output: str
    fields: tuple[str, ...]
    closest: int | None


def _arguments(given: QueryParams, longest_url: int) -> _Query:
    """Read the parameters.

    Raises:
        ValueError: one is missing, unknown, or wrong.
    """
    for name in given:
        if name not in _PARAMETERS:
            raise ValueError(f"there is no parameter {name[:50]!r}; {', '.join(_PARAMETERS)} are")
    url, match = given.get("url", "").strip(), given.get("matchType", "")
    if not url:
        raise ValueError("no address is given; add url=http://…")
    if len(url) > longest_url:
        raise ValueError(f"the address has {len(url):,} characters; {longest_url:,} are allowed")
    if not match:  # as wildcards: below an address, or a domain
        match = "domain" if url.startswith("*.") else "prefix" if url.endswith("*") else "exact"
        url = url.removeprefix("*.") if match == "domain" else url.removesuffix("*")
    fields = tuple(given["fl"].split(",")) if given.get("fl") else FIELDS
    closest = given.get("closest", "")
    # With `closest` it is the order anyway; without, as pywb asks when it wants all, there is none.
    _choice("sort", given.get("sort") or "closest", ("closest",))
    return _Query(
        url,
        _choice("matchType", match, _MATCHES),
        read_stamp(given.get("from") or "0001"),
        _until(given.get("to") or _LAST_OF),
        _limit(given.get("limit") or str(DEFAULT_LIMIT)),
        _choice("output", given.get("output") or "text", ("text", "json")),
        tuple(_choice("fl", field.strip(), FIELDS) for field in fields),
        read_stamp(closest) if closest else None,
    )


def _until(digits: str) -> int:
    """Return the last second of a time: ``2024`` is the whole year."""
    read_stamp(digits)  # is refused before it is filled up
    filled = digits + _LAST_OF[len(digits) :]
    while True:
        try:
            return read_stamp(filled)
        except ValueError:  # a month has not so many days
            filled = f"{filled[:6]}{int(filled[6:8]) - 1:02}{filled[8:]}"


def _limit(text: str) -> int:
    if text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= LARGEST_LIMIT:
        return int(text[:9])
    raise ValueError(f"limit is {text[:50]!r}; give a number from 1 to {LARGEST_LIMIT:,}")


def _choice(name: str, given: str, choices: tuple[str, ...]) -> str:
    if given not in choices:
        raise ValueError(f"{name} is {given[:50]!r}; give one of {', '.join(choices)}")
    return given


class _Found:
    """The captures that a request asks for.

    Args:
        archive: To be searched.
        query: What for.
        seconds: After which the search ends with what it has.
    """

    def __init__(self, archive: Archive, query: _Query, seconds: float) -> None:
        self._archive, self._query = archive, query
        self._end = time.monotonic() + seconds
        self._late = False

    def response(self) -> Response:
        """Return the lines."""
        query, near = self._query, self._query.closest
        captures = self._captures()
        if near is None:
            found = list(islice(captures, query.limit + 1))
        else:
            found = nsmallest(query.limit + 1, captures, lambda version: abs(version.time - near))
        lines = [[_value(version, name) for name in query.fields] for version in found]
        headers = {"Cache-Control": "no-cache"}
        if self._late or len(lines) > query.limit:
            headers["X-Limited"] = "time" if self._late else "limit"
        lines = lines[: query.limit]
        if query.output == "json":
            return JSONResponse([list(query.fields), *lines] if lines else [], headers=headers)
        return PlainTextResponse("".join(" ".join(line) + "\n" for line in lines), headers=headers)

    def _captures(self) -> Iterator[Version]:
        for url in self._urls():
            for version in self._archive.versions(url):
                if self._query.since <= version.time < self._query.until + 1:
                    yield version
            if time.monotonic() > self._end:
                self._late = True
                return

    def _urls(self) -> Iterator[str]:
        query = self._query
        url = archived_url(query.url, "")
        if query.match == "exact":
            return iter([url])
        if query.match == "prefix":
            return chain.from_iterable(self._archive.urls(prefix=p) for p in _prefixes(query.url))
        host = (urlsplit(url).hostname or "").lower()
        if query.match == "host":
            return self._archive.urls(host=host)
        hosts = (h for h in self._archive.hosts() if h == host or h.endswith(f".{host}"))
        return chain.from_iterable(self._archive.urls(host=h) for h in hosts)


def _prefixes(url: str) -> list[str]:
    """Return how the addresses below one may begin: of both schemes if none is given."""
    whole = archived_url(url, "")
    if url.lower().startswith(("http:", "https:", "http%3a", "https%3a")):
        return [whole]
    return [whole, whole.replace("http://", "https://", 1)]


def _value(version: Version, field: str) -> str:
    """Return a field of a capture, without blanks: they part the fields of a line."""
    kind = essence(version)
    values = {
        "urlkey": lambda: sort_key(written_url(version.url)),
        "timestamp": lambda: stamp(version.time),
        "original": lambda: written_url(version.url),
        "mimetype": lambda: kind if _TYPE.fullmatch(kind) else "unk",
        "statuscode": lambda: str(version.status),
        "digest": lambda: version.digest,
        "length": lambda: str(version.size),
    }
    return values[field]()
