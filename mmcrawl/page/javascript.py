"""A small part of JavaScript: what the scripts of a page do at once, as far as texts decide it.

Nothing of a page runs: its syntax tree (tree-sitter) is walked once, with strings, numbers, lists
and functions as values and `UNKNOWN` for all else. Loops are walked once, of a condition that
cannot be known both branches, and the walk ends after so many nodes.
"""

from __future__ import annotations

import logging
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from operator import add, eq, ge, gt, le, lt, mod, mul, ne, sub, truediv
from typing import Any, Protocol

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from mmcrawl.page.javascript_texts import UNKNOWN, text_function, text_method, text_of

Scope = ChainMap[str, Any]
_NOT_UNDERSTOOD = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip
logger = logging.getLogger(__name__)

_MOST_NODES = 20_000
_DEEPEST = 60
_MOST_CALLS = 12  # in one another
_LONGEST = 8_192
_FUNCTIONS = frozenset({"function_expression", "function", "arrow_function", "generator_function"})
_DECLARED = frozenset({"function_declaration", "generator_function_declaration"})
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "-": sub, "*": mul, "/": truediv, "%": mod, "<": lt, ">": gt, "<=": le, ">=": ge,
    "==": eq, "===": eq, "!=": ne, "!==": ne,
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_CODE_POINT = re.compile(r"[xu]\{?([0-9a-fA-F]{2,6})\}?")


class Host(Protocol):
    """The objects of a browser, as an `Evaluator` meets them."""

    def get(self, owner: Any, name: str) -> Any:
        """Return a property of one of them; `UNKNOWN` if it is not known."""

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Take an assignment to a property."""

    def call(self, owner: Any, name: str, arguments: Sequence[Any]) -> Any:
        """Take a call of a method; of a global function if the owner is None."""


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function that a script has made."""

    node: Node
    scope: Scope


class _EnoughError(Exception):
    """More was walked than is worth it."""


