"""JavaScript's functions and methods of texts, lists and regular expressions.

Of a text that is longer than an address nothing is made. Patterns are matched by RE2, in linear
time.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from math import ceil, floor
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

import re2

from mmcrawl.page.urls import absolute_url


class _Unknown:
    """A value that cannot be known."""

    __slots__ = ()


UNKNOWN: Final = _Unknown()
_PARTS = "href protocol host hostname port pathname search hash origin".split()
_KEPT_BY_ENCODE_URI = ";,/?:@&=+$#!'()*~"


def text_of(value: Any) -> Any:
    """Return a value as text, as JavaScript writes it; `UNKNOWN` if it is not known."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list):
        texts = [text_of(one) for one in value]
        return UNKNOWN if UNKNOWN in texts else ",".join(texts)
    written = getattr(value, "as_text", None)
    return written if isinstance(written, str) else UNKNOWN


def url_part(url: str, name: str) -> Any:
    """Return a part of an address by its name in `location`; `UNKNOWN` for another name.

    >>> url_part("http://h.test:81/a/b?c=1#d", "host"), url_part("http://h.test/?q", "search")
    ('h.test:81', '?q')
    """
    if name not in _PARTS:
        return UNKNOWN
    try:
        parts = urlsplit(url)
        port = str(parts.port or "")
    except ValueError:
        return UNKNOWN
    return {
        "href": url,
        "protocol": f"{parts.scheme}:",
        "host": parts.netloc,
        "hostname": parts.hostname or "",
        "port": port,
        "pathname": parts.path or "/",
        "search": f"?{parts.query}" if parts.query else "",
        "hash": f"#{parts.fragment}" if parts.fragment else "",
        "origin": f"{parts.scheme}://{parts.netloc}",
    }[name]


def text_function(name: str, arguments: Sequence[Any]) -> Any:
    """Return what a global function makes of texts; `UNKNOWN` if it is another function."""
    texts = [text_of(one) for one in arguments]
    if not texts or UNKNOWN in texts:
        return UNKNOWN
    if name in _FUNCTIONS:
        with suppress(ValueError, OverflowError):
            return _FUNCTIONS[name](texts[0])
    if name == "URL" and len(texts) < 3:
        return absolute_url(texts[1] if len(texts) == 2 else "", texts[0]) or UNKNOWN
    return UNKNOWN


def text_method(owner: Any, name: str, arguments: Sequence[Any]) -> Any:
    """Return what a method of a text, a list or a pattern comes to; `UNKNOWN` for others."""
    try:
        if isinstance(owner, tuple) and owner[:1] == ("regex",):
            is_test = name == "test" and arguments and isinstance(arguments[0], str)
            return _pattern(owner).search(arguments[0]) is not None if is_test else UNKNOWN
        if isinstance(owner, str):
            return _of_text(owner, name, arguments)
        if isinstance(owner, int | float):
            return text_of(owner) if name == "toString" and not arguments else UNKNOWN
        return _of_list(owner, name, arguments) if isinstance(owner, list) else UNKNOWN
    except (re2.error, TypeError, ValueError, IndexError, OverflowError):
        return UNKNOWN


def _of_text(text: str, name: str, arguments: Sequence[Any]) -> Any:  # noqa: PLR0911
    first = arguments[0] if arguments else UNKNOWN
    if isinstance(first, tuple) and first[:1] == ("regex",):
        return _matched(text, name, first, arguments)
    if name in _PLAIN:
        return _PLAIN[name](text)
    if name in _SLICES and arguments and all(isinstance(one, int | float) for one in arguments):
        return _SLICES[name](text, *(int(one) for one in arguments))
    texts = [text_of(one) for one in arguments]
    if not texts or UNKNOWN in texts:
        return UNKNOWN
    match name:
        case "concat":
            return text + "".join(texts)
        case "replace" | "replaceAll" if len(texts) == 2:
            return text.replace(texts[0], texts[1], 1 if name == "replace" else -1)
        case "split":
            return text.split(texts[0]) if texts[0] else list(text)
        case "indexOf" | "search":
            return text.find(texts[0])
        case "lastIndexOf":
            return text.rfind(texts[0])
        case "includes" | "startsWith" | "endsWith":
            place = {"includes": text, "startsWith": text[: len(texts[0])]}.get(name)
            return texts[0] in place if place is not None else text.endswith(texts[0])
        case "match":
            return [texts[0]] if texts[0] in text else None
    return UNKNOWN


