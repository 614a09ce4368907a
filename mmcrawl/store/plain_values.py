"""Converts dataclasses to plain data that JSON can hold, and back with the declared types.

A dataclass becomes the list of its fields, so that none can be missing; in a union of dataclasses
its name comes first. Bytes become base64, an error of mmcrawl becomes its sentence. Data that is
read is checked by pydantic in strict mode: nothing is converted, and integers must fit a database
(64 bits).
"""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from operator import itemgetter
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    Optional,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    Tag,
    TypeAdapter,
    ValidationError,
    WrapSerializer,
)

T = TypeVar("T")

_LIMIT = 1 << 63
_CONFIG = ConfigDict(strict=True, ser_json_bytes="base64", val_json_bytes="base64")
_LISTED = Field(strict=False, fail_fast=True)  # JSON has no tuples; one fault is enough to know


class PlainForm(Generic[T]):
    """Writes values of a type as plain data, and reads them back.

    Args:
        kind: A dataclass, str, int, float, bool, bytes, an error of mmcrawl, or tuples, lists,
            mappings from str and unions of such.
    """

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[T] = TypeAdapter(_plain(kind), config=_CONFIG)

    def write(self, value: T) -> Any:
        """Return a value as lists, mappings, text, numbers, truth values and None."""
        return self._adapter.dump_python(value, mode="json")

    def read(self, plain: object) -> T:
        """Return the value that `write` wrote; a ValueError if it is none of this type."""
        try:
            return self._adapter.validate_python(plain)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise ValueError(f"{first['msg']}: {first['input']!r:.60} at {first['loc']}") from error


def _plain(kind: Any) -> Any:
    """Return a type as pydantic sees it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in (int, float):
        kind = Annotated[kind, Field(ge=-_LIMIT, lt=_LIMIT)]
    elif kind is bytes:
        kind = Annotated[kind, Field(strict=False)]  # base64 is text
    elif origin in (tuple, list):
        kind = Annotated[origin[tuple(map(_plain, arguments))], _LISTED]
    elif origin is Mapping:
        kind = Mapping[str, _plain(arguments[1])]  # type: ignore[misc]
    elif origin in (Union, types.UnionType):
        kind = _union(arguments)
    elif is_dataclass(kind):
        kind = _record(kind)
    elif isinstance(kind, type) and issubclass(kind, Exception):
        kind = Annotated[str, AfterValidator(kind), PlainSerializer(str)]
    return kind


def _record(kind: Any) -> Any:
    hints, names = get_type_hints(kind), [field.name for field in fields(kind)]
    listed: Any = tuple[tuple(_plain(hints[name]) for name in names)]  # type: ignore[misc]
    return Annotated[
        listed,
        _LISTED,
        AfterValidator(lambda values: kind(*values)),
        WrapSerializer(lambda value, write: write(tuple([getattr(value, name) for name in names]))),
    ]


def _union(kinds: tuple[Any, ...]) -> Any:
    """Return one of several types, of which at most one has no name to tell it by."""
    some = tuple(kind for kind in kinds if kind is not type(None))
    if len(some) < len(kinds):
        return Optional[_plain(Union[some])]  # noqa: UP007, UP045 - made of a tuple
    named = {kind.__name__: _named(kind, kind.__name__) for kind in some}
    wrong = f"Input should begin with one of {', '.join(named)}"
    by_name = Discriminator(_name, custom_error_type="name", custom_error_message=wrong)
    return Annotated[Union[tuple(named.values())], by_name]  # noqa: UP007 - made of a tuple


def _named(kind: Any, name: str) -> Any:
    pair: Any = tuple[Literal[name], _plain(kind)]  # type: ignore[valid-type, misc]
    return Annotated[
        pair,
        _LISTED,
        AfterValidator(itemgetter(1)),
        WrapSerializer(lambda value, write: write((name, value))),
        Tag(name),
    ]


def _name(value: Any) -> Any:
    """Return the name of a value, or the one before its plain data."""
    if type(value) is list:
        return value[0] if value else None
    return type(value).__name__
