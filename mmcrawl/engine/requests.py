"""Converts links to requests, and requests to links.

What a request carries besides its URL (meta, cookies, headers, callback, errback, priority …) is
stored with the link as JSON and restored. A request with a value that JSON cannot hold is refused:
an error is logged, and the link ends in error with the reason.

A store may come from anybody, so reading one yields only plain values, a request of one of Scrapy's
own classes, and methods that the spider offers as callbacks. JSON knows no bytes, no tuples and no
dictionaries with keys other than text; these are tagged.
"""

import inspect
import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Callable
from types import FunctionType
from typing import Any

from scrapy import FormRequest, Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import JsonRequest, XmlRpcRequest
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.referer import DefaultReferrerPolicy

from mmcrawl.crawl.protocol import Crawl
from mmcrawl.engine.hosts import FailureReport
from mmcrawl.errors import RequestError
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.frontier.urls import canonical
from mmcrawl.page.urls import physical_layer

logger = logging.getLogger(__name__)

LINK_KEY = "mmcrawl_link"
"""Name in a request's meta of the id of its link."""

WAY_KEY = "mmcrawl_way"
"""Name in the meta of a request of a sitemap, feed or robots.txt of its priority as a way in."""

ROBOTS_WAY = 3
"""That of a robots.txt, which is read for the sitemaps it names."""


def is_for_robots(request: Request) -> bool:
    """Return whether a robots.txt is asked for, for its rules or its sitemaps."""
    rules = request.callback is NO_CALLBACK and request.meta.get("dont_obey_robotstxt")
    return bool(rules) or request.meta.get(WAY_KEY) == ROBOTS_WAY


_CLASSES: dict[str, type[Request]] = {
    kind.__name__: kind for kind in (Request, FormRequest, JsonRequest, XmlRpcRequest)
}
_METHODS = ("callback", "errback")
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("url", "method", "encoding"), str),
    **dict.fromkeys(("headers", "meta", "cb_kwargs", "dumps_kwargs"), dict),
    **{"body": bytes, "cookies": dict | list, "flags": list, "priority": int, "dont_filter": bool},
}
_UNHEARD = "mmcrawl/requests/asked_before"
_DEEPEST = 100
"""Lists and dictionaries in one another; far from where Python's own recursion ends."""


class LinkRequests:
    """Makes the requests of links, and the links of requests.

    Args:
        crawler, spider: of the crawl.
    """

    def __init__(self, crawler: Crawler, spider: Spider) -> None:
        self._stats, self._spider = crawler.stats, spider
        self._referrer = DefaultReferrerPolicy()
        self._tells_referrer = crawler.settings.getbool("REFERER_ENABLED")

    def request(self, link: WaitingLink, referrer: Callable[[WaitingLink], str | None]) -> Request:
        """Return the request of a link; it has the link's id in `meta[LINK_KEY]`.

        Args:
            link: to be fetched.
            referrer: tells on which page a link was found, None for a seed.

        Raises:
            RequestError, ValueError: what is stored is no request, or is for another address.
        """
        if not link.url.startswith(("http://", "https://")):  # a stranger may have made the store
            raise RequestError("only http and https addresses are crawled")
        if link.request is not None:
            request = from_json(link.request, self._spider)
            if canonical(request.url) != canonical(link.url):  # a link it is not
                raise RequestError(f"it is for {request.url}")
        else:
            request = Request(link.url)
            if (page := referrer(link)) is not None:
                self.refer(request, page)
        request.meta.update({LINK_KEY: link.id, "depth": link.logical_layer - 1})
        return request

    def refer(self, request: Request, page: str) -> None:
        """Set the referrer of a request, as browsers do."""
        if self._tells_referrer and (value := self._referrer.referrer(page, request.url)):
            request.headers["Referer"] = value

    def new_link(self, request: Request) -> NewLink:
        """Return the link of a request that is to be fetched as it stands, or is refused."""
        meta = {key: value for key, value in request.meta.items() if key != LINK_KEY}
        errback = request.errback
        if isinstance(errback, FailureReport):
            errback = errback.errback
        kept, refused = None, ""
        try:
            kept = as_json(request.replace(meta=meta, errback=errback), self._spider)
        except RequestError as error:
            logger.error("%s is refused: %s", request, error)  # noqa: TRY400 - for a person
            self._stats.inc_value("mmcrawl/requests/unserialisable")
            refused = f"request refused: {error}"[:200]
        return NewLink(
            url=request.url,
            # No click leads to a way in, whatever Scrapy counts; its links are one from the seed.
            logical_layer=1 if WAY_KEY in meta else int(meta.get("depth", 0)) + 1,
            physical_layer=physical_layer(request.url),
            priority=request.priority,
            request=kept,
            filtered=not request.dont_filter,
            extra=b"" if request.method == "GET" else request.method.encode() + request.body,
            refused=refused,
        )

    def spiders_link(self, request: Request, job: Crawl) -> NewLink:
        """Return the link of a request of the spider's; say it if its callback will not be called.

        The address was asked for with another callback, which gets the answer. The first is named,
        all are counted.
        """
        new = self.new_link(request)
        before = job.request_before(new)
        if before is None or self._callback(before) == (request.callback or self._spider.parse):
            return new
        if not self._stats.get_value(_UNHEARD):
            logger.warning(
                "%s is not sent, and its callback not called: the address was asked for before in"
                " this crawl. With dont_filter=True it is fetched again. More of them are only"
                " counted, as %s",
                request,
                _UNHEARD,
            )
        self._stats.inc_value(_UNHEARD)
        return new

    def _callback(self, request: bytes) -> Any:
        """Return the callback of a stored request, or of a mere address."""
        try:
            kept = from_json(request, self._spider).callback if request else None
        except RequestError:
            return None
        return kept or self._spider.parse


