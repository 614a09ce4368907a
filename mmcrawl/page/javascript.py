"""A small part of JavaScript: what the scripts of a page do at once, as far as texts decide it.

Nothing of a page runs: its syntax tree (tree-sitter) is walked once. Values are Python's: strings,
numbers, lists, dictionaries (objects), `Function` (of a script), callables (of the browser), and
`UNKNOWN` for all else. Loops are walked once, of a condition that cannot be known both branches,
and the walk ends after so many nodes.
"""

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from operator import add, eq, ge, gt, le, lt, mod, mul, ne, sub, truediv
from typing import Any, Final, NamedTuple

import re2
import tree_sitter_javascript
from cssselect import SelectorError
from lxml.etree import LxmlError
from tree_sitter import Language, Node, Parser

Scope = ChainMap[str, Any]
_NOT_UNDERSTOOD = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError,
    ValueError, LxmlError, SelectorError, re2.error,
)  # fmt: skip
_MOST_NODES = 5_000
_DEEPEST = 60
_MOST_CALLS = 14  # in one another: a countdown from ten
_LONGEST = 8_192
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "-": sub, "*": mul, "/": truediv, "%": mod, "<": lt, ">": gt, "<=": le, ">=": ge,
    "==": eq, "===": eq, "!=": ne, "!==": ne,
}  # fmt: skip
_SIDES = ["consequence", "alternative"]
_CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None}


class _Unknown:
    """A value that cannot be known."""

    __slots__ = ()


UNKNOWN: Final = _Unknown()


class Function(NamedTuple):
    """A function that a script has made."""

    node: Node
    scope: Scope


class Regex(NamedTuple):
    """A regular expression, as it is written."""

    pattern: str
    flags: str


class Either(NamedTuple):
    """One of two values."""

    one: Any
    other: Any


class _EnoughError(Exception):
    """More was walked than is worth it."""