def _matched(text: str, name: str, regex: tuple[str, ...], arguments: Sequence[Any]) -> Any:
    pattern = _pattern(regex)
    found = pattern.search(text)
    if name == "match":
        return None if found is None else [found[0], *found.groups()]
    if name == "search":
        return -1 if found is None else found.start()
    if name == "replace" and len(arguments) == 2 and isinstance(arguments[1], str):
        with_text = arguments[1]
        if "$" in with_text:
            return UNKNOWN
        return pattern.sub(lambda _: with_text, text, 0 if "g" in regex[-1] else 1)
    return pattern.split(text) if name == "split" else UNKNOWN


def _of_list(items: list[Any], name: str, arguments: Sequence[Any]) -> Any:  # noqa: PLR0911
    match name:
        case "join":
            texts = [text_of(one) for one in items]
            between = text_of(arguments[0]) if arguments else ","
            return UNKNOWN if UNKNOWN in (*texts, between) else between.join(texts)
        case "reverse":
            items.reverse()
            return items
        case "push":
            items.extend(arguments)
            return len(items)
        case "pop" | "shift":
            return items.pop(-1 if name == "pop" else 0)
        case "slice" if all(isinstance(one, int) for one in arguments):
            return items[slice(*(arguments if len(arguments) > 1 else (*arguments, None)))]
        case "indexOf" | "includes" if arguments:
            there = arguments[0] in items
            return there if name == "includes" else items.index(arguments[0]) if there else -1
        case "concat":
            more = (one if isinstance(one, list) else [one] for one in arguments)
            return sum(more, items)
    return UNKNOWN


def _pattern(regex: tuple[str, ...]) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = len(regex) < 3 or "i" not in regex[2]
    options.max_mem = 1 << 20
    return re2.compile(regex[1], options)


def _unescape(text: str) -> str:
    return unquote(text, "latin-1")


def _from_base64(text: str) -> str:
    return b64decode(text + "=" * (-len(text) % 4)).decode("latin-1")


def _substring(text: str, start: int, end: int | None = None) -> str:
    first, last = sorted((max(0, start), len(text) if end is None else max(0, end)))
    return text[first:last]


def _substr(text: str, start: int, length: int | None = None) -> str:
    rest = text[start:]
    return rest if length is None else rest[: max(0, length)]


_FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "String": str,
    "Number": float,
    "parseInt": int,
    "parseFloat": float,
    "atob": _from_base64,
    "unescape": _unescape,
    "decodeURI": unquote,
    "decodeURIComponent": unquote,
    "encodeURIComponent": partial(quote, safe="!'()*~"),
    "encodeURI": partial(quote, safe=_KEPT_BY_ENCODE_URI),
    "escape": partial(quote, safe="@*_+-./"),
}
_PLAIN: dict[str, Callable[[str], Any]] = {
    "toString": str,
    "valueOf": str,
    "trim": str.strip,
    "toLowerCase": str.lower,
    "toUpperCase": str.upper,
}
_SLICES: dict[str, Callable[..., Any]] = {
    "substring": _substring,
    "substr": _substr,
    "slice": lambda text, start, end=None: text[start:end],
    "charAt": lambda text, place: text[place : place + 1] if place >= 0 else "",
    "charCodeAt": lambda text, place: ord(text[place]),
}
ROUNDING: dict[str, Callable[[float], int]] = {"floor": floor, "ceil": ceil, "round": round}
