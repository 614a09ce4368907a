"""JavaScript values, with the functions and methods of strings, lists and patterns.

Values are Python's, objects that a script creates, or the unknown value. Functions take the
arguments that JavaScript's take, and raise what Python's raise. RE2 matches patterns in linear
time.
"""

import re
from base64 import b64decode
from collections import ChainMap
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from json import loads
from math import ceil, floor
from operator import add, eq, ge, gt, le, lt, mod, mul, ne, sub, truediv
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import re2
from tree_sitter import Node

Scope = ChainMap[str, Any]
LONGEST = 8_192
"""Characters, or items, of a value that is kept."""

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "-": sub, "*": mul, "/": truediv, "%": mod, "<": lt, ">": gt, "<=": le, ">=": ge,
    "==": eq, "===": eq, "!=": ne, "!==": ne,
}  # fmt: skip


class _Unknown:
    """A value that cannot be known."""

    __slots__ = ()


UNKNOWN: Final = _Unknown()


class Function(NamedTuple):
    """A function or a class of a script, with its properties."""

    node: Node
    scope: Scope
    members: dict[str, Any]

    @classmethod
    def of(cls, node: Node, scope: Scope) -> "Function":
        """Return one whose prototype is empty."""
        return cls(node, scope, {"prototype": {}})


class Regex(NamedTuple):
    """A regular expression, as it is written."""

    pattern: str
    flags: str


class Either(NamedTuple):
    """One of two values."""

    one: Any
    other: Any


def type_of(value: Any) -> Any:
    """Return the result of `typeof`."""
    if value is UNKNOWN:
        return UNKNOWN
    if value is None:
        return "undefined"
    if callable(value) or isinstance(value, Function):
        return "function"
    names = {bool: "boolean", str: "string", int: "number", float: "number"}
    return names.get(type(value), "object")


def truth(value: Any) -> bool | None:
    """Return whether a value counts as true in JavaScript, None if that is not known."""
    if value is UNKNOWN:
        return None
    return bool(value) if value is None or isinstance(value, str | int | float) else True


def text_of(value: Any) -> Any:
    """Return a value as text, as JavaScript writes it; `UNKNOWN` if it is not known."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str | int | float):
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)
    if isinstance(value, list):
        texts = [text_of(one) for one in value]
        return UNKNOWN if UNKNOWN in texts else ",".join(texts)
    return value.get("href", UNKNOWN) if isinstance(value, dict) else UNKNOWN  # location, links


def result(operator: str, left: Any, right: Any) -> Any:
    """Return the result of an operator on two values; `UNKNOWN` if it is not known."""
    if operator == "+":
        return _sum(left, right)
    plain = all(one is None or isinstance(one, str | int | float) for one in (left, right))
    if operator not in _OPERATORS or not plain:
        return UNKNOWN
    with suppress(TypeError, ArithmeticError):
        return _OPERATORS[operator](left, right)
    return UNKNOWN


def _sum(left: Any, right: Any) -> Any:
    if all(isinstance(one, int | float) for one in (left, right)):
        return add(left, right)
    texts = text_of(left), text_of(right)
    return UNKNOWN if UNKNOWN in texts else "".join(texts)


def url_parts(url: str) -> dict[str, str]:
    """Return the parts of an address by their names in `location`."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    return {
        "href": url, "protocol": f"{parts.scheme}:", "host": parts.netloc, "origin": origin,
        "hostname": parts.hostname or "", "pathname": parts.path or "/",
        "search": f"?{parts.query}" if parts.query else "",
        "hash": f"#{parts.fragment}" if parts.fragment else "",
    }  # fmt: skip


def _compiled(pattern: Any) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    if not isinstance(pattern, Regex):
        return re2.compile(re2.escape(text_of(pattern)), options)
    options.case_sensitive = "i" not in pattern.flags
    return re2.compile(pattern.pattern, options)


def _replaced(text: str, old: Any, new: Any) -> Any:
    if not isinstance(new, str) or "$" in new:
        return UNKNOWN
    count = 0 if isinstance(old, Regex) and "g" in old.flags else 1
    return _compiled(old).sub(lambda _: new, text, count)


def _everywhere(pattern: Any) -> Regex:
    return pattern if isinstance(pattern, Regex) else Regex(re2.escape(pattern), "g")


def _repeated(text: str, times: Any) -> str:
    return text * min(int(times), LONGEST // max(len(text), 1) + 1)


def _matched(text: str, pattern: Any) -> Any:
    found = _compiled(pattern).search(text)
    return None if found is None else [found[0], *found.groups()]


def _split(text: str, at: Any, *_: Any) -> Any:
    return _compiled(at).split(text) if at else list(text)


def _substring(text: str, start: int, end: int | None = None) -> str:
    first, last = sorted((max(0, start), len(text) if end is None else max(0, end)))
    return text[first:last]


def _joined(items: list[Any], between: str = ",") -> Any:
    texts = [text_of(one) for one in items]
    return UNKNOWN if UNKNOWN in texts else between.join(texts)


def _assigned(target: Any, *sources: dict[str, Any]) -> Any:
    for source in sources:
        for name, value in source.items():
            target[name] = value
    return target


def _unescaped(text: str) -> str:
    plain = re.sub("%u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    return unquote(plain, encoding="latin-1")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "parseInt": int, "decodeURI": unquote, "decodeURIComponent": unquote,
    "atob": lambda text: b64decode(text + "=" * (-len(text) % 4)).decode("latin-1"),
    "unescape": _unescaped, "escape": partial(quote, safe="@*_+-./"),
    "encodeURIComponent": partial(quote, safe="!'()*~"),
    "encodeURI": partial(quote, safe=";,/?:@&=+$#!'()*~"),
}  # fmt: skip
OF_OBJECTS: dict[str, Callable[..., Any]] = {
    "fromCharCode": lambda *codes: "".join(map(chr, codes)), "assign": _assigned,
    "random": lambda: 0.5, "floor": floor, "ceil": ceil, "round": round, "now": lambda: 0,
    "getTime": lambda: 0, "parse": loads,
}  # fmt: skip
METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    str: {
        "toString": str, "trim": str.strip, "toLowerCase": str.lower, "toUpperCase": str.upper,
        "concat": lambda text, *more: "".join([text, *map(text_of, more)]),
        "replace": _replaced, "repeat": _repeated,

        "replaceAll": lambda text, old, new: _replaced(text, _everywhere(old), new),
        "charCodeAt": lambda text, place=0: ord(text[place]),
        "split": _split, "match": _matched, "indexOf": str.find,
        "search": lambda text, what: text.find((_matched(text, what) or ["\0"])[0]),
        "lastIndexOf": str.rfind, "includes": str.__contains__, "startsWith": str.startswith,
        "endsWith": str.endswith, "substring": _substring,
        "substr": lambda text, start, length=None: text[start:][:length],
        "slice": lambda text, start, end=None: text[start:end],
        "charAt": lambda text, place: text[place : place + 1],
    },
    list: {
        "join": _joined, "get": lambda items, place=0: items[place],
        "reverse": lambda items: items[::-1], "includes": list.__contains__,
        "pop": list.pop, "push": lambda items, *more: items.extend(more),
        "slice": lambda items, start=0, end=None: items[start:end],
        "indexOf": lambda items, item: items.index(item) if item in items else -1,
    },
    Regex: {
        "test": lambda pattern, text: _matched(text, pattern) is not None,
        "exec": lambda pattern, text: _matched(text, pattern),
    },
}  # fmt: skip