class Evaluator:
    """Walks the scripts of one page, one after another; what one defines the next one knows.

    Args:
        host: the browser.
        names: the values of global names.

    Attributes:
        is_certain: whether what is done now is done in every browser.
    """

    def __init__(self, host: Host, names: dict[str, Any]) -> None:
        self._host = host
        self._globals: Scope = ChainMap(names)
        self._parser = Parser(_language())
        self._left = _MOST_NODES
        self._depth = self._calls = 0
        self.is_certain = True

    def run(self, code: str) -> None:
        """Walk a script."""
        tree = self._parser.parse(code.encode("utf-8", "replace"))
        self._walk(lambda: self._block(tree.root_node.named_children, self._globals))

    def begin(self, function: Any, arguments: Sequence[Any] = ()) -> None:
        """Call a function from outside of all scripts."""
        self._walk(lambda: self.call(function, arguments))

    def _walk(self, steps: Callable[[], object]) -> None:
        certain, depth, calls = self.is_certain, self._depth, self._calls
        try:
            steps()
        except _EnoughError:
            return
        except _NOT_UNDERSTOOD as error:  # values that no browser would have there
            logger.debug("A script is not understood: %s", error)
        finally:
            self.is_certain, self._depth, self._calls = certain, depth, calls

    def call(self, function: Any, arguments: Sequence[Any] = ()) -> Any:
        """Call a function of a script, or run code that is a text; nothing else is called."""
        if isinstance(function, str):
            self.run(function)
            return UNKNOWN
        if not isinstance(function, Function) or self._calls >= _MOST_CALLS:
            return UNKNOWN
        node, scope = function.node, function.scope.new_child()
        given = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        names = given.named_children if given and given.type == "formal_parameters" else [given]
        for place, name in enumerate(names):
            if name is not None and name.type == "identifier":
                scope[_source(name)] = arguments[place] if place < len(arguments) else None
        body = node.child_by_field_name("body")
        if body is None:
            return UNKNOWN
        self._calls += 1
        with self._perhaps(doubt=False):
            scope["return"] = UNKNOWN
            if body.type == "statement_block":
                self._block(body.named_children, scope)
            else:
                scope["return"] = self.value(body, scope)
        self._calls -= 1
        return scope["return"]

    # -- statements

    def _block(self, nodes: Iterable[Node], scope: Scope) -> bool:
        """Walk statements; tell whether they ended with a return, a break or the like."""
        nodes = list(nodes)
        for node in nodes:
            if node.type in _DECLARED and (name := node.child_by_field_name("name")):
                scope[_source(name)] = Function(node, scope)
        return any(self._statement(node, scope) for node in nodes)

    def _statement(self, node: Node, scope: Scope) -> bool:  # noqa: PLR0911, PLR0912
        match node.type:
            case "if_statement":
                return self._if(node, scope)
            case "return_statement":
                value = self.value(_inner(node), scope)
                if "return" in scope:
                    next(one for one in scope.maps if "return" in one)["return"] = value
                return True
            case "throw_statement" | "break_statement" | "continue_statement":
                return True
            case "statement_block":
                return self._block(node.named_children, scope)
            case "try_statement":
                parts = (node.child_by_field_name(name) for name in ("body", "finalizer"))
                return any(self._block(part.named_children, scope) for part in parts if part)
            case "switch_statement":
                with self._perhaps():
                    for case in _below(node, "switch_case", "switch_default"):
                        self._block(case.children_by_field_name("body"), scope)
                return False
            case "variable_declaration" | "lexical_declaration":
                for one in node.named_children:
                    self._declare(one, scope)
            case "comment" | "html_comment" | "function_declaration" | "class_declaration":
                return False
            case name if name.endswith("_statement") or name in ("else_clause", "ERROR"):
                loops = name.startswith(("for", "while", "do"))
                body = node.child_by_field_name("body")
                self._block([body] if loops and body else node.named_children, scope)
            case _:
                self.value(node, scope)
        return False

    def _if(self, node: Node, scope: Scope) -> bool:
        holds = truth(self.value(node.child_by_field_name("condition"), scope))
        then, other = (node.child_by_field_name(name) for name in ("consequence", "alternative"))
        if holds is not None:
            taken = then if holds else other
            return taken is not None and self._block([taken], scope)
        with self._perhaps():
            ended = [self._block([one], scope) for one in (then, other) if one is not None]
        if any(ended) and self._calls:  # what follows depends on it
            self.is_certain = False
        return len(ended) > 1 and all(ended)

    def _declare(self, node: Node, scope: Scope) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "identifier":
            return
        if value is not None:
            made = self.value(value, scope)
            if scope is self._globals and _source(name) == "location":
                self._host.set(None, "location", made)
            else:
                scope[_source(name)] = made
        elif scope is not self._globals:
            scope.setdefault(_source(name), None)

    @contextmanager
    def _perhaps(self, *, doubt: bool = True) -> Iterator[None]:
        before = self.is_certain
        self.is_certain = before and not doubt
        yield
        self.is_certain = before

    # -- expressions

    def value(self, node: Node | None, scope: Scope) -> Any:
        """Return what an expression comes to."""
        if node is None:
            return None
        self._left -= 1
        if self._left < 0 or self._depth > _DEEPEST:
            raise _EnoughError
        self._depth += 1
        made = self._value(node, scope)
        self._depth -= 1
        return UNKNOWN if isinstance(made, str | list) and len(made) > _LONGEST else made

    def _value(self, node: Node, scope: Scope) -> Any:  # noqa: PLR0911, PLR0912
        match node.type:
            case "string":
                return "".join(map(_written, node.named_children))
            case "template_string":
                return self._template(node, scope)
            case "identifier" | "undefined":
                return self._name(_source(node), scope)
            case "this":
                return self._globals.get("window", UNKNOWN)
            case "number":
                return _number(_source(node))
            case "true" | "false":
                return node.type == "true"
            case "null":
                return None
            case "array":
                return [self.value(one, scope) for one in node.named_children]
            case "parenthesized_expression" | "await_expression" | "expression_statement":
                return self.value(_inner(node), scope)
            case "sequence_expression":
                return [None, *(self.value(one, scope) for one in node.named_children)][-1]
            case "binary_expression":
                return self._binary(node, scope)
            case "unary_expression":
                return self._unary(node, scope)
            case "ternary_expression":
                return self._ternary(node, scope)
            case "assignment_expression" | "augmented_assignment_expression":
                return self._assign(node, scope)
            case "member_expression" | "subscript_expression":
                return self._get(*self._place(node, scope))
            case "call_expression" | "new_expression":
                return self._call(node, scope)
            case "regex":
                return ("regex", *(_source(one) for one in node.named_children))
            case "object":
                return {
                    _source(key).strip("'\""): self.value(one.child_by_field_name("value"), scope)
                    for one in node.named_children
                    if (key := one.child_by_field_name("key"))
                }
            case kind if kind in _FUNCTIONS:
                return Function(node, scope)
        return UNKNOWN

    def _template(self, node: Node, scope: Scope) -> Any:
        pieces = [
            text_of(self.value(_inner(one), scope))
            if one.type == "template_substitution"
            else _written(one)
            for one in node.named_children
        ]
        return UNKNOWN if any(piece is UNKNOWN for piece in pieces) else "".join(pieces)

    def _name(self, name: str, scope: Scope) -> Any:
        return None if name == "undefined" else scope.get(name, UNKNOWN)

    def _binary(self, node: Node, scope: Scope) -> Any:
        operator = _source(node.child_by_field_name("operator"))
        left = self.value(node.child_by_field_name("left"), scope)
        if operator in ("&&", "||", "??"):
            holds = truth(left)
            if operator == "??":
                holds = None if left is UNKNOWN else left is not None
            if holds is not None and holds is not (operator == "&&"):
                return left
            with self._perhaps(doubt=holds is None):
                right = self.value(node.child_by_field_name("right"), scope)
            # What is false on one side is false whatever the other is.
            certain = holds is None and truth(right) is (operator != "&&")
            return right if holds is not None or certain else UNKNOWN
        right = self.value(node.child_by_field_name("right"), scope)
        if operator == "+":
            return _sum(left, right)
        plain = all(one is None or isinstance(one, str | int | float) for one in (left, right))
        if operator not in _OPERATORS or not plain:
            return UNKNOWN
        try:
            return _OPERATORS[operator](left, right)
        except (TypeError, ArithmeticError):
            return UNKNOWN

    def _unary(self, node: Node, scope: Scope) -> Any:
        value = self.value(node.child_by_field_name("argument"), scope)
        operator = _source(node.child_by_field_name("operator"))
        if operator == "!":
            holds = truth(value)
            return UNKNOWN if holds is None else not holds
        if operator in ("-", "+") and isinstance(value, int | float):
            return -value if operator == "-" else value
        return None if operator == "void" else UNKNOWN

    def _ternary(self, node: Node, scope: Scope) -> Any:
        holds = truth(self.value(node.child_by_field_name("condition"), scope))
        names = {True: ["consequence"], False: ["alternative"]}
        with self._perhaps(doubt=holds is None):
            values = [
                self.value(node.child_by_field_name(name), scope)
                for name in names.get(holds, ["consequence", "alternative"])  # type: ignore[arg-type]
            ]
        return values[0]

    def _assign(self, node: Node, scope: Scope) -> Any:
        left = node.child_by_field_name("left")
        value = self.value(node.child_by_field_name("right"), scope)
        if left is None:
            return UNKNOWN
        if left.type in ("member_expression", "subscript_expression"):
            owner, name = self._place(left, scope)
            if node.type.startswith("augmented"):
                value = _sum(self._get(owner, name), value)
            if isinstance(owner, dict):
                owner[name] = value
            else:
                self._host.set(owner, name, value)
            return value
        name = _source(left)
        if node.type.startswith("augmented"):
            value = _sum(scope.get(name, UNKNOWN), value)
        holder = next((one for one in scope.maps if name in one), self._globals.maps[0])
        if holder is self._globals.maps[0] and name in ("location", "onload"):
            self._host.set(None, name, value)
        else:
            holder[name] = value
        return value

    def _place(self, node: Node, scope: Scope) -> tuple[Any, Any]:
        """Return whose property is meant, and which."""
        owner = self.value(node.child_by_field_name("object"), scope)
        if node.type == "member_expression":
            return owner, _source(node.child_by_field_name("property"))
        return owner, self.value(node.child_by_field_name("index"), scope)

    def _get(self, owner: Any, name: Any) -> Any:
        if owner is self._globals.get("window") and name in self._globals:
            return self._globals[name]
        if isinstance(owner, dict):
            return owner.get(name, None) if isinstance(name, str) else UNKNOWN
        if isinstance(owner, str | list) and isinstance(name, int | float):
            return owner[int(name)] if 0 <= name < len(owner) else None
        if isinstance(owner, str | list) and name == "length":
            return len(owner)
        return self._host.get(owner, name if isinstance(name, str) else text_of(name))

    def _call(self, node: Node, scope: Scope) -> Any:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        given = node.child_by_field_name("arguments")
        while function is not None and function.type == "parenthesized_expression":
            function = _inner(function)
        if function is None:
            return UNKNOWN
        is_method = function.type in ("member_expression", "subscript_expression")
        owner, name = self._place(function, scope) if is_method else (None, _source(function))
        arguments = [self.value(one, scope) for one in given.named_children] if given else []
        if isinstance(owner, Function) and name in ("call", "bind", "apply"):
            return owner if name == "bind" else self.call(owner, arguments[1:])
        own: Any = UNKNOWN
        if function.type in _FUNCTIONS:
            own = Function(function, scope)
        elif not is_method:
            own = scope.get(name, UNKNOWN) if function.type == "identifier" else UNKNOWN
        elif isinstance(owner, dict):
            own = owner.get(name)
        elif owner is self._globals.get("window"):
            own, owner = self._globals.get(name, UNKNOWN), None
        if isinstance(own, Function):
            return self.call(own, arguments)
        if not isinstance(name, str):
            return UNKNOWN
        if owner is None and function.type != "identifier" and not is_method:
            self.value(function, scope)  # f(…)(…)
        made = text_method(owner, name, arguments) if owner is not None else UNKNOWN
        if owner is None:
            made = text_function(name, arguments)
        return self._host.call(owner, name, arguments) if made is UNKNOWN else made