class Evaluator:
    """Walks the scripts of one page, one after another; what one defines the next one knows.

    Args:
        window: the global names.
        member: returns a member of a value by its name.

    Attributes:
        is_certain: whether what is done now is done in every browser.
    """

    def __init__(self, window: dict[str, Any], member: Callable[[Any, Any], Any]) -> None:
        self._window, self._member = window, member
        self._parser = Parser(_language())
        self._left = _MOST_NODES
        self._depth = self._calls = 0
        self.is_certain = True

    def run(self, code: str) -> None:
        """Walk a script."""
        tree = self._parser.parse(code.encode("utf-8", "replace"))
        self._walk(lambda: self._block(tree.root_node.named_children, ChainMap(self._window)))

    def begin(self, function: Any) -> None:
        """Call a function from outside of all scripts."""
        self._walk(lambda: self.call(function, [UNKNOWN]))

    def _walk(self, steps: Callable[[], object]) -> None:
        with suppress(_EnoughError):
            self._tried(steps)

    def _tried(self, steps: Callable[[], Any]) -> Any:
        before = self.is_certain, self._depth, self._calls
        try:
            return steps()
        except _NOT_UNDERSTOOD:  # values that no browser would have there
            return UNKNOWN
        finally:
            self.is_certain, self._depth, self._calls = before

    @contextmanager
    def perhaps(self, *, doubt: bool = True) -> Iterator[None]:
        """Take what is done meanwhile as what not every browser does."""
        before = self.is_certain
        self.is_certain = before and not doubt
        yield
        self.is_certain = before

    def call(self, function: Any, arguments: Sequence[Any] = ()) -> Any:
        """Call a function, or run code that is a text; return what is known of the result."""
        if isinstance(function, str):
            self.run(function)
        if self._calls >= _MOST_CALLS or not (isinstance(function, Function) or callable(function)):
            return UNKNOWN
        if not isinstance(function, Function):
            return self._tried(lambda: function(*arguments))
        scope = function.scope.new_child({"return": UNKNOWN})
        given = function.node.child_by_field_name("parameters")
        names = given.named_children if given else function.node.children_by_field_name("parameter")
        for place, name in enumerate(names):
            scope[_source(name)] = arguments[place] if place < len(arguments) else None
        self._calls += 1
        with self.perhaps(doubt=False):
            for body in function.node.children_by_field_name("body"):
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
            if node.type == "function_declaration":
                scope[_source(node.child_by_field_name("name"))] = Function(node, scope)
        return any(self._statement(node, scope) for node in nodes)

    def _statement(self, node: Node, scope: Scope) -> bool:
        match node.type:
            case "if_statement":
                return self._if(node, scope)
            case "return_statement":
                value = self.value(_inner(node), scope)
                next((one for one in scope.maps if "return" in one), {})["return"] = value
                return True
            case "throw_statement" | "break_statement" | "continue_statement":
                return True
            case "switch_body":
                with self.perhaps():
                    for case in node.named_children:
                        self._block(case.children_by_field_name("body"), scope)
            case "variable_declaration" | "lexical_declaration":
                for one in node.named_children:
                    name, value = (one.child_by_field_name(field) for field in ("name", "value"))
                    if value is not None:
                        scope[_source(name)] = self.value(value, scope)
            case "comment" | "html_comment" | "function_declaration" | "catch_clause":
                return False
            case name if name.endswith(("_statement", "_clause", "statement_block", "ERROR")):
                is_loop = name.startswith(("for", "while", "do"))
                body = node.child_by_field_name("body") if is_loop else None
                return self._block([body] if body else node.named_children, scope) and not is_loop
            case _:
                self.value(node, scope)
        return False

    def _if(self, node: Node, scope: Scope) -> bool:
        holds = truth(self.value(node.child_by_field_name("condition"), scope))
        then, other = (node.child_by_field_name(name) for name in ("consequence", "alternative"))
        if holds is not None:
            taken = then if holds else other
            return taken is not None and self._block([taken], scope)
        with self.perhaps():
            ended = [self._block([one], scope) for one in (then, other) if one is not None]
        if any(ended) and self._calls:  # what follows depends on it
            self.is_certain = False
        return len(ended) > 1 and all(ended)

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
            case "string" | "template_string":
                return self._string(node, scope)
            case "identifier":
                return scope.get(_source(node), UNKNOWN)
            case "true" | "false" | "null" | "undefined":
                return _CONSTANTS[node.type]
            case "this":
                return self._window
            case "number":
                number = _source(node)
                return float(number) if "." in number else int(number, 0)
            case "array":
                return [self.value(one, scope) for one in node.named_children]
            case "parenthesized_expression" | "await_expression" | "expression_statement":
                return self.value(_inner(node), scope)
            case "sequence_expression":
                return [self.value(one, scope) for one in node.named_children][-1]
            case "binary_expression":
                return self._binary(node, scope)
            case "unary_expression":
                value = self.value(node.child_by_field_name("argument"), scope)
                operator = node.children[0].type
                if operator == "-" and isinstance(value, int | float):
                    return -value
                return UNKNOWN if operator != "!" or value is UNKNOWN else not truth(value)
            case "ternary_expression":
                holds = truth(self.value(node.child_by_field_name("condition"), scope))
                sides = _SIDES if holds is None else _SIDES[:1] if holds else _SIDES[1:]
                with self.perhaps(doubt=holds is None):
                    made = [self.value(node.child_by_field_name(name), scope) for name in sides]
                    return made[0] if holds is not None else Either(*made)
            case "assignment_expression" | "augmented_assignment_expression" | "update_expression":
                return self._assign(node, scope)
            case "member_expression" | "subscript_expression":
                return self._member(*self._place(node, scope))
            case "call_expression" | "new_expression":
                return self._call(node, scope)
            case "regex":
                return Regex(*(_source(node.child_by_field_name(x)) for x in ("pattern", "flags")))
            case "object":
                pairs = [[*one.named_children] for one in node.named_children if one.type == "pair"]
                methods = (one for one in node.named_children if one.type == "method_definition")
                called = {_source(_inner(one)): Function(one, scope) for one in methods}
                own = {_source(key).strip("'\""): self.value(one, scope) for key, one in pairs}
                return called | own
            case "function_expression" | "arrow_function":
                return Function(node, scope)
        return UNKNOWN

    def _string(self, node: Node, scope: Scope) -> Any:
        pieces = [
            text_of(self.value(_inner(one), scope))
            if one.type == "template_substitution"
            else _written(one)
            for one in node.named_children
        ]
        return UNKNOWN if UNKNOWN in pieces else "".join(pieces)

    def _binary(self, node: Node, scope: Scope) -> Any:
        operator = _source(node.child_by_field_name("operator"))
        left = self.value(node.child_by_field_name("left"), scope)
        if operator in ("&&", "||", "??"):
            holds = truth(left)
            if holds is not None and holds is not (operator == "&&"):
                return left
            with self.perhaps(doubt=holds is None):
                right = self.value(node.child_by_field_name("right"), scope)
            # What is false on one side is false whatever the other is.
            certain = holds is None and truth(right) is (operator != "&&")
            return right if holds is not None or certain else UNKNOWN
        return _result(operator, left, self.value(node.child_by_field_name("right"), scope))

    def _assign(self, node: Node, scope: Scope) -> Any:
        left = node.child_by_field_name("left") or node.child_by_field_name("argument")
        value = self.value(node.child_by_field_name("right"), scope)
        if left is None:
            return UNKNOWN
        if left.type in ("member_expression", "subscript_expression"):
            owner, name = self._place(left, scope)
        else:
            name = _source(left)
            owner = next((one for one in scope.maps if name in one), self._window)
        if node.type != "assignment_expression":  # n++ counts up before it is read
            operator = _source(node.child_by_field_name("operator"))
            more = 1 if operator in ("++", "--") else value
            value = _result(operator[0], self._member(owner, name), more)
        if isinstance(owner, dict):
            owner[name] = value
        return value

    def _place(self, node: Node, scope: Scope) -> tuple[Any, Any]:
        """Return whose property is meant, and which."""
        owner = self.value(node.child_by_field_name("object"), scope)
        if node.type == "member_expression":
            return owner, _source(node.child_by_field_name("property"))
        return owner, self.value(node.child_by_field_name("index"), scope)

    def _call(self, node: Node, scope: Scope) -> Any:
        callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        owner: Any = UNKNOWN
        name: Any = ""
        if callee is not None and callee.type in ("member_expression", "subscript_expression"):
            owner, name = self._place(callee, scope)
            function = owner if isinstance(owner, Function) else self._member(owner, name)
        else:
            function = self.value(callee, scope)
        given = node.child_by_field_name("arguments")
        arguments = [self.value(one, scope) for one in given.named_children] if given else []
        if isinstance(owner, Function):
            return owner if name == "bind" else self.call(owner, arguments[1:])
        return self.call(function, arguments) if not isinstance(function, str) else UNKNOWN


@cache
def _language() -> Language:
    return Language(tree_sitter_javascript.language())


def truth(value: Any) -> bool | None:
    """Tell whether a value counts as true in JavaScript, None if that is not known."""
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


def _result(operator: str, left: Any, right: Any) -> Any:
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


def _source(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def _inner(node: Node) -> Node | None:
    return next(iter(node.named_children), None)


def _written(node: Node) -> str:
    """Return what a piece of a literal stands for."""
    text = _source(node)
    if node.type != "escape_sequence" or text[1:2] not in "xunrtbfv":
        return text.lstrip("\\").strip("\r\n") if node.type == "escape_sequence" else text
    return text.encode().decode("unicode_escape")
