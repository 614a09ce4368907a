"""Values of JavaScript: Python's, what a script makes of its own, and one that cannot be known."""

from collections import ChainMap
from collections.abc import Callable
from contextlib import suppress
from operator import add, eq, ge, gt, le, lt, mod, mul, ne, sub, truediv
from typing import Any, Final, NamedTuple

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
    """A function or a class that a script has made, with what is to be had of it by name."""

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
    """Return what `typeof` says."""
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
    """Return what an operator makes of two values; `UNKNOWN` where that is not known."""
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