def as_json(request: Request, spider: Spider) -> bytes:
    """Return a request as bytes.

    Raises:
        RequestError: it holds something that JSON cannot hold, its class is none of Scrapy's, or
            its callback or errback is no public method of the spider. Names what it is.
    """
    kind = type(request)
    if _CLASSES.get(kind.__name__) is not kind:
        raise RequestError(
            f"its class is {kind.__name__}; only {', '.join(_CLASSES)} can be kept: use one of them"
        )
    plain = {name: getattr(request, name) for name in request.attributes if name not in _METHODS}
    plain["headers"] = dict(request.headers)
    values: dict[str, Any] = {name: _tagged(value, name) for name, value in plain.items()}
    values |= {name: _name_of(getattr(request, name), spider, name) for name in _METHODS}
    try:
        text = json.dumps([kind.__name__, values], separators=(",", ":"))
    except ValueError as error:  # a whole number of too many digits
        raise RequestError(f"it cannot be written as JSON: {error}") from error
    return text.encode()


def from_json(data: bytes, spider: Spider) -> Request:
    """Return the request that `as_json` wrote.

    Raises:
        RequestError: it was not written by it, or the spider has no such callback.
    """
    try:
        name, values = json.loads(data)
        kind = _CLASSES[name]
        given = {key: _plain(values[key]) for key in kind.attributes if key not in _METHODS}
        methods: dict[str, Any] = {key: _method(values[key], spider) for key in _METHODS}
        return kind(**_checked(given), **methods)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise RequestError(f"it is no request: {type(error).__name__}: {error}") from error


def _tagged(value: Any, place: str, depth: int = 0) -> Any:
    """Return a value as JSON holds it.

    Exactly these types: of one made from them, only what it has of them would come back.

    Args:
        value: part of a request.
        place: its name in messages.
        depth: how many others it is in.
    """
    kind = type(value)
    if depth > _DEEPEST:
        raise RequestError(f"{place} is nested too deep; keep less in it")
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is bytes:
        return {"bytes": b64encode(value).decode()}
    if kind in (list, tuple):
        items = [_tagged(item, f"{place}[{n}]", depth + 1) for n, item in enumerate(value)]
        return items if kind is list else {"tuple": items}
    if kind is dict:
        return {
            "dict": [
                [
                    _tagged(key, f"a key of {place}", depth + 1),
                    _tagged(item, f"{place}[{key!r}]", depth + 1),
                ]
                for key, item in value.items()
            ]
        }
    raise RequestError(
        f"{place} is a {kind.__module__}.{kind.__qualname__}, which cannot be kept; use text,"
        " bytes, numbers, lists, tuples and dictionaries"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    match tag:
        case "bytes":
            return b64decode(content, validate=True)
        case "tuple":
            return tuple(_plain(content))
        case "dict":
            return dict(_plain(content))
    raise ValueError(f"{tag!r} is no tag")


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Return what a request is made from, if all of it is of the right type."""
    for key, value in given.items():
        if not isinstance(value, _TYPES.get(key, object)):
            raise TypeError(f"{key} is {value!r}"[:200])
    return given


def _name_of(method: Callable[..., Any] | None, spider: Spider, place: str) -> str | None:
    """Return the name under which `_method` finds a callback or errback."""
    if method is None:
        return None
    for name in (getattr(method, "__name__", ""), *dir(type(spider))):
        if _may_be_called(name, spider) and _method(name, spider) == method:
            return name
    raise RequestError(
        f"{place} {getattr(method, '__qualname__', method)} is no public method of the spider that"
        " can be found again by its name; make it one"
    )


def _method(name: str | None, spider: Spider) -> Callable[..., Any] | None:
    """Return a method by its name: nothing else of the spider can be reached by a name."""
    if name is None:
        return None
    if not _may_be_called(name, spider):
        raise ValueError(f"the spider has no callback {name!r}")
    function: FunctionType = inspect.getattr_static(type(spider), name)
    return function.__get__(spider)  # not by getattr, for which the name may stand for more


def _may_be_called(name: str, spider: Spider) -> bool:
    """Return whether a name is one of a public method that is not Scrapy's, but for `parse`."""
    ours = name == "parse" or not hasattr(Spider, name)
    found = inspect.getattr_static(type(spider), name, None)
    return ours and not name.startswith("_") and isinstance(found, FunctionType)