@cache
def _language() -> Language:
    return Language(tree_sitter_javascript.language())


def truth(value: Any) -> bool | None:
    """Tell whether a value counts as true in JavaScript, None if that is not known."""
    if value is UNKNOWN:
        return None
    return bool(value) if value is None or isinstance(value, str | int | float) else True


def _sum(left: Any, right: Any) -> Any:
    if all(isinstance(one, int | float) for one in (left, right)):
        return add(left, right)
    texts = text_of(left), text_of(right)
    return UNKNOWN if UNKNOWN in texts else "".join(texts)


def _source(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def _inner(node: Node) -> Node | None:
    return next(iter(node.named_children), None)


def _below(node: Node, *kinds: str) -> Iterator[Node]:
    body = node.child_by_field_name("body")
    return (one for one in (body.named_children if body else ()) if one.type in kinds)


def _written(node: Node) -> str:
    """Return what a piece of a literal stands for."""
    text = _source(node)
    if node.type != "escape_sequence":
        return text
    if code := _CODE_POINT.fullmatch(text[1:]):
        point = int(code[1], 16)
        return chr(point) if point <= 0x10FFFF else ""
    return _ESCAPES.get(text[1:], text[1:].strip("\r\n"))


def _number(text: str) -> Any:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return UNKNOWN
