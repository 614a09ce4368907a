"""Requests as JSON, for a store that others can write to.

A pickle from a database runs whatever its writer wished; JSON holds values only. What JSON does not
know is tagged: bytes, tuples, and dictionaries, whose keys may be bytes.
"""

import json
from base64 import b64decode, b64encode
from typing import Any

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

__all__ = ["as_json", "from_json"]


def as_json(request: Request, spider: Spider | None) -> bytes:
    """Return a request as bytes.

    Raises:
        TypeError: it holds a value that is no plain data.
        ValueError: its callback is no method of the spider.
    """
    values = request.to_dict(spider=spider)
    values.pop("_class", None)
    return json.dumps(_tagged(values), separators=(",", ":")).encode()


def from_json(data: bytes, spider: Spider | None) -> Request:
    """Return the request that `as_json` wrote.

    Raises:
        ValueError: it was not written by it, or the spider has no such callback.
    """
    try:
        values: dict[str, Any] = _plain(json.loads(data))
        return request_from_dict(values, spider=spider)
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"no request: {error}") from error


def _tagged(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return {"bytes": b64encode(value).decode()}
        case list():
            return [_tagged(item) for item in value]
        case tuple():
            return {"tuple": [_tagged(item) for item in value]}
        case dict():
            return {"dict": [[_tagged(key), _tagged(item)] for key, item in value.items()]}
    raise TypeError(f"{type(value).__name__} is no plain data")


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "bytes":
        return b64decode(content)
    items = _plain(content)
    return tuple(items) if kind == "tuple" else dict(items)
