"""Dataclasses as plain data that JSON can hold, and back with the types they declare.

A type gives both ways. A dataclass becomes the list of its fields; one of several dataclasses has
its name before them; bytes become base64; an error of mmcrawl becomes its sentence. What is read is
checked against the type: nothing is converted, nothing is missing, and whole numbers fit a database
(64 bits).
"""

import types
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import (
    Any,
    Generic,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

__all__ = ["PlainForm"]

T = TypeVar("T")

_LIMIT = 1 << 63


class PlainForm(Generic[T]):
    """How values of a type are written as plain data.

    Args:
        kind: A dataclass, str, int, float, bool, bytes, an error of mmcrawl, or tuples, lists,
            mappings from str and unions of such.
    """

    def __init__(self, kind: Any) -> None:
        self._ways = _ways(kind)

    def write(self, value: T) -> Any:
        """Return a value as lists, mappings, text, numbers, truth values and None."""
        return self._ways.write(value)

    def read(self, plain: object) -> T:
        """Return the value that `write` wrote.

        Raises:
            ValueError: the plain data is none of this type.
        """
        return cast("T", self._ways.read(plain))


class _Ways(NamedTuple):
    """How a type is written and read; `itself` if it is read by only looking at the type."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    itself: type | None = None


@cache
def _ways(kind: Any) -> _Ways:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        ways = _SIMPLE[kind]
    elif origin in (Union, types.UnionType):
        ways = _union(arguments)
    elif origin is tuple and arguments[1:] != (...,):
        ways = _fixed(arguments)
    elif origin in (tuple, list):
        ways = _many(origin, _ways(arguments[0]))
    elif origin is Mapping:
        ways = _mapping(_ways(arguments[1]))
    elif is_dataclass(kind):
        ways = _record(kind)
    else:
        ways = _error(kind)
    return ways


def _exactly(kind: type, plain: object) -> Any:
    if type(plain) is not kind:
        raise ValueError(f"{_shown(plain)} is no {kind.__name__}")
    return plain


def _same(value: Any) -> Any:
    return value


def _text(plain: object) -> str:
    if type(plain) is str:
        return plain
    raise ValueError(f"{_shown(plain)} is no text")


def _whole(plain: object) -> int:
    if type(plain) is int and -_LIMIT <= plain < _LIMIT:
        return plain
    raise ValueError(f"{_shown(plain)} is no whole number of 64 bits")


def _number(plain: object) -> float:
    return float(plain if type(plain) is float else _whole(plain))


def _truth(plain: object) -> bool:
    return bool(_exactly(bool, plain))


_SIMPLE = {
    str: _Ways(_same, _text, str),
    int: _Ways(_same, _whole),
    float: _Ways(_same, _number),
    bool: _Ways(_same, _truth, bool),
    bytes: _Ways(
        lambda value: b64encode(value).decode(),
        lambda plain: b64decode(_text(plain), validate=True),
    ),
}


def _error(kind: type[Exception]) -> _Ways:
    return _Ways(str, lambda plain: kind(_text(plain)))


def _many(kind: type, item: _Ways) -> _Ways:
    def read(plain: object) -> Any:
        values = _exactly(list, plain)
        if item.itself is None or set(map(type, values)) - {item.itself}:
            values = [item.read(value) for value in values]
        return kind(values)

    return _Ways(lambda values: [item.write(value) for value in values], read)


def _fixed(kinds: tuple[Any, ...], kind: Callable[..., Any] = tuple) -> _Ways:
    """Return the ways of so many values; `kind` makes them one."""
    writes, reads, selves = zip(*map(_ways, kinds), strict=True)

    def read(plain: object) -> Any:
        values = _exactly(list, plain)
        if tuple(map(type, values)) == selves:
            return kind(values)
        if len(values) != len(reads):
            raise ValueError(f"{len(values)} values where {len(reads)} belong")
        return kind([read(value) for read, value in zip(reads, values, strict=True)])

    return _Ways(
        lambda values: [write(value) for write, value in zip(writes, values, strict=True)], read
    )


def _mapping(item: _Ways) -> _Ways:
    return _Ways(
        lambda values: {key: item.write(value) for key, value in values.items()},
        lambda plain: {key: item.read(value) for key, value in _exactly(dict, plain).items()},
    )


def _record(kind: Any) -> _Ways:
    hints, names = get_type_hints(kind), [field.name for field in fields(kind)]
    form = _fixed(tuple(hints[name] for name in names), lambda values: kind(*values))

    def read(plain: object) -> Any:
        try:
            return form.read(plain)
        except ValueError as error:
            raise ValueError(f"{kind.__name__}: {error}") from error

    return _Ways(lambda value: form.write([getattr(value, name) for name in names]), read)


def _union(kinds: tuple[Any, ...]) -> _Ways:
    """Return the ways of one of several types, of which at most one has no name to tell it by."""
    some = tuple(kind for kind in kinds if kind is not type(None))
    if len(some) < len(kinds):
        way = _ways(Union[some])  # noqa: UP007 - of a tuple
        return _Ways(
            lambda value: None if value is None else way.write(value),
            lambda plain: None if plain is None else way.read(plain),
        )
    ways = {kind.__name__: _ways(kind) for kind in some}

    def read(plain: object) -> Any:
        name, value = _pair(plain)
        if name not in ways:
            raise ValueError(f"{_shown(name)} is none of {', '.join(ways)}")
        return ways[name].read(value)

    def write(value: Any) -> list[Any]:
        name = type(value).__name__
        return [name, ways[name].write(value)]

    return _Ways(write, read)


def _pair(plain: object) -> tuple[str, Any]:
    values = _exactly(list, plain)
    if len(values) != 2:
        raise ValueError(f"{len(values)} values where a name and what it names belong")
    return _text(values[0]), values[1]


def _shown(plain: object) -> str:
    text = repr(plain)
    return text if len(text) <= 60 else text[:60] + "…"
